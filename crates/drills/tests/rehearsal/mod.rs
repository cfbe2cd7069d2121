//! An engine with the drills on a fresh database, and a worker when one is wanted.

// Every test program takes what it needs of this.
#![allow(dead_code)]

use std::time::Duration;

use bpc_core::{Status, TenantId};
use bpc_drills::register;
use bpc_eventstore::{Clock, StoreOptions, add_tenant, portable};
use bpc_testkit::TestDatabase;
use bpc_worker::{
    Engine, Enqueue, JobHistory, JobId, Registry, Store, StreamId, Timestamp, Worker, WorkerOptions,
    WorkerReport,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Longer than any lease and any delay between two attempts.
const PATIENCE: Duration = Duration::from_secs(2000);

pub struct Rehearsal {
    pub engine: Engine,
    pub tenant: TenantId,
}

/// A row of the view: events, last number, last job.
pub type StreamRow = (i64, i64, Uuid);

impl Rehearsal {
    /// With the whole pack.
    pub async fn on(db: &TestDatabase) -> Self {
        Self::with(db, whole_pack()).await
    }

    /// With these job types, and a clock that stands still.
    pub async fn with(db: &TestDatabase, registry: Registry) -> Self {
        let now = "2026-11-16T12:00:00.000000Z".parse().unwrap();
        let rehearsal = Self::join(db.url(), registry, now).await;
        let store = &rehearsal.engine.store;
        store.migrate().await.unwrap();
        add_tenant(store, "drills", "Drills", "user:test").await.unwrap();
        rehearsal
    }

    /// On a database that another process has prepared, at the time that it is there.
    pub async fn join(url: &str, registry: Registry, now: Timestamp) -> Self {
        let options = StoreOptions { clock: Clock::manual(now), ..StoreOptions::default() };
        let store = Store::connect(url, options).await.unwrap();
        Rehearsal { engine: Engine::new(store, registry), tenant: TenantId::from_slug("drills") }
    }

    pub async fn enqueue(&self, job_type: &str, payload: &str) -> JobId {
        let job = Enqueue::from_json(job_type, payload.as_bytes()).unwrap();
        self.engine.enqueue(self.tenant, "user:test", job).await.unwrap().job_id
    }

    pub fn worker(&self, options: WorkerOptions) -> Worker {
        Worker::new(self.engine.clone(), options)
    }

    /// Work until nothing is due.
    pub async fn work(&self) -> WorkerReport {
        let options = WorkerOptions { until_idle: true, ..WorkerOptions::named("w") };
        self.worker(options).run(CancellationToken::new()).await.unwrap()
    }

    /// Work until a job is finished, however long its retries wait.
    pub async fn work_until_finished(&self, job: JobId) -> JobHistory {
        for _ in 0..10 {
            self.work().await;
            let history = self.history(job).await;
            if history.job.status().is_finished() {
                return history;
            }
            self.wait();
        }
        panic!("job {job} is not finished: {:?}", self.history(job).await.job);
    }

    /// Let every retry become due and every lease run out.
    pub fn wait(&self) {
        self.engine.store.clock.advance(PATIENCE);
    }

    pub async fn history(&self, job: JobId) -> JobHistory {
        self.engine.history(self.tenant, job).await.unwrap().expect("the job exists")
    }

    pub async fn status(&self, job: JobId) -> Status {
        self.history(job).await.job.status()
    }

    /// What the view says of a stream.
    pub async fn stream_row(&self, stream: StreamId) -> Option<StreamRow> {
        let sql = "SELECT events, last_number, last_job_id FROM drill_streams \
                   WHERE stream_id = $1 AND tenant_id = $2";
        let mut tx = self.engine.store.begin_read().await.unwrap();
        portable!(tx.conn(), c => {
            sqlx::query_as(sql).bind(stream.0).bind(self.tenant.0).fetch_optional(c).await
        })
        .unwrap()
    }
}

pub fn whole_pack() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry);
    registry
}

/// The names of a job's events, oldest first.
pub fn events(history: &JobHistory) -> Vec<&str> {
    history.events.iter().map(|event| event.event_type.as_str()).collect()
}

/// The code its last attempt failed with.
pub fn error_code(history: &JobHistory) -> &str {
    history.job.last_error.as_ref().map_or("", |error| &error.code)
}

/// The payload of the newest event.
pub fn newest(history: &JobHistory) -> &str {
    history.events.last().map_or("", |event| &event.payload)
}
