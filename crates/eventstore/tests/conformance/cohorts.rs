//! Jobs that go through their lives together.

use std::ops::Range;
use std::time::Duration;

use bpc_core::job::{Command, ErrorInfo, Failure, NewJob, Outcome, Settlement, Stamp, transition};
use bpc_core::{CanonicalJson, EventRecord, Job, JobId, RetryPolicy, StreamId, Timestamp};
use bpc_eventstore::postgres::{Composed, append_cohorts};
use bpc_eventstore::{Conn, Store, entropy, write_events};

use crate::common::{NOW, acme};

/// Jobs of one millisecond, in the order of their ids.
pub struct Together {
    jobs: Vec<(JobId, Option<Job>)>,
    now: Timestamp,
}

impl Together {
    /// So many jobs that are yet to be enqueued.
    pub fn new(count: usize) -> Self {
        Together::at(NOW, count)
    }

    /// The same at another time.
    pub fn at(now: Timestamp, count: usize) -> Self {
        let mut ids: Vec<JobId> = (0..count).map(|_| JobId::fresh(now, entropy())).collect();
        ids.sort_unstable_by_key(|id| id.0);
        Together { jobs: ids.into_iter().map(|id| (id, None)).collect(), now }
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.jobs.len()
    }

    /// The stream of a job.
    pub fn stream(&self, place: usize) -> StreamId {
        self.jobs[place].0.into()
    }

    /// One event for each job.
    pub fn enqueue(&mut self) -> Vec<EventRecord> {
        self.step(0..self.jobs.len(), |place, _| {
            Command::Enqueue(NewJob {
                job_type: "NOTE".to_owned(),
                queue: "default".to_owned(),
                priority: 2,
                max_attempts: 3,
                scheduled_at: None,
                idempotency_key: None,
                payload: CanonicalJson::from_trusted(format!("{{\"number\":{place}}}").into_bytes()),
            })
        })
    }

    /// One event for each of these.
    pub fn lease(&mut self, places: Range<usize>) -> Vec<EventRecord> {
        let lease = || Command::Lease { worker_id: "w1".to_owned(), ttl: Duration::from_secs(30) };
        self.step(places, |_, _| lease())
    }

    /// One event for each of these.
    pub fn succeed(&mut self, places: Range<usize>) -> Vec<EventRecord> {
        let outcome = || Outcome::Succeeded { duration_ms: 5, result: None, emitted: Vec::new() };
        self.step(places, |_, job| settle(job, outcome()))
    }

    /// Two events for each of these: what went wrong, and when it is tried again.
    pub fn fail(&mut self, places: Range<usize>) -> Vec<EventRecord> {
        let error = ErrorInfo {
            code: "TIMEOUT".to_owned(),
            message: "nobody answered".to_owned(),
            retryable: true,
            detail: None,
        };
        let policy = RetryPolicy { cap: Duration::ZERO, ..RetryPolicy::default() };
        let failure = Failure { error, policy, chance: 0 };
        self.step(places, |_, job| settle(job, Outcome::Failed(failure.clone())))
    }

    fn step(
        &mut self,
        places: Range<usize>,
        command: impl Fn(usize, Option<&Job>) -> Command,
    ) -> Vec<EventRecord> {
        let mut stamp = Stamp {
            actor: "system",
            now: self.now,
            causation_id: None,
            correlation_id: None,
            entropy: &mut entropy,
        };
        let mut records = Vec::new();
        for place in places {
            let (job_id, job) = &mut self.jobs[place];
            let command = command(place, job.as_ref());
            let step = transition(acme(), *job_id, job.take(), command, &mut stamp).unwrap();
            *job = Some(step.job);
            records.extend(step.records);
        }
        records
    }
}

fn settle(job: Option<&Job>, outcome: Outcome) -> Command {
    let fence = job.expect("it was leased").head.version;
    Command::Settle(Settlement { fence, attempt: 1, worker_id: "w1".to_owned(), outcome })
}

/// How events of jobs that go together are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// One for all, where the database has such rows.
    Shared,
    /// One for each.
    Single,
}

/// Write events that happened to some jobs alike, on a connection at hand.
pub async fn write_on(conn: &mut Conn<'_>, events: &[EventRecord], rows: Rows) {
    match conn {
        Conn::Postgres(conn) if rows == Rows::Shared => {
            let mut statement = Composed::default();
            append_cohorts([events], &mut statement).unwrap();
            statement.execute(conn).await.unwrap();
        }
        conn => write_events(conn, events).await.unwrap(),
    }
}

/// The same in a transaction of its own.
pub async fn write(store: &Store, events: &[EventRecord], rows: Rows) {
    let mut tx = store.begin().await.unwrap();
    write_on(&mut tx.conn(), events, rows).await;
    tx.commit().await.unwrap();
}

/// Write the lives of jobs: all are enqueued and leased together; the last of them fails, alone, the others succeed
/// together. Four events for the one, three for each of the others.
pub async fn write_life(store: &Store, together: &mut Together, rows: Rows) {
    let count = together.count();
    write(store, &together.enqueue(), rows).await;
    write(store, &together.lease(0..count), rows).await;
    write(store, &together.succeed(0..count - 1), rows).await;
    write(store, &together.fail(count - 1..count), Rows::Single).await;
}
