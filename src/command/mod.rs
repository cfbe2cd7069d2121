//! The commands, one file each.

mod archive;
mod bench;
mod check;
mod checkpoint;
mod demo;
mod document;
mod enqueue;
mod export;
mod facts;
mod init;
mod jobs;
mod keys;
mod log;
mod passport;
mod prove;
mod replay;
mod report;
mod rules;
mod seal;
mod snapshot;
mod tenant;
mod verify;
mod webhook;
mod witness;
mod worker;

use crate::call::Call;
use crate::cli::Command;
use crate::error::{Exit, Failure};

/// Run one command, and close what it opened however it ends.
pub async fn run(call: &Call<'_>, command: Command) -> Result<Exit, Failure> {
    let outcome = dispatch(call, command).await;
    call.close().await;
    outcome
}

async fn dispatch(call: &Call<'_>, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Demo(args) => demo::run(call, args).await,
        Command::Init => init::run(call).await,
        Command::Tenant(command) => tenant::run(call, command).await,
        Command::Worker(args) => worker::run(call, args).await,
        Command::Enqueue(args) => enqueue::run(call, args).await,
        Command::Jobs(command) => jobs::run(call, command).await,
        Command::Verify(args) => verify::run(call, args).await,
        Command::Report(command) => report::run(call, command).await,
        Command::Witness(command) => witness::run(call, command).await,
        Command::Archive(args) => archive::run(call, args).await,
        Command::Export(command) => export::run(call, command).await,
        Command::Log(args) => log::run(call, args).await,
        Command::Seal(args) => seal::run(call, args).await,
        Command::Checkpoint(args) => checkpoint::run(call, args).await,
        Command::Keys(command) => keys::run(call, command).await,
        Command::Prove(command) => prove::run(call, command).await,
        Command::Check(args) => check::run(call, &args),
        Command::Document(command) => document::run(call, command).await,
        Command::Facts(command) => facts::run(call, command).await,
        Command::Snapshot(command) => snapshot::run(call, command).await,
        Command::Rules(command) => rules::run(call, command).await,
        Command::Product(command) => passport::product(call, command).await,
        Command::Passport(command) => passport::run(call, command).await,
        Command::Webhook(command) => webhook::run(call, command).await,
        Command::Replay(args) => replay::run(call, args).await,
        Command::Bench(args) => bench::run(call, args).await,
    }
}
