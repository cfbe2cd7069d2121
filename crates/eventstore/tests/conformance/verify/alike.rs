//! Jobs that are alike: enqueued together, and their events written as cohorts.

use std::ops::Range;
use std::time::Duration;

use bpc_core::job::{Command, ErrorInfo, Failure, NewJob, Outcome, Settlement, Stamp, transition};
use bpc_core::{CanonicalJson, EventRecord, Job, JobId, RetryPolicy};
use bpc_eventstore::postgres::{Composed, append_cohorts};
use bpc_eventstore::{Conn, Store, entropy};

use crate::common::{NOW, acme};

/// Jobs with ids of one millisecond, as far as they have come.
pub struct Alike {
    jobs: Vec<(JobId, Option<Job>)>,
}

impl Alike {
    /// So many, told apart from other cohorts by a number.
    pub fn new(cohort: u8, jobs: u8) -> Self {
        Alike { jobs: (0..jobs).map(|number| (alike(cohort, number), None)).collect() }
    }

    /// One whose id says no time, because it follows from a key.
    #[allow(dead_code, reason = "each test file uses its own part")]
    pub fn keyed(key: &str) -> Self {
        Alike { jobs: vec![(JobId::from_key(acme(), "NOTE", key), None)] }
    }

    /// Version 1 of all.
    pub fn enqueue(&mut self, payload: &CanonicalJson) -> Vec<EventRecord> {
        let new = NewJob {
            job_type: "NOTE".to_owned(),
            queue: "default".to_owned(),
            priority: 2,
            max_attempts: 3,
            scheduled_at: None,
            idempotency_key: None,
            payload: payload.clone(),
        };
        self.take(0..self.jobs.len(), |_| Command::Enqueue(new.clone()))
    }

    /// The next version of some: they are leased.
    pub fn lease(&mut self, places: Range<usize>) -> Vec<EventRecord> {
        let ttl = Duration::from_secs(30);
        self.take(places, |_| Command::Lease { worker_id: "w1".to_owned(), ttl })
    }

    /// The last version of some: they succeed.
    pub fn succeed(&mut self, places: Range<usize>) -> Vec<EventRecord> {
        let outcome = Outcome::Succeeded { duration_ms: 5, result: None, emitted: Vec::new() };
        self.take(places, |job| settled(job, outcome.clone()))
    }

    /// The next two versions of one: it fails and waits for its next attempt.
    pub fn fail(&mut self, place: usize) -> Vec<EventRecord> {
        let error = ErrorInfo {
            code: "TIMEOUT".to_owned(),
            message: "nobody answered".to_owned(),
            retryable: true,
            detail: None,
        };
        let policy = RetryPolicy { cap: Duration::ZERO, ..RetryPolicy::default() };
        let outcome = Outcome::Failed(Failure { error, policy, chance: 0 });
        self.take(place..place + 1, |job| settled(job, outcome.clone()))
    }

    fn take(&mut self, places: Range<usize>, command: impl Fn(Option<&Job>) -> Command) -> Vec<EventRecord> {
        let mut records = Vec::new();
        for (job_id, job) in &mut self.jobs[places] {
            let mut stamp = Stamp {
                actor: "system",
                now: NOW,
                causation_id: None,
                correlation_id: None,
                entropy: &mut entropy,
            };
            let command = command(job.as_ref());
            let step = transition(acme(), *job_id, job.take(), command, &mut stamp).unwrap();
            *job = Some(step.job);
            records.extend(step.records);
        }
        records
    }
}

/// A job of a cohort. There are other ids between theirs.
pub fn alike(cohort: u8, number: u8) -> JobId {
    JobId::fresh(NOW, [0, cohort, 0, 0, 0, 0, 0, 0, number, number])
}

fn settled(job: Option<&Job>, outcome: Outcome) -> Command {
    let fence = job.expect("it is leased").head.version;
    Command::Settle(Settlement { fence, attempt: 1, worker_id: "w1".to_owned(), outcome })
}

/// Write each slice as one row.
pub async fn write_cohorts(store: &Store, cohorts: &[&[EventRecord]]) {
    let mut tx = store.begin().await.unwrap();
    write_cohorts_on(&mut tx.conn(), cohorts).await;
    tx.commit().await.unwrap();
}

/// The same in a transaction at hand.
pub async fn write_cohorts_on(conn: &mut Conn<'_>, cohorts: &[&[EventRecord]]) {
    let Conn::Postgres(conn) = conn else { panic!("cohorts are PostgreSQL's") };
    let mut statement = Composed::default();
    append_cohorts(cohorts.iter().copied(), &mut statement).unwrap();
    statement.execute(conn).await.unwrap();
}
