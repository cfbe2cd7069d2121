//! The pack in an engine on a fresh database, with a worker when one is wanted.

// Every test program takes what it needs of this.
#![allow(dead_code)]

pub mod desk;

use std::time::Duration;

use bpc_core::TenantId;
use bpc_eventstore::verify::{VerifyOptions, verify};
use bpc_eventstore::{Clock, StoreOptions, add_tenant};
use bpc_passport::import::{DocumentKind, Format};
use bpc_passport::pack::{AddedDocument, NewDocument, add_document};
use bpc_testkit::TestDatabase;
use bpc_worker::{
    Context, Effects, Engine, Enqueue, Handler, HandlerError, Job, JobHistory, JobId, JobPolicy, Registry,
    Store, Worker, WorkerOptions,
};
use tokio_util::sync::CancellationToken;

/// Who does things in tests.
pub const ACTOR: &str = "user:test";

pub struct House {
    pub engine: Engine,
    pub tenant: TenantId,
}

impl House {
    /// With these types, at a time that stands still.
    pub async fn with(db: &TestDatabase, registry: Registry) -> Self {
        let now = "2027-02-18T12:00:00.000000Z".parse().expect("a moment");
        let options = StoreOptions { clock: Clock::manual(now), ..StoreOptions::default() };
        let store = Store::connect(db.url(), options).await.expect("a store");
        store.migrate().await.expect("a schema");
        let tenant = add_tenant(&store, "acme", "Acme", ACTOR).await.expect("a tenant").tenant_id;
        House { engine: Engine::new(store, registry), tenant }
    }

    /// Work until nothing is due.
    pub async fn work(&self) {
        let options = WorkerOptions { until_idle: true, ..WorkerOptions::named("w") };
        Worker::new(self.engine.clone(), options).run(CancellationToken::new()).await.expect("a worker");
    }

    /// Work however often it breaks off. Time passes whenever nothing else does, so that leases end and
    /// retries fall due.
    pub async fn work_through(&self) {
        for _ in 0..4 {
            let (stop, options) = (CancellationToken::new(), WorkerOptions::named("w"));
            let options = WorkerOptions { until_idle: true, ..options };
            let mut worker = tokio::spawn(Worker::new(self.engine.clone(), options).run(stop.clone()));
            let mut ended = false;
            for _ in 0..10 {
                ended = tokio::time::timeout(Duration::from_millis(500), &mut worker).await.is_ok();
                if ended {
                    break;
                }
                self.engine.store.clock.advance(Duration::from_secs(100));
            }
            if !ended {
                stop.cancel();
                let _ = worker.await;
            }
            self.engine.store.clock.advance(Duration::from_secs(2000));
        }
    }

    /// Many workers at once, until nothing is due.
    pub async fn work_together(&self, workers: usize) {
        let mut tasks = Vec::new();
        for number in 0..workers {
            let options = WorkerOptions { until_idle: true, ..WorkerOptions::named(format!("w{number}")) };
            let worker = Worker::new(self.engine.clone(), options);
            tasks.push(tokio::spawn(worker.run(CancellationToken::new())));
        }
        for task in tasks {
            task.await.expect("no panic").expect("a worker");
        }
    }

    pub async fn enqueue(&self, job_type: &str, payload: &serde_json::Value) -> JobId {
        let job = Enqueue::new(job_type, payload).expect("a job");
        self.engine.enqueue(self.tenant, ACTOR, job).await.expect("enqueued").job_id
    }

    pub async fn history(&self, job: JobId) -> JobHistory {
        self.engine.history(self.tenant, job).await.expect("readable").expect("the job exists")
    }

    /// The code that the last attempt of a job failed with.
    pub async fn error_code(&self, job: JobId) -> String {
        self.history(job).await.job.last_error.map_or_else(String::new, |error| error.code)
    }

    pub async fn upload(&self, name: &str, kind: DocumentKind, bytes: &[u8]) -> AddedDocument {
        let new = NewDocument {
            name: name.to_owned(),
            kind,
            format: Format::Auto,
            sku: None,
            bytes: bytes.to_vec(),
        };
        add_document(&self.engine, self.tenant, ACTOR, new).await.expect("uploaded")
    }

    /// The whole log verifies, and every view is what the log says.
    pub async fn assert_sound(&self) {
        let report = verify(&self.engine.store, &VerifyOptions::default(), |_| {}).await.expect("readable");
        assert!(report.is_sound(), "{:?}", report.findings);
        let projections = self.engine.registry.projections();
        let check = bpc_projections::replay::check(&self.engine.store, projections, &mut |_| {}).await;
        let check = check.expect("replayed");
        assert!(check.is_clean(), "{check:?}");
    }
}

/// A public sample.
pub fn sample(path: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs a handler, forgets what came of it as a crash would, and runs it again.
pub struct Twice<H>(pub H);

impl<H: Handler> Handler for Twice<H> {
    const TYPE: &'static str = H::TYPE;
    type Payload = H::Payload;

    fn policy(&self) -> JobPolicy {
        self.0.policy()
    }

    async fn handle(&self, job: &Job<H::Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let forgotten = self.0.handle(job, cx).await;
        let kept = self.0.handle(job, cx).await;
        assert_eq!(format!("{forgotten:?}"), format!("{kept:?}"), "the second run wants something else");
        kept
    }
}
