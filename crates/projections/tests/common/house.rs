//! A store, its clock, and single jobs moved step by step.

use std::time::Duration;

use bpc_core::job::{
    Command, Failure, NewJob, Outcome, Settlement, Stamp, Transition, TransitionError, fold_stream,
    transition,
};
use bpc_core::job::{ErrorInfo, Placement};
use bpc_core::{CanonicalJson, Job, JobId, RetryPolicy, Status, TenantId, Timestamp};
use bpc_eventstore::{Clock, Conn, Store, StoreOptions, Tx, add_tenant, read_stream};
use bpc_projections::{JobFilter, JobLine, JobWrites, Lane, LaneRoom, list_jobs, write_jobs};
use bpc_testkit::TestDatabase;

use super::{Random, START};

/// One store with the tenants `acme` and `other`.
pub struct House {
    pub store: Store,
    pub clock: Clock,
    pub acme: TenantId,
    pub other: TenantId,
    pub random: Random,
}

/// A job of type `SEND` in queue `mail`, due at once.
pub fn new_job() -> NewJob {
    NewJob {
        job_type: "SEND".to_owned(),
        queue: "mail".to_owned(),
        priority: 2,
        max_attempts: 3,
        scheduled_at: None,
        idempotency_key: None,
        payload: CanonicalJson::from_trusted(b"{}".to_vec()),
    }
}

impl House {
    pub async fn open(db: &TestDatabase) -> House {
        House::seeded(db, 1).await
    }

    /// Everything that chance decides follows from the seed.
    pub async fn seeded(db: &TestDatabase, seed: u64) -> House {
        let clock = Clock::manual(START);
        let options = StoreOptions { clock: clock.clone(), ..StoreOptions::default() };
        let store = Store::connect(db.url(), options).await.unwrap();
        store.migrate().await.unwrap();
        let acme = add_tenant(&store, "acme", "Acme", "system").await.unwrap().tenant_id;
        let other = add_tenant(&store, "other", "Other", "system").await.unwrap().tenant_id;
        House { store, clock, acme, other, random: Random::seeded(seed) }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.host()
    }

    pub fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }

    /// What the rule book makes of a command, now.
    pub fn decide(
        &mut self,
        tenant: TenantId,
        id: JobId,
        job: Option<Job>,
        command: Command,
    ) -> Result<Transition, TransitionError> {
        let now = self.now();
        let mut entropy = || self.random.entropy();
        let mut stamp = Stamp {
            actor: "worker:test",
            now,
            causation_id: None,
            correlation_id: None,
            entropy: &mut entropy,
        };
        transition(tenant, id, job, command, &mut stamp)
    }

    /// Enqueue a job of a tenant.
    pub async fn enqueue(&mut self, tenant: TenantId, new: NewJob) -> Job {
        let id = JobId::fresh(self.now(), self.random.entropy());
        let Transition { job, records, .. } =
            self.decide(tenant, id, None, Command::Enqueue(new)).expect("a new job");
        let mut writes = JobWrites::default();
        writes.create(job.clone(), records);
        self.write(&writes).await;
        job
    }

    /// Carry a command out on a job and write it.
    pub async fn step(&mut self, job: Job, command: Command) -> Job {
        let was_finished = job.status().is_finished();
        let Transition { job, records, .. } =
            self.decide(job.tenant_id, job.job_id, Some(job), command).expect("a legal command");
        let mut writes = JobWrites::default();
        if was_finished {
            writes.change_finished(job.clone(), records);
        } else {
            writes.change_live(job.clone(), records);
        }
        self.write(&writes).await;
        job
    }

    pub async fn lease(&mut self, job: Job) -> Job {
        self.step(job, Command::Lease { worker_id: "w1".to_owned(), ttl: Duration::from_secs(60) }).await
    }

    pub async fn settle(&mut self, job: Job, outcome: Outcome) -> Job {
        let lease = job.lease().expect("a running job");
        let (fence, worker_id) = (lease.fence, lease.worker_id.clone());
        let settlement = Settlement { fence, attempt: job.attempts, worker_id, outcome };
        self.step(job, Command::Settle(settlement)).await
    }

    pub async fn write(&self, writes: &JobWrites) {
        let mut tx = self.store.begin().await.unwrap();
        write_jobs(&mut tx.conn(), writes).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub async fn read(&self) -> Tx {
        self.store.begin_read().await.unwrap()
    }

    /// The one row of a job, in whichever view it is.
    pub async fn row(&self, job: &Job) -> Placement {
        let id = |line: &JobLine| match line {
            Placement::Queue(row) => row.job_id,
            Placement::Finished(row) => row.job_id,
        };
        let mut lines =
            self.list(JobFilter { tenant: Some(job.tenant_id), limit: 1000, ..JobFilter::default() }).await;
        lines.retain(|line| id(line) == job.job_id);
        assert_eq!(lines.len(), 1, "a job stands in exactly one view");
        lines.remove(0)
    }

    pub async fn list(&self, filter: JobFilter) -> Vec<JobLine> {
        list_jobs(&mut self.read().await.conn(), &filter).await.unwrap()
    }

    /// Run SQL behind the engine's back.
    pub async fn tamper(&self, sql: &str) {
        let mut tx = self.store.begin().await.unwrap();
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        match tx.conn() {
            Conn::Postgres(conn) => sqlx::raw_sql(sql).execute(conn).await.map(drop),
            Conn::Sqlite(conn) => sqlx::raw_sql(sql).execute(conn).await.map(drop),
        }
        .unwrap();
        tx.commit().await.unwrap();
    }

    /// A lane with room for many.
    pub fn lane(&self, tenant: TenantId, queue: &str) -> LaneRoom {
        LaneRoom::new(Lane { tenant_id: tenant, queue: queue.to_owned() }, 1000)
    }
}

/// A job as its log says.
pub async fn load(conn: &mut Conn<'_>, tenant: TenantId, id: JobId) -> Option<Job> {
    let events = read_stream(conn, tenant, id.into()).await.unwrap();
    let envelopes: Vec<_> =
        events.iter().map(|event| (event.envelope().unwrap(), event.hash().unwrap())).collect();
    fold_stream(envelopes.iter().map(|(envelope, hash)| (envelope, *hash))).unwrap()
}

/// A failure that may be tried again, or not.
pub fn failed(retryable: bool) -> Outcome {
    let error =
        ErrorInfo { code: "SMTP_DOWN".to_owned(), message: "no answer".to_owned(), retryable, detail: None };
    Outcome::Failed(Failure { error, policy: RetryPolicy::default(), chance: 0 })
}

/// A success without effects.
pub fn succeeded() -> Outcome {
    Outcome::Succeeded { duration_ms: 5, result: None, emitted: Vec::new() }
}

/// The status that a row shows.
pub fn status(row: &Placement) -> Status {
    match row {
        Placement::Queue(row) if row.running => Status::Running,
        Placement::Queue(_) => Status::Queued,
        Placement::Finished(row) => row.status,
    }
}
