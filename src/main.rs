//! The command-line program of BPC. Imports every room; contains no logic that a crate could own.

mod call;
mod cli;
mod command;
mod config;
mod error;
mod files;
mod logging;
mod output;
mod pack_settings;
mod packs;
mod progress;
mod signals;

use std::process::ExitCode;

use call::Call;
use cli::Cli;
use config::Settings;
use error::{Exit, Failure};
use output::Output;

fn main() -> ExitCode {
    let (cli, output) = match cli::parse() {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let exit = run(cli, &output).unwrap_or_else(|failure| {
        output.failure(&failure);
        failure.exit
    });
    output.finish(exit).into()
}

fn run(cli: Cli, output: &Output) -> Result<Exit, Failure> {
    let settings = Settings::from_env()?;
    logging::start(&settings, &cli.command, output.colour_on_stderr());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::wrong_use("RUNTIME_UNAVAILABLE", error.to_string()))?;
    let command = cli.command;
    let call = Call::new(cli.global, settings, output);
    let exit = runtime.block_on(command::run(&call, command));
    // A handler that computes and was given up must not keep the process.
    runtime.shutdown_background();
    exit
}
