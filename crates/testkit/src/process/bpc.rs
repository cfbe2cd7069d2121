//! How to call the program.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{Output, Running};
use crate::TestDatabase;
use crate::guarded::Guarded;
use crate::guardian::LastWord;
use crate::scratch::Scratch;

/// The program, the database it works on and the directory it is called in.
///
/// The directory is new, empty and the same for every call. Of this process's environment the
/// program sees all but the variables whose names begin with `BPC_`.
///
/// ```no_run
/// # use bpc_testkit::{TestDatabase, process::Bpc};
/// let db = TestDatabase::sqlite();
/// let bpc = Bpc::new("target/debug/bpc", &db);
/// let jobs = bpc.run(["jobs", "list", "--json"]).expect_success().json_lines();
/// ```
pub struct Bpc {
    binary: PathBuf,
    environment: Vec<(OsString, OsString)>,
    timeout: Duration,
    calls: AtomicU32,
    work: PathBuf,
    capture: PathBuf,
    directory: Arc<Scratch>,
}

impl Bpc {
    /// The program at `binary`, usually `env!("CARGO_BIN_EXE_bpc")`, working on `db`.
    pub fn new(binary: impl AsRef<Path>, db: &TestDatabase) -> Self {
        Self::without_database(binary).env("BPC_DATABASE_URL", db.url())
    }

    /// The program told of no database.
    pub fn without_database(binary: impl AsRef<Path>) -> Self {
        let directory = Scratch::new("bpc");
        Self {
            binary: binary.as_ref().to_owned(),
            environment: Vec::new(),
            timeout: Duration::from_secs(60),
            calls: AtomicU32::new(0),
            work: directory.subdirectory("work"),
            capture: directory.subdirectory("capture"),
            directory: Arc::new(directory),
        }
    }

    /// Sets an environment variable for every call from now on.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let pair = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.environment.push(pair);
        self
    }

    /// Allows each [`run`](Self::run) this long instead of a minute.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The directory the program is called in.
    pub fn directory(&self) -> &Path {
        &self.work
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    ///
    /// When it does not start, or does not end within the [`timeout`](Self::timeout).
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Output {
        self.spawn(arguments).wait(self.timeout)
    }

    /// Starts the program and returns while it runs.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[track_caller]
    pub fn spawn<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Running {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let files = ["stdout", "stderr"].map(|name| self.capture.join(format!("{call}-{name}")));
        let [stdout, stderr] =
            [&files[0], &files[1]].map(|path| File::create(path).expect("a file for captured output"));
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(&self.work).stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"BPC_") {
                command.env_remove(name);
            }
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let name = format!("{command:?}");
        let child = Guarded::spawn(&mut command, LastWord::Kill)
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", self.binary.display()));
        Running::new(name, child, files, Arc::clone(&self.directory))
    }
}
