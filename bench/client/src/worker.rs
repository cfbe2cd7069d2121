//! A worker with the settings that an application gets which asks for nothing, and sealing on.

use std::io::{BufRead, Write};
use std::time::Duration;

use bpc_worker::{CancellationToken, Worker, WorkerOptions};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::error::ClientError;
use crate::log::{Place, tenant};
use crate::noop::{count, latencies};
use crate::options::Options;

/// How often it says how far it is.
const LOOK: Duration = Duration::from_millis(10);

/// Say `ready`, wait for a line, work and count, and at the next line say the last count and the latencies and stop.
/// The last word comes before the workers wind down: what they still do then is not part of the measurement.
pub async fn run(place: &Place, options: &Options) -> Result<(), ClientError> {
    let mut workers = Vec::new();
    for number in 0..options.workers.unwrap_or(1) {
        let named = WorkerOptions::named(format!("bench-{}-{number}", std::process::id()));
        let worker_options = WorkerOptions {
            concurrency: options.concurrency.unwrap_or(named.concurrency),
            tenants: Some(vec![tenant()]),
            seal_with: (!options.unsealed).then(|| place.key_file().clone()),
            ..named
        };
        workers.push(Worker::new(place.open(options).await?, worker_options));
    }
    say(&json!({"ready": true}))?;
    line().await?;
    let stop = CancellationToken::new();
    let mut running: JoinSet<_> = workers.into_iter().map(|worker| worker.run(stop.clone())).collect();
    let told_to_stop = line();
    tokio::pin!(told_to_stop);
    let mut shown = 0;
    loop {
        tokio::select! {
            told = &mut told_to_stop => break told?,
            // Only an error ends a worker that nobody stopped.
            Some(ended) = running.join_next() => drop(ended.expect("a worker does not panic")?),
            () = tokio::time::sleep(LOOK) => {}
        }
        if count() != shown {
            shown = count();
            say(&json!({"count": shown}))?;
        }
    }
    say(&json!({"count": count(), "lat": latencies()}))?;
    stop.cancel();
    while let Some(ended) = running.join_next().await {
        ended.expect("a worker does not panic")?;
    }
    Ok(())
}

fn say(what: &Value) -> Result<(), ClientError> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{what}").and_then(|()| output.flush()).map_err(ClientError::Pipe)
}

/// The next line; the end of the pipe is one, too.
async fn line() -> Result<(), ClientError> {
    let read = tokio::task::spawn_blocking(|| std::io::stdin().lock().read_line(&mut String::new()));
    read.await.expect("reading does not panic").map_err(ClientError::Pipe)?;
    Ok(())
}
