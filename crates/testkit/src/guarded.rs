//! A child process that does not outlive its test.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::guardian::{self, LastWord};

/// A child that leads its own process group; the group is killed on drop, or with this process.
pub(crate) struct Guarded {
    child: Child,
    group: Pid,
}

impl Guarded {
    /// Starts `command`; `last_word` is what it hears when this process is gone.
    pub(crate) fn spawn(command: &mut Command, last_word: LastWord) -> std::io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        guardian::watch(child.id(), last_word);
        let group = Pid::from_raw(i32::try_from(child.id()).expect("a process id fits"));
        Ok(Self { child, group })
    }

    /// The process id, which is also its group's.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the process alone, if it has not been waited for yet.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if self.try_wait().is_none() {
            kill(self.group, signal).expect("a child may be signalled");
        }
    }

    /// How it ended, if it has.
    pub(crate) fn try_wait(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child may be waited for")
    }

    /// How it ended, if it does so in time.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            let status = self.try_wait();
            if status.is_some() || Instant::now() >= deadline {
                return status;
            }
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // The group may hold more than the child, and is empty if it does not.
        let _ = killpg(self.group, Signal::SIGKILL);
        let _ = self.child.wait();
        guardian::forget(self.pid());
    }
}

/// The exit code, or 128 and the signal's number as shells have it.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .expect("an ended process has a code or a signal")
}
