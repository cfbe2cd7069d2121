//! The log that is tampered with, and how findings are written down.

use std::time::Duration;

use bpc_core::job::{Command, ErrorInfo, Failure, NewJob, Outcome, Settlement, Stamp, transition};
use bpc_core::{CanonicalJson, EventRecord, Job, JobId, RetryPolicy, StreamId};
use bpc_eventstore::seal::{KeyState, LogSecret, SealOptions, Sealer, log_stream};
use bpc_eventstore::verify::{Finding, VerifyOptions, VerifyReport, verify};
use bpc_eventstore::{Store, add_log_key, add_tenant, entropy, write_events};
use bpc_testkit::TestDatabase;

use crate::alike::{Alike, alike, write_cohorts};
use crate::common::{NOW, acme, append, empty_log, notes, stream};

/// The log's name.
pub const ORIGIN: &str = "example.com/log";

/// The log's key.
pub fn secret() -> LogSecret {
    LogSecret::new([7; 32])
}

/// The streams that are tampered with, by the names they have in tables.
pub fn named(name: &str) -> StreamId {
    match name {
        "log" => log_stream(),
        "tenant" => acme().into(),
        "job" | "other-job" => job(name).into(),
        name => match ALIKE.iter().position(|alike| *alike == name) {
            Some(number) => alike(number as u8 / 3, number as u8 % 3).into(),
            None => stream(name),
        },
    }
}

const NAMES: [&str; 8] = ["log", "tenant", "job", "other-job", "a", "b", "c", "many"];
/// Jobs that were enqueued together, three at a time.
const ALIKE: [&str; 6] = ["one-1", "one-2", "one-3", "two-1", "two-2", "two-3"];

/// A log with a bit of everything, sealed twice, a minute apart, with two events behind.
///
/// Positions: 0 tenant, 1 log key, 2 to 7 job, 8 to 10 notes a, 11 to 12 notes b; 13 to 18 another job, then
/// as many notes as make it `size` long. The first checkpoint covers 13.
pub async fn log_of(db: &TestDatabase, size: usize) -> Store {
    let store = empty_log(db).await;
    add_tenant(&store, "acme", "Acme", "user:ops").await.unwrap();
    add_log_key(&store, ORIGIN, secret().public_hex(), "user:ops").await.unwrap();
    write(&store, retried_job("job")).await;
    append(&store, &[notes(stream("a"), 0, 3), notes(stream("b"), 0, 2)]).await.unwrap();
    seal(&store).await;
    store.clock.advance(Duration::from_secs(60));
    write(&store, retried_job("other-job")).await;
    append(&store, &[notes(stream("many"), 0, size - 19)]).await.unwrap();
    seal(&store).await;
    append(&store, &[notes(stream("b"), 2, 2)]).await.unwrap();
    store
}

/// A log with cohorts of three jobs, sealed twice, a minute apart, with one row of three events behind.
///
/// Positions: 0 tenant, 1 log key; 2 to 4 the first three are enqueued (row 192), 5 to 7 leased (256), 8 to 9 two of them
/// succeed (320), 10 to 11 the third fails; 12 to 14 notes a; 15 to 17 the others are enqueued (704), 18 to 20 leased
/// (768); 21 to 22 notes b. The first checkpoint covers 15.
pub async fn log_of_cohorts(db: &TestDatabase) -> Store {
    let store = empty_log(db).await;
    let payload = CanonicalJson::empty_object();
    add_tenant(&store, "acme", "Acme", "user:ops").await.unwrap();
    add_log_key(&store, ORIGIN, secret().public_hex(), "user:ops").await.unwrap();
    let (mut one, mut two) = (Alike::new(0, 3), Alike::new(1, 3));
    write_cohorts(&store, &[&one.enqueue(&payload), &one.lease(0..3), &one.succeed(0..2)]).await;
    write(&store, one.fail(2)).await;
    append(&store, &[notes(stream("a"), 0, 3)]).await.unwrap();
    seal(&store).await;
    store.clock.advance(Duration::from_secs(60));
    write_cohorts(&store, &[&two.enqueue(&payload), &two.lease(0..3)]).await;
    append(&store, &[notes(stream("b"), 0, 2)]).await.unwrap();
    seal(&store).await;
    write_cohorts(&store, &[&two.succeed(0..3)]).await;
    store
}

/// Seal everything.
pub async fn seal(store: &Store) {
    let options = SealOptions { heartbeat: Duration::ZERO, waits: true, ..SealOptions::default() };
    Sealer::new(store.clone(), secret(), KeyState::memory(), options).seal_all().await.unwrap();
}

/// Verify everything.
pub async fn report(store: &Store, options: &VerifyOptions) -> VerifyReport {
    verify(store, options, |_| {}).await.expect("the log can be checked")
}

/// One finding in one line: level, code, where.
pub fn line(finding: &Finding) -> String {
    let mut line = format!("{} {}", finding.level, finding.code);
    if let Some(version) = finding.version {
        let name = NAMES.into_iter().chain(ALIKE).find(|name| named(name) == finding.stream).unwrap_or("?");
        line += &format!(" {name}/{version}");
    }
    if let Some(position) = finding.position {
        line += &format!(" @{position}");
    }
    if let Some(tile) = &finding.tile {
        line += &format!(" {tile}");
    }
    if let Some(checkpoint) = finding.checkpoint {
        line += &format!(" checkpoint {checkpoint}");
    }
    if let Some(column) = finding.column {
        line += &format!(" {column}");
    }
    line
}

fn job(name: &str) -> JobId {
    JobId::from_key(acme(), "NOTE", name)
}

async fn write(store: &Store, records: Vec<EventRecord>) {
    let mut tx = store.begin().await.unwrap();
    write_events(&mut tx.conn(), &records).await.unwrap();
    tx.commit().await.unwrap();
}

/// A job that fails once and then succeeds: six events.
fn retried_job(name: &str) -> Vec<EventRecord> {
    let error = ErrorInfo {
        code: "TIMEOUT".to_owned(),
        message: "nobody answered".to_owned(),
        retryable: true,
        detail: None,
    };
    let policy = RetryPolicy { cap: Duration::ZERO, ..RetryPolicy::default() };
    let mut steps = Steps { job_id: job(name), job: None, records: Vec::new() };
    steps.take(Command::Enqueue(NewJob {
        job_type: "NOTE".to_owned(),
        queue: "default".to_owned(),
        priority: 2,
        max_attempts: 3,
        scheduled_at: None,
        idempotency_key: None,
        payload: CanonicalJson::empty_object(),
    }));
    steps.attempt(1, Outcome::Failed(Failure { error, policy, chance: 0 }));
    steps.attempt(2, Outcome::Succeeded { duration_ms: 5, result: None, emitted: Vec::new() });
    steps.records
}

struct Steps {
    job_id: JobId,
    job: Option<Job>,
    records: Vec<EventRecord>,
}

impl Steps {
    fn take(&mut self, command: Command) {
        let mut stamp = Stamp {
            actor: "system",
            now: NOW,
            causation_id: None,
            correlation_id: None,
            entropy: &mut entropy,
        };
        let step = transition(acme(), self.job_id, self.job.take(), command, &mut stamp).unwrap();
        self.job = Some(step.job);
        self.records.extend(step.records);
    }

    fn attempt(&mut self, attempt: u32, outcome: Outcome) {
        let worker_id = "w1".to_owned();
        self.take(Command::Lease { worker_id: worker_id.clone(), ttl: Duration::from_secs(30) });
        let fence = self.job.as_ref().unwrap().head.version;
        self.take(Command::Settle(Settlement { fence, attempt, worker_id, outcome }));
    }
}
