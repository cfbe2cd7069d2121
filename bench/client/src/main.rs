//! BPC as one of the systems that `bench/compare` measures: the client protocol of the peers, spoken through the
//! library as any application would use it.
//!
//! `setup`, `enqueue-single N SECONDS`, `enqueue-bulk N BATCH SECONDS`, `enqueue-latency N MILLISECONDS`, `worker`.
//! The database is the one that `BENCH_SQLITE` or else `BENCH_PG` names; `BENCH_OPTS` holds [`options::Options`].

mod command;
mod enqueue;
mod error;
mod log;
mod noop;
mod options;
mod payload;
mod worker;

use std::process::ExitCode;

use command::Command;
use error::ClientError;
use log::Place;
use options::Options;

#[tokio::main]
async fn main() -> ExitCode {
    // As a task, where applications do such work: the thread that waits here would have to be woken for every answer.
    match tokio::spawn(run()).await.expect("the client does not panic") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bpc_client: {} ({})", error, error.code());
            if matches!(error, ClientError::Usage(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

async fn run() -> Result<(), ClientError> {
    let command = Command::read(std::env::args().skip(1))?;
    let place = Place::from_env()?;
    let options = Options::from_env()?;
    match command {
        Command::Setup => place.make().await,
        Command::EnqueueSingle { jobs, limit } => enqueue::timed(&place, &options, jobs, 1, limit).await,
        Command::EnqueueBulk { jobs, batch, limit } => {
            enqueue::timed(&place, &options, jobs, batch, limit).await
        }
        Command::EnqueueLatency { jobs, spacing } => enqueue::spaced(&place, &options, jobs, spacing).await,
        Command::Worker => worker::run(&place, &options).await,
    }
}
