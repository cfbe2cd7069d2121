//! Drives the client the way bench/compare does.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bpc_testkit::TestDatabase;
use bpc_testkit::process::Bpc;
use serde_json::Value;

/// The client.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_bpc_client");
const PATIENCE: Duration = Duration::from_secs(120);

/// The client, told of one database.
pub struct Client {
    program: Bpc,
    environment: Vec<(&'static str, String)>,
    key: PathBuf,
}

/// One that works. It ends when this goes: the end of its pipe is a line, too.
pub struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
}

impl Client {
    /// On that database, with its key in a directory of its own.
    pub fn on(db: &TestDatabase) -> Self {
        let program = Bpc::without_database(PROGRAM);
        let key = program.directory().join("bench.key");
        Self::with(program, db, key)
    }

    /// On another database, with the key in the same place.
    pub fn and_then_on(&self, db: &TestDatabase) -> Self {
        Self::with(Bpc::without_database(PROGRAM), db, self.key.clone())
    }

    fn with(program: Bpc, db: &TestDatabase, key: PathBuf) -> Self {
        let place = match db.path() {
            Some(file) => ("BENCH_SQLITE", file.display().to_string()),
            None => ("BENCH_PG", db.url().to_owned()),
        };
        let environment = vec![place, ("BENCH_KEY", key.display().to_string())];
        let program = environment.iter().fold(program, |program, (name, value)| program.env(name, value));
        Client { program, environment, key }
    }

    /// What one command says last.
    #[track_caller]
    pub fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Value {
        let output = self.program.run(arguments).expect_success();
        output.json_lines().pop().unwrap_or(Value::Null)
    }

    /// A worker with these options, not told to begin yet.
    pub fn worker(&self, options: &str) -> Worker {
        let mut command = Command::new(PROGRAM);
        command
            .arg("worker")
            .current_dir(self.program.directory())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).env("BENCH_OPTS", options);
        let mut child = command.spawn().expect("the client starts");
        let (lines, (sender, output)) = (BufReader::new(child.stdout.take().unwrap()).lines(), channel());
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).expect("a line of JSON"));
            }
        });
        Worker { input: child.stdin.take(), child, output }
    }
}

impl Worker {
    /// What it says next.
    #[track_caller]
    pub fn next(&self) -> Value {
        self.output.recv_timeout(PATIENCE).expect("the worker says something")
    }

    /// Tell it a line.
    pub fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("not stopped yet"), "{line}").expect("the worker listens");
    }

    /// Listen until it has run so many jobs.
    #[track_caller]
    pub fn until_count(&self, jobs: u64) {
        while self.next()["count"].as_u64().is_none_or(|count| count < jobs) {}
    }

    /// Its last word, once it has ended well.
    #[track_caller]
    pub fn stop(mut self) -> Value {
        self.send("stop");
        let mut last = self.next();
        while last["lat"].is_null() {
            last = self.next();
        }
        drop(self.input.take());
        assert!(self.child.wait().expect("it can be waited for").success());
        last
    }
}
