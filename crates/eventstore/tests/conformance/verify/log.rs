//! A small log with a bit of everything.

use std::time::Duration;

use bpc_core::job::{Command, ErrorInfo, Failure, NewJob, Outcome, Settlement, Stamp, transition};
use bpc_core::{CanonicalJson, EventRecord, Job, JobId, RetryPolicy};
use bpc_eventstore::verify::{Finding, VerifyOptions, VerifyReport, verify};
use bpc_eventstore::{Store, add_log_key, add_tenant, entropy, write_events};
use bpc_testkit::TestDatabase;

use crate::common::{NOW, acme, append, empty_log, notes, stream};

/// Events in [`small_log`].
pub const SMALL: u64 = 11;

/// A tenant, a key, a job that failed once and then succeeded, and three notes.
pub async fn small_log(db: &TestDatabase) -> Store {
    let store = empty_log(db).await;
    add_tenant(&store, "acme", "Acme", "user:ops").await.unwrap();
    add_log_key(&store, "log", &String::from_iter(['a'; 64]), "user:ops").await.unwrap();
    append_job(&store, retried_job("small")).await;
    append(&store, &[notes(stream("notes"), 0, 3)]).await.unwrap();
    store
}

/// The events of a job that fails once and then succeeds: six of them.
pub fn retried_job(name: &str) -> Vec<EventRecord> {
    let job_id = job(name);
    let mut steps = Steps { job_id, job: None, records: Vec::new() };
    steps.take(Command::Enqueue(NewJob {
        job_type: "NOTE".to_owned(),
        queue: "default".to_owned(),
        priority: 2,
        max_attempts: 3,
        scheduled_at: None,
        idempotency_key: None,
        payload: CanonicalJson::empty_object(),
    }));
    let error = ErrorInfo {
        code: "TIMEOUT".to_owned(),
        message: "nobody answered".to_owned(),
        retryable: true,
        detail: None,
    };
    let policy = RetryPolicy { cap: Duration::ZERO, ..RetryPolicy::default() };
    steps.attempt(1, Outcome::Failed(Failure { error, policy, chance: 0 }));
    steps.attempt(2, Outcome::Succeeded { duration_ms: 5, result: None, emitted: Vec::new() });
    steps.records
}

/// A job named by its purpose.
pub fn job(name: &str) -> JobId {
    JobId::from_key(acme(), "NOTE", name)
}

/// Write records that are chained already.
pub async fn append_job(store: &Store, records: Vec<EventRecord>) {
    let mut tx = store.begin().await.unwrap();
    write_events(&mut tx.conn(), &records).await.unwrap();
    tx.commit().await.unwrap();
}

/// Verify everything.
pub async fn report(store: &Store) -> VerifyReport {
    verify(store, &VerifyOptions::default(), |_| {}).await.expect("the log can be checked")
}

/// The one finding there must be with that code.
#[track_caller]
pub fn only<'a>(report: &'a VerifyReport, code: &str) -> &'a Finding {
    let with_code: Vec<_> = report.findings.iter().filter(|finding| finding.code == code).collect();
    match with_code[..] {
        [finding] => finding,
        _ => panic!("expected one {code}, found {:#?}", report.findings),
    }
}

/// The codes of all findings, in order.
pub fn codes(report: &VerifyReport) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.code).collect()
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
