//! Runs a command with the servers the tests need: `with-servers -- cargo test`.
//!
//! Starts one PostgreSQL cluster, names it to the command in `BPC_TEST_POSTGRES_URL`, ends with the
//! command's exit code and takes the cluster down, also when interrupted.

use std::process::{Command, ExitCode};

use bpc_testkit::postgres::Cluster;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use tokio::signal::unix::{SignalKind, signal};

/// What shells answer to a command they cannot find.
const NOT_FOUND: u8 = 127;

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    arguments.next_if(|argument| argument == "--");
    let Some(program) = arguments.next() else {
        eprintln!("usage: with-servers -- COMMAND [ARGUMENT]...");
        return ExitCode::from(2);
    };

    let mut interrupt = signal(SignalKind::interrupt()).expect("a handler for interrupts");
    let mut terminate = signal(SignalKind::terminate()).expect("a handler for termination");
    let mut hangup = signal(SignalKind::hangup()).expect("a handler for hangups");
    let cluster = Cluster::launch();

    let mut command = Command::new(&program);
    command.args(arguments);
    command.env("BPC_TEST_POSTGRES_URL", cluster.url("postgres"));
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("with-servers: {}: {error}", program.display());
            return ExitCode::from(NOT_FOUND);
        }
    };
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id fits"));
    let mut ended = tokio::task::spawn_blocking(move || child.wait());

    // The command decides what a signal means to it; the servers stay until it has.
    let status = loop {
        let forward = tokio::select! {
            status = &mut ended => break status,
            _ = interrupt.recv() => Signal::SIGINT,
            _ = terminate.recv() => Signal::SIGTERM,
            _ = hangup.recv() => Signal::SIGHUP,
        };
        let _ = kill(pid, forward);
    };
    let status = status.expect("the wait is not cancelled").expect("a child may be waited for");
    let code = status.code().or(status.signal().map(|number| 128 + number));
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
