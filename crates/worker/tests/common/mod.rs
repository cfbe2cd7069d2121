//! A scene: an engine with the probe handlers on a fresh database, and what tests do there.

// Every test program takes what it needs of this.
#![allow(dead_code, unused_imports)]

mod ledger;
mod probe;
mod sound;

use std::sync::Arc;
use std::time::Duration;

use bpc_core::job::{ErrorInfo, Failure, Outcome};
use bpc_core::{RetryPolicy, Status};
use bpc_eventstore::{Clock, add_tenant};
use bpc_projections::{Lane, LaneRoom};
use bpc_testkit::TestDatabase;
use bpc_worker::{
    Attempt, Effects, Engine, Enqueue, JobHistory, JobId, JobPolicy, LeasedJob, Registry, Settled, Store,
    StoreOptions, TenantId, WakeOptions, Worker, WorkerOptions, WorkerReport,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use ledger::{ENTERED, LEDGER, Ledger, MARK, entered, ledger_of};
pub use probe::{Act, Notes, Probe, Second};
pub use sound::assert_sound;

pub const ACTOR: &str = "user:test";
pub const TTL: Duration = Duration::from_secs(60);
/// How long a test waits for what should happen soon.
pub const SOON: Duration = Duration::from_secs(30);

pub struct Scene {
    pub url: String,
    pub engine: Engine,
    pub tenant: TenantId,
    pub notes: Arc<Notes>,
}

/// A clock that stands still.
pub fn still() -> Clock {
    Clock::manual("2026-11-16T12:00:00.000000Z".parse().unwrap())
}

impl Scene {
    /// With a clock that the test moves.
    pub async fn still(db: &TestDatabase) -> Self {
        Self::with(db, still(), |_, _| {}).await
    }

    /// With the database's clock.
    pub async fn ticking(db: &TestDatabase) -> Self {
        Self::with(db, Clock::Database, |_, _| {}).await
    }

    /// With another policy for `PROBE`.
    pub async fn ticking_with_policy(db: &TestDatabase, policy: JobPolicy) -> Self {
        Self::with(db, Clock::Database, |_, probe| probe.policy = policy).await
    }

    /// With whatever `adjust` changes about the registry and the probe.
    pub async fn with(
        db: &TestDatabase,
        clock: Clock,
        adjust: impl FnOnce(&mut Registry, &mut Probe),
    ) -> Self {
        let notes = Arc::<Notes>::default();
        let mut registry = Registry::new();
        let mut probe = Probe::new(&notes);
        adjust(&mut registry, &mut probe);
        registry.job(probe).job(Second::new(&notes)).event(LEDGER, ENTERED).projection(Ledger);
        let options = StoreOptions { clock, ..StoreOptions::default() };
        let store = Store::connect(db.url(), options).await.unwrap();
        store.migrate().await.unwrap();
        ledger::create_tables(&store).await;
        let tenant = add_tenant(&store, "probes", "Probes", ACTOR).await.unwrap().tenant_id;
        Scene { url: db.url().to_owned(), engine: Engine::new(store, registry), tenant, notes }
    }

    /// The same log through connections of its own, as another process has it.
    pub async fn elsewhere(&self) -> Engine {
        self.elsewhere_at(self.engine.store.clock.clone()).await
    }

    /// The same with a clock of its own.
    pub async fn elsewhere_at(&self, clock: Clock) -> Engine {
        let options = StoreOptions { clock, ..StoreOptions::default() };
        let store = Store::connect(&self.url, options).await.unwrap();
        Engine::new(store, Registry::clone(&self.engine.registry))
    }

    pub fn store(&self) -> &Store {
        &self.engine.store
    }

    pub fn advance(&self, by: Duration) {
        self.engine.store.clock.advance(by);
    }

    pub async fn other_tenant(&self) -> TenantId {
        add_tenant(self.store(), "others", "Others", ACTOR).await.unwrap().tenant_id
    }

    pub async fn enqueue(&self, act: Act) -> JobId {
        self.enqueue_job(job(act)).await
    }

    pub async fn enqueue_job(&self, job: Enqueue) -> JobId {
        self.engine.enqueue(self.tenant, ACTOR, job).await.unwrap().job_id
    }

    /// Lease from the queue that probes wait in.
    pub async fn lease(&self, worker: &str, limit: usize) -> Vec<LeasedJob> {
        let lanes = [lane(self.tenant, "default", limit)];
        self.engine.lease(worker, &lanes, limit, TTL).await.unwrap()
    }

    pub async fn lease_one(&self, worker: &str) -> LeasedJob {
        self.lease(worker, 1).await.pop().expect("a job to lease")
    }

    pub async fn settle(&self, worker: &str, attempt: Attempt) -> Settled {
        self.engine.settle(worker, &[attempt]).await.unwrap()[0]
    }

    pub async fn history(&self, job: JobId) -> JobHistory {
        self.engine.history(self.tenant, job).await.unwrap().expect("the job exists")
    }

    pub async fn status(&self, job: JobId) -> Status {
        self.history(job).await.job.status()
    }

    /// The names of a job's events, oldest first, in one line.
    pub async fn story(&self, job: JobId) -> String {
        story(&self.history(job).await)
    }

    pub async fn error_code(&self, job: JobId) -> String {
        self.history(job).await.job.last_error.map_or_else(String::new, |error| error.code)
    }

    pub async fn why(&self, job: JobId) -> &'static str {
        self.engine.why(self.tenant, job).await.unwrap().expect("the job exists").code
    }

    /// Work until nothing is due.
    pub async fn work(&self) -> WorkerReport {
        let options = WorkerOptions { until_idle: true, ..options("w") };
        let run = Worker::new(self.engine.clone(), options).run(CancellationToken::new());
        tokio::time::timeout(SOON, run).await.expect("the worker becomes idle").unwrap()
    }

    /// Wait until a job has that status.
    pub async fn until(&self, job: JobId, status: Status) {
        bpc_testkit::eventually(SOON, || async move { self.status(job).await == status }).await;
    }

    pub async fn assert_sound(&self) {
        assert_sound(self.store()).await;
    }
}

/// A worker in the background.
pub struct Working {
    pub stop: CancellationToken,
    task: JoinHandle<WorkerReport>,
}

impl Working {
    pub fn start(engine: &Engine, options: WorkerOptions) -> Self {
        let stop = CancellationToken::new();
        let run = Worker::new(engine.clone(), options).run(stop.clone());
        Working { stop, task: tokio::spawn(async move { run.await.unwrap() }) }
    }

    /// Ask it to stop, and wait until it has.
    pub async fn stop(self) -> WorkerReport {
        self.stop.cancel();
        tokio::time::timeout(SOON, self.task).await.expect("it stops in time").unwrap()
    }

    pub fn has_ended(&self) -> bool {
        self.task.is_finished()
    }
}

/// A worker that looks often and listens to nothing outside its process.
pub fn options(worker_id: &str) -> WorkerOptions {
    WorkerOptions {
        poll_interval: Duration::from_millis(100),
        wake: WakeOptions { listen: false, rabbit: None },
        ..WorkerOptions::named(worker_id)
    }
}

pub fn job(act: Act) -> Enqueue {
    Enqueue::new("PROBE", &act).unwrap()
}

pub fn second(act: Act) -> Enqueue {
    Enqueue::new("SECOND", &act).unwrap()
}

pub fn lane(tenant_id: TenantId, queue: &str, room: usize) -> LaneRoom {
    LaneRoom::new(Lane { tenant_id, queue: queue.to_owned() }, room)
}

pub fn ended(leased: &LeasedJob, outcome: Outcome, effects: Effects) -> Attempt {
    Attempt {
        leased: leased.job.clone(),
        leased_at: leased.leased_at,
        place: leased.place.clone(),
        outcome,
        effects,
    }
}

pub fn succeeded(leased: &LeasedJob, effects: Effects) -> Attempt {
    let outcome = Outcome::Succeeded { duration_ms: 1, result: None, emitted: Vec::new() };
    ended(leased, outcome, effects)
}

pub fn failed(leased: &LeasedJob, code: &str, retryable: bool) -> Attempt {
    let error = ErrorInfo { code: code.to_owned(), message: code.to_lowercase(), retryable, detail: None };
    let failure = Failure { error, policy: RetryPolicy::default(), chance: 0 };
    ended(leased, Outcome::Failed(failure), Effects::none())
}

pub fn story(history: &JobHistory) -> String {
    history.events.iter().map(|event| event.event_type.as_str()).collect::<Vec<_>>().join(" ")
}
