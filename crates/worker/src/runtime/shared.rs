//! What the parts of a worker share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bpc_core::job::Outcome;
use tokio::sync::Notify;

use crate::engine::{Attempt, Engine};

use super::engines::Engines;
use super::held::HeldJobs;
use super::pace::Pace;
use super::{WorkerOptions, WorkerReport};

/// One worker's state.
pub(super) struct Shared {
    pub(super) engine: Engine,
    pub(super) engines: Engines,
    pub(super) options: Arc<WorkerOptions>,
    pub(super) held: HeldJobs,
    /// A job was let go of, so there may be room for others.
    pub(super) freed: Notify,
    pub(super) counts: Counts,
    /// The worker stops: what cannot be settled in time is not waited for.
    pub(super) winds_down: AtomicBool,
    pace: Mutex<Pace>,
    /// How long handlers ran, in nanoseconds, since the pace was told.
    run_ns: AtomicU64,
}

impl Shared {
    pub(super) fn new(engine: Engine, options: Arc<WorkerOptions>) -> Self {
        Shared {
            engines: Engines::of(engine.clone()),
            engine,
            options,
            held: HeldJobs::default(),
            freed: Notify::new(),
            counts: Counts::default(),
            winds_down: AtomicBool::new(false),
            pace: Mutex::new(Pace::new(Instant::now())),
            run_ns: AtomicU64::new(0),
        }
    }

    /// A handler ran for so long.
    pub(super) fn ran(&self, took: Duration) {
        self.run_ns.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Attempts are over as far as this worker is concerned, so many of them because they finished.
    pub(super) fn let_go(&self, attempts: &[Attempt], finished: usize) {
        self.held.remove(attempts.iter().map(|attempt| (attempt.leased.job_id, attempt.fence())));
        let run = Duration::from_nanos(self.run_ns.swap(0, Ordering::Relaxed));
        self.pace().finished(finished, run, Instant::now());
        self.freed.notify_one();
    }

    /// Jobs are leased where none was held.
    pub(super) fn begins(&self, at: Instant) {
        self.pace().begin(at);
    }

    /// How many jobs may be leased now, while so many are being.
    pub(super) fn room(&self, asked: usize) -> Room {
        let batch = self.options.batch.min(LEASE_MAX);
        let ahead = self.pace().ahead(Instant::now(), self.options.concurrency, batch);
        // Three times: while one batch is settled and another run, a third is leased. So no lease takes all there
        // is room for, or leasing and settling would wait for each other in turn.
        let capacity = self.options.concurrency + 3 * ahead;
        let most = batch.min(ahead.max(self.options.concurrency));
        let jobs = capacity.saturating_sub(self.held.len() + asked).min(most);
        Room { jobs, is_worth_a_lease: jobs > 0 && jobs >= ahead, is_worth_a_second: jobs >= SECOND_LEASE }
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for jobs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) jobs: usize,
    /// Small leases cost as much as large ones: while jobs are fast, more are fetched only once there
    /// is room for a good number.
    pub(super) is_worth_a_lease: bool,
    /// Even while another is under way.
    pub(super) is_worth_a_second: bool,
}

/// All payloads of a lease come as one answer, which PostgreSQL limits to a gigabyte.
const LEASE_MAX: usize = 2048;
/// Fewer jobs than this are not worth walking over those that another lease has locked, nor another connection.
const SECOND_LEASE: usize = 1000;

/// What has been done so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    leased: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    returned: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    pub(super) fn leased(&self, jobs: usize) {
        self.leased.fetch_add(jobs as u64, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count(&self, outcome: &Outcome) {
        let counter = match outcome {
            Outcome::Succeeded { .. } => &self.succeeded,
            Outcome::Failed(_) => &self.failed,
            Outcome::Cancelled | Outcome::Released | Outcome::Snoozed { .. } => &self.returned,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn report(&self) -> WorkerReport {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WorkerReport {
            leased: read(&self.leased),
            succeeded: read(&self.succeeded),
            failed: read(&self.failed),
            returned: read(&self.returned),
            refused: read(&self.refused),
        }
    }
}
