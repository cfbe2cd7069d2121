//! The four measurements.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bpc_core::TenantId;
use bpc_eventstore::seal::KeyFile;
use bpc_eventstore::verify::VerifyOptions;
use bpc_worker::{Engine, Enqueue, Registry, Worker, WorkerOptions};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, sqlite_file};
use crate::cli::BenchArgs;
use crate::command::{verify, worker};
use crate::error::Failure;
use crate::output::per_second;
use crate::progress;

use super::QUEUE;
use super::latency::{Latencies, Started};

/// How often the bar looks at the workers.
const LOOK: Duration = Duration::from_millis(100);

const BATCH: usize = 1000;
/// Clients that enqueue at once: while one batch is written, another is made.
const ENQUEUE_CLIENTS: usize = 2;

/// The next share of what is left, at most so much.
fn take(left: &Mutex<usize>, most: usize) -> usize {
    let mut left = left.lock().expect("no panic while held");
    let share = (*left).min(most);
    *left -= share;
    share
}

/// A benchmark under way.
pub struct Bench<'a> {
    pub call: &'a Call<'a>,
    pub args: &'a BenchArgs,
    pub engine: Engine,
    pub registry: Registry,
    pub tenant: TenantId,
}

/// So many of something, in that time.
#[derive(Clone, Copy)]
pub struct Measured {
    pub number: u64,
    pub elapsed: Duration,
    pub findings: u64,
}

impl Measured {
    pub fn per_second(self) -> u64 {
        per_second(self.number, self.elapsed) as u64
    }
}

impl Bench<'_> {
    /// Enqueue everything in batches, by two clients.
    pub async fn enqueue(&self, job: Enqueue) -> Result<Measured, Failure> {
        let bar = progress::bar(self.call.output, "enqueue", self.args.jobs as u64);
        let left = Arc::new(Mutex::new(self.args.jobs));
        let start = Instant::now();
        let mut clients = JoinSet::new();
        for _ in 0..ENQUEUE_CLIENTS {
            let (engine, tenant, actor) = (self.engine.clone(), self.tenant, self.call.actor.clone());
            let (job, most, left, bar) = (job.clone(), self.batch(), Arc::clone(&left), bar.clone());
            clients.spawn(async move {
                loop {
                    let batch = take(&left, most);
                    if batch == 0 {
                        return Ok::<(), Failure>(());
                    }
                    for outcome in engine.enqueue_all(tenant, &actor, vec![job.clone(); batch]).await? {
                        outcome?;
                    }
                    bar.inc(batch as u64);
                }
            });
        }
        while let Some(client) = clients.join_next().await {
            client.expect("a client does not panic")?;
        }
        bar.finish_and_clear();
        Ok(Measured { number: self.args.jobs as u64, elapsed: start.elapsed(), findings: 0 })
    }

    /// Run everything, until the workers find nothing left.
    pub async fn process(&self) -> Result<Measured, Failure> {
        let mut workers = Vec::new();
        for _ in 0..self.args.workers {
            let engine = self.engine_of_its_own().await?;
            workers.push(Worker::new(engine, WorkerOptions { until_idle: true, ..self.options() }));
        }
        let watches: Vec<_> = workers.iter().map(Worker::watch).collect();
        let bar = progress::bar(self.call.output, "process", self.args.jobs as u64);
        let look_on = async {
            loop {
                bar.set_position(watches.iter().map(|watch| watch().succeeded).sum());
                tokio::time::sleep(LOOK).await;
            }
        };
        let start = Instant::now();
        let mut running: JoinSet<_> =
            workers.into_iter().map(|worker| worker.run(CancellationToken::new())).collect();
        let work = async {
            let mut succeeded = 0;
            while let Some(report) = running.join_next().await {
                let report =
                    report.map_err(|error| Failure::refused("WORKER_PANICKED", error.to_string()))?;
                succeeded += report?.succeeded;
            }
            Ok::<u64, Failure>(succeeded)
        };
        let succeeded = tokio::select! {
            succeeded = work => succeeded?,
            () = look_on => unreachable!("looks on for ever"),
        };
        bar.finish_and_clear();
        Ok(Measured { number: succeeded, elapsed: start.elapsed(), findings: 0 })
    }

    /// How soon an idle worker starts a job: from the call of enqueue until the handler runs.
    pub async fn latency(&self, started: Started) -> Result<Latencies, Failure> {
        let stop = CancellationToken::new();
        let worker = tokio::spawn(Worker::new(self.engine.clone(), self.options()).run(stop.clone()));
        let spinner = progress::spinner(self.call.output, "latency");
        let latencies = started.measure(&self.engine, self.tenant, &self.call.actor).await;
        spinner.finish_and_clear();
        stop.cancel();
        worker.await.map_err(|error| Failure::refused("WORKER_PANICKED", error.to_string()))??;
        latencies
    }

    /// Verify the whole log, as an auditor does: one tenant's part of it would be picked out stream by stream.
    pub async fn verify(&self) -> Result<Measured, Failure> {
        let options = VerifyOptions::default();
        let report = verify::check(self.call, &self.engine.store, &options).await?;
        Ok(Measured { number: report.events, elapsed: report.elapsed, findings: report.findings_total })
    }

    /// Handlers at once, per worker.
    pub fn concurrency(&self) -> usize {
        self.options().concurrency
    }

    /// Several workers share nothing in this process, as if each ran on a machine of its own.
    async fn engine_of_its_own(&self) -> Result<Engine, Failure> {
        if self.args.workers == 1 {
            return Ok(self.engine.clone());
        }
        Ok(Engine::new(self.call.connect(false).await?, self.registry.clone()))
    }

    /// Jobs enqueued in one transaction.
    pub fn batch(&self) -> usize {
        self.args.batch.unwrap_or(BATCH)
    }

    fn options(&self) -> WorkerOptions {
        let options = self.call.settings.worker(worker::default_id());
        let key_file = KeyFile::beside(sqlite_file(&self.call.database).as_deref());
        WorkerOptions {
            // A name of its own for each of several workers, whatever the environment says.
            worker_id: worker::default_id(),
            concurrency: self.args.concurrency.unwrap_or(options.concurrency),
            batch: self.args.batch.unwrap_or(options.batch),
            queues: Some(vec![QUEUE.to_owned()]),
            tenants: Some(vec![self.tenant]),
            // As `bpc worker` would: a log with a key is sealed while it is written.
            seal_with: Some(key_file).filter(|file| file.path().exists()),
            ..options
        }
    }
}
