//! A program that is running.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal;

use super::Output;
use crate::guarded::{Guarded, exit_code};
use crate::scratch::Scratch;

/// The signals tests send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ends it with no chance to react.
    Kill,
    /// Freezes it.
    Stop,
    /// Lets it go on after [`Stop`](Signal::Stop).
    Cont,
    /// Asks it to end.
    Term,
    /// Asks it to end, as Ctrl-C does.
    Int,
}

/// A started program; killed on drop, together with the programs it started.
pub struct Running {
    name: String,
    child: Guarded,
    stdout: PathBuf,
    stderr: PathBuf,
    _directory: Arc<Scratch>,
}

impl Running {
    pub(super) fn new(
        name: String,
        child: Guarded,
        [stdout, stderr]: [PathBuf; 2],
        directory: Arc<Scratch>,
    ) -> Self {
        Self { name, child, stdout, stderr, _directory: directory }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Sends a signal, unless it has ended.
    pub fn signal(&mut self, signal: Signal) {
        self.child.signal(match signal {
            Signal::Kill => signal::Signal::SIGKILL,
            Signal::Stop => signal::Signal::SIGSTOP,
            Signal::Cont => signal::Signal::SIGCONT,
            Signal::Term => signal::Signal::SIGTERM,
            Signal::Int => signal::Signal::SIGINT,
        });
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// What it has printed to standard error so far.
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// What it left behind, if it has ended.
    pub fn try_wait(&mut self) -> Option<Output> {
        self.wait_up_to(Duration::ZERO)
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    ///
    /// When it is still running after `timeout`, with everything printed so far.
    #[track_caller]
    pub fn wait(&mut self, timeout: Duration) -> Output {
        match self.wait_up_to(timeout) {
            Some(output) => output,
            None => panic!(
                "still running after {timeout:?}: {}\nstdout:\n{}\nstderr:\n{}",
                self.name,
                self.stdout(),
                self.stderr()
            ),
        }
    }

    fn wait_up_to(&mut self, timeout: Duration) -> Option<Output> {
        let status = self.child.wait(timeout)?;
        Some(Output { code: exit_code(status), stdout: self.stdout(), stderr: self.stderr() })
    }
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("captured output is readable");
    String::from_utf8_lossy(&bytes).into_owned()
}
