//! `bpc worker`: run jobs until told to stop.

use std::time::{Duration, Instant};

use bpc_eventstore::Store;
use bpc_eventstore::seal::{KeyFile, KeyState, SealError, SealOptions, Sealer};
use bpc_worker::{Worker, WorkerOptions, WorkerReport};
use serde::Serialize;

use crate::call::Call;
use crate::cli::WorkerArgs;
use crate::error::{Exit, Failure};
use crate::output::{count, span};
use crate::signals;

pub async fn run(call: &Call<'_>, args: WorkerArgs) -> Result<Exit, Failure> {
    // Before anything else, so that a signal during the start is not missed.
    let stop = signals::stop_token("stopping: no new leases, waiting for running handlers")?;
    let store = call.open_or_create().await?;
    let tenants = if args.all_tenants { None } else { Some(vec![call.tenant(&store).await?.tenant_id]) };
    let key_file = call.key_file();
    refuse_older_copy(&store, &key_file).await?;
    let options = call.settings.worker(default_id());
    let options = WorkerOptions {
        concurrency: args.concurrency.unwrap_or(options.concurrency),
        batch: args.batch,
        queues: args.queues,
        tenants,
        grace: args.grace,
        until_idle: args.until_idle,
        seal_with: Some(key_file),
        ..options
    };
    let worker_id = options.worker_id.clone();
    tracing::info!(
        worker.id = worker_id,
        concurrency = options.concurrency,
        database = store.kind(),
        "worker starts"
    );
    let start = Instant::now();
    let report = Worker::new(call.engine(&store), options).run(stop).await?;
    print(call, &worker_id, report, start.elapsed());
    Ok(Exit::Done)
}

/// A log that lost what was signed for is not gone on with, silently or otherwise. Whatever else may be
/// wrong with key or log is the sealer's to tell, and no reason to leave jobs undone.
async fn refuse_older_copy(store: &Store, key_file: &KeyFile) -> Result<(), Failure> {
    let Some(secret) = key_file.read()? else {
        return Ok(());
    };
    let state = KeyState::File(key_file.state_path());
    match Sealer::new(store.clone(), secret, state, SealOptions::default()).check().await {
        Err(error @ (SealError::RolledBack { .. } | SealError::Forked { .. })) => Err(error.into()),
        _ => Ok(()),
    }
}

fn print(call: &Call<'_>, worker_id: &str, report: WorkerReport, elapsed: Duration) {
    let WorkerReport { leased, succeeded, failed, returned, refused, .. } = report;
    let elapsed_ms = elapsed.as_millis() as u64;
    let line = ReportLine { worker_id, leased, succeeded, failed, returned, refused, elapsed_ms };
    call.output.result(&line, |output| {
        let mut parts = vec![format!("{} succeeded", count(succeeded)), format!("{} failed", count(failed))];
        if returned > 0 {
            parts.push(format!("{} given back", count(returned)));
        }
        if refused > 0 {
            parts.push(format!("{} refused", count(refused)));
        }
        let (leased, attempts, elapsed) = (count(leased), parts.join(", "), span(elapsed));
        output.line(format_args!("worker {worker_id} stopped after {elapsed}: {leased} leased, {attempts}"));
    });
}

/// The names are part of the contract.
#[derive(Serialize)]
struct ReportLine<'a> {
    worker_id: &'a str,
    leased: u64,
    succeeded: u64,
    failed: u64,
    returned: u64,
    refused: u64,
    elapsed_ms: u64,
}

/// Host, process and chance: unique, and tells where to look.
pub fn default_id() -> String {
    let host = ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .map(|name| name.trim().chars().take(64).collect::<String>())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "host".to_owned());
    format!("{host}-{}-{}", std::process::id(), hex::encode(&bpc_eventstore::entropy()[..3]))
}
