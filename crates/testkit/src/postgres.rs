//! A private PostgreSQL server.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::account::Account;
use crate::guarded::Guarded;
use crate::guardian::LastWord;
use crate::port;
use crate::scratch::Scratch;

/// Where Debian's packages put the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// How long the server may take to start, crash recovery included, or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

const SETTINGS: [(&str, &str); 4] =
    [("fsync", "on"), ("synchronous_commit", "on"), ("max_connections", "200"), ("shared_buffers", "256MB")];

/// How the server is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Disconnects everybody, rolls back what is open and shuts down in order.
    Fast,
    /// Stops dead, as in a crash; the next start recovers.
    Immediate,
}

/// A PostgreSQL server with its own data directory, loopback port and unix socket.
///
/// It keeps its port and its data from one start to the next. Anybody on this machine may connect
/// as the superuser `postgres`. Dropping it stops the server and deletes the data.
pub struct Cluster {
    programs: PathBuf,
    account: Account,
    settings: Vec<(String, String)>,
    port: u16,
    server: Mutex<Option<Guarded>>,
    directory: Scratch,
}

impl Cluster {
    /// Creates a cluster and starts it.
    ///
    /// # Panics
    ///
    /// When PostgreSQL is not installed or does not start.
    pub fn launch() -> Self {
        Self::launch_with(&[])
    }

    /// As [`launch`](Self::launch), with further settings or other values for the usual ones.
    pub fn launch_with(settings: &[(&str, &str)]) -> Self {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        let mut cluster = Self {
            programs: newest_version(),
            account: Account::of_server("postgres"),
            settings: SETTINGS.iter().chain(settings).map(owned).collect(),
            port: port::free(),
            server: Mutex::new(None),
            directory: Scratch::new("pg"),
        };
        cluster.account.own(cluster.directory.path());
        cluster.initialise();
        // Somebody may take the port between our finding it free and the server's binding it.
        for _ in 0..2 {
            if cluster.try_start().is_ok() {
                return cluster;
            }
            cluster.port = port::free();
        }
        cluster.start();
        cluster
    }

    /// Starts the server on the port it always had, and waits until it takes connections.
    ///
    /// # Panics
    ///
    /// When it does not come up, with the end of its log.
    pub fn start(&self) {
        if let Err(reason) = self.try_start() {
            panic!("PostgreSQL {reason}:\n{}", self.log());
        }
    }

    /// Stops the server, and waits until it is gone.
    pub fn stop(&self, mode: StopMode) {
        let Some(mut server) = self.server().take() else {
            return;
        };
        server.signal(match mode {
            StopMode::Fast => Signal::SIGINT,
            StopMode::Immediate => Signal::SIGQUIT,
        });
        server.wait(PATIENCE);
    }

    /// Stops the server and starts it again.
    pub fn restart(&self, mode: StopMode) {
        self.stop(mode);
        self.start();
    }

    /// The address of a database, through the loopback port.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The address of a database, through the unix socket.
    pub fn socket_url(&self, database: &str) -> String {
        let directory = self.directory.path().display();
        let port = self.port;
        format!("postgres:///{database}?host={directory}&port={port}&user=postgres")
    }

    /// The loopback port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL with `psql` and returns what it printed: a line per row, columns parted by `|`.
    ///
    /// # Panics
    ///
    /// When a statement fails, with its error.
    pub fn execute(&self, database: &str, sql: &str) -> String {
        let output = self
            .program("psql")
            .args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-d", &self.url(database)])
            .args(["-c", sql])
            .output()
            .expect("psql runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "psql: {error}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// What the server has logged since it was first started.
    pub fn log(&self) -> String {
        let log = std::fs::read(self.log_file()).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    fn initialise(&self) {
        let output = self
            .server_program("initdb")
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8"])
            .args(["--locale=C.UTF-8", "--no-sync", "-D"])
            .arg(self.data())
            .output()
            .expect("initdb runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "initdb: {error}");
    }

    fn try_start(&self) -> Result<(), &'static str> {
        let mut slot = self.server();
        if slot.is_some() {
            return Ok(());
        }
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log_file())
            .expect("the server's log is writable");
        let mut command = self.server_program("postgres");
        command.arg("-D").arg(self.data());
        for (name, value) in &self.settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let mut sockets = OsString::from("unix_socket_directories=");
        sockets.push(self.directory.path());
        command
            .args(["-c", "listen_addresses=127.0.0.1", "-c"])
            .arg(sockets)
            .args(["-p", &self.port.to_string()])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle on the log"))
            .stderr(log);
        let mut server = Guarded::spawn(&mut command, LastWord::Quit).expect("postgres runs");
        self.await_ready(&mut server)?;
        *slot = Some(server);
        Ok(())
    }

    fn await_ready(&self, server: &mut Guarded) -> Result<(), &'static str> {
        let deadline = Instant::now() + PATIENCE;
        while !self.is_ready(server.pid()) {
            if server.try_wait().is_some() {
                return Err("ended instead of starting");
            }
            if Instant::now() > deadline {
                return Err("did not start in time");
            }
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Reads the state where `pg_ctl` reads it: in the last line of the server's lock file.
    fn is_ready(&self, pid: u32) -> bool {
        let lock = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let mut lines = lock.lines();
        lines.next() == Some(&pid.to_string()) && lines.last().is_some_and(|line| line.trim() == "ready")
    }

    fn server_program(&self, name: &str) -> Command {
        let mut command = self.program(name);
        self.account.apply(&mut command);
        command.current_dir(self.directory.path());
        command
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn log_file(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    fn server(&self) -> MutexGuard<'_, Option<Guarded>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop(StopMode::Immediate);
    }
}

fn newest_version() -> PathBuf {
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    std::fs::read_dir(VERSIONS)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|version| version.join("bin/postgres").exists())
        .max_by_key(|version| number(version))
        .unwrap_or_else(|| panic!("no PostgreSQL in {VERSIONS}: install the package postgresql"))
        .join("bin")
}
