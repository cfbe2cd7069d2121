//! The worker: leases jobs, runs their handlers, keeps the leases, settles the outcomes.

mod attempt;
mod engines;
mod held;
mod keeper;
mod lanes;
mod leaser;
mod line;
mod pace;
mod places;
mod reaper;
mod sealer;
mod settler;
mod shared;

use std::sync::Arc;
use std::time::Duration;

use bpc_core::TenantId;
use bpc_eventstore::seal::KeyFile;
use bpc_projections::Lane;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::wake::{WakeOptions, consume, listen, watch_file};

use keeper::keep_all;
use leaser::Leaser;
use places::Places;
use reaper::reap_all;
use sealer::seal_all;
use settler::settle_all;
use shared::Shared;

/// How a worker works.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Its name in leases and events.
    pub worker_id: String,
    /// Handlers that run at once.
    pub concurrency: usize,
    /// Most jobs leased or settled in one transaction.
    pub batch: usize,
    /// Only these queues; `None` is all.
    pub queues: Option<Vec<String>>,
    /// Only these tenants; `None` crosses tenants.
    pub tenants: Option<Vec<TenantId>>,
    /// How long a lease holds.
    pub lease_ttl: Duration,
    /// How often leases are renewed.
    pub renew_interval: Duration,
    /// How often to look for work, hints or not.
    pub poll_interval: Duration,
    /// How long running handlers may take after a stop was asked for.
    pub grace: Duration,
    /// Stop when nothing is due or running.
    pub until_idle: bool,
    /// Hints to listen to.
    pub wake: WakeOptions,
    /// Seal the log with the key in this file; `None` leaves that to others.
    pub seal_with: Option<KeyFile>,
}

impl WorkerOptions {
    /// A worker of that name with the default settings.
    pub fn named(worker_id: impl Into<String>) -> Self {
        WorkerOptions {
            worker_id: worker_id.into(),
            concurrency: 64,
            batch: 2000,
            queues: None,
            tenants: None,
            lease_ttl: Duration::from_secs(60),
            renew_interval: Duration::from_secs(30),
            poll_interval: Duration::from_secs(1),
            grace: Duration::from_secs(30),
            until_idle: false,
            wake: WakeOptions::default(),
            seal_with: None,
        }
    }

    /// May this worker take jobs of that lane?
    pub(crate) fn is_mine(&self, lane: &Lane) -> bool {
        let among = |queues: &Vec<String>| queues.contains(&lane.queue);
        self.tenants.as_ref().is_none_or(|tenants| tenants.contains(&lane.tenant_id))
            && self.queues.as_ref().is_none_or(among)
    }
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerReport {
    /// Leases taken.
    pub leased: u64,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts that failed, for good or to be tried again.
    pub failed: u64,
    /// Jobs given back, snoozed or cancelled.
    pub returned: u64,
    /// Completions refused because the lease was lost.
    pub refused: u64,
}

/// A worker, ready to run.
pub struct Worker {
    shared: Arc<Shared>,
}

impl Worker {
    /// A worker on an engine.
    pub fn new(engine: Engine, options: WorkerOptions) -> Self {
        Worker { shared: Arc::new(Shared::new(engine, Arc::new(options))) }
    }

    /// Tells, at any time, what the worker has done so far.
    pub fn watch(&self) -> impl Fn() -> WorkerReport + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move || shared.counts.report()
    }

    /// Work until `stop` is cancelled (or, with `until_idle`, nothing is left to do). Returns when
    /// every job it held is settled or given back.
    pub async fn run(self, stop: CancellationToken) -> Result<WorkerReport, EngineError> {
        let shared = self.shared;
        // Helpers end after the last job is settled, so leases are kept until then.
        let helpers_stop = CancellationToken::new();
        let helpers = TaskTracker::new();
        let _guard = helpers_stop.clone().drop_guard();
        let hints = shared.engine.hints.subscribe();
        if shared.options.wake.listen {
            helpers.spawn(listen(shared.engine.clone(), helpers_stop.clone()));
            let holder = Arc::clone(&shared);
            let is_idle = move || holder.held.len() == 0;
            helpers.spawn(watch_file(shared.engine.clone(), is_idle, helpers_stop.clone()));
        }
        if let Some(rabbit) = &shared.options.wake.rabbit {
            helpers.spawn(consume(rabbit.clone(), shared.engine.hints.clone(), helpers_stop.clone()));
        }
        helpers.spawn(keep_all(Arc::clone(&shared), helpers_stop.clone()));
        helpers.spawn(reap_all(Arc::clone(&shared), helpers_stop.clone()));
        if let Some(key_file) = &shared.options.seal_with {
            helpers.spawn(seal_all(Arc::clone(&shared), key_file.clone(), helpers_stop.clone()));
        }
        let (finished, settling) = mpsc::channel(shared.options.batch * 2);
        let mut settler = JoinSet::new();
        settler.spawn(settle_all(Arc::clone(&shared), settling));

        let mut places = Places::new(Arc::clone(&shared), finished, stop.clone());
        let leaser = Leaser {
            shared: Arc::clone(&shared),
            hints,
            places: &mut places,
            stop: &stop,
            under_way: JoinSet::new(),
            asked: 0,
            begun: 0,
        };
        let ended = leaser.lease_all().await;

        places.wind_down().await;
        settler.join_all().await;
        shared.engines.close();
        helpers_stop.cancel();
        helpers.close();
        helpers.wait().await;
        ended.map(|()| shared.counts.report())
    }
}
