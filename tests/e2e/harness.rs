//! What every test needs: the program on a database, jobs to run, and the two checks of the log.

use std::time::Duration;

use bpc_testkit::TestDatabase;
use bpc_testkit::process::{Bpc, Output, Running};
use serde_json::Value;

/// Longer than anything takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_bpc");

/// The program on a database that nobody has touched.
pub fn bpc(db: &TestDatabase) -> Bpc {
    Bpc::new(BINARY, db)
}

/// The program on a database with schema, tenant and key.
pub fn initialised(db: &TestDatabase) -> Bpc {
    let bpc = bpc(db);
    bpc.run(["init"]).expect_success();
    bpc
}

/// The same database with workers that look often and whose leases end soon.
pub fn impatient(db: &TestDatabase, lease_seconds: u32) -> Bpc {
    bpc(db)
        .env("BPC_JOBS_LEASE_SECONDS", lease_seconds.to_string())
        .env("BPC_JOBS_LEASE_RENEW_SECONDS", lease_seconds.div_ceil(2).max(1).to_string())
        .env("BPC_JOBS_POLL_INTERVAL_MS", "200")
}

/// Is there time for the long version?
pub fn is_long() -> bool {
    std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1")
}

/// Enqueue one job and return its id.
#[track_caller]
pub fn enqueue(bpc: &Bpc, job_type: &str, payload: &str, more: &[&str]) -> String {
    let arguments = [&["enqueue", job_type, "--payload", payload, "--json"], more].concat();
    text(&bpc.run(arguments).expect_success().json(), "job_id")
}

/// One job as `bpc jobs show` tells it.
#[track_caller]
pub fn show(bpc: &Bpc, job: &str) -> Value {
    bpc.run(["jobs", "show", job, "--json"]).expect_success().json()
}

/// Its status.
#[track_caller]
pub fn status(bpc: &Bpc, job: &str) -> String {
    text(&show(bpc, job), "status")
}

/// A field that must be text.
#[track_caller]
pub fn text(value: &Value, field: &str) -> String {
    match value[field].as_str() {
        Some(text) => text.to_owned(),
        None => panic!("no text in field {field} of {value}"),
    }
}

/// Code and message of a failure told in JSON, which is the last thing on stderr.
#[track_caller]
pub fn error(output: &Output) -> (String, String) {
    let line = output.stderr.lines().last().unwrap_or_default();
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        panic!("no JSON error on stderr:\n{}", output.stderr)
    };
    (text(&value["error"], "code"), text(&value["error"], "message"))
}

/// Workers that end when nothing is left.
pub fn workers(bpc: &Bpc, number: usize) -> Vec<Running> {
    (0..number).map(|_| bpc.spawn(["worker", "--until-idle", "--json"])).collect()
}

/// Wait for processes to end well.
#[track_caller]
pub fn finish(workers: Vec<Running>, timeout: Duration) -> Vec<Output> {
    workers.into_iter().map(|mut worker| worker.wait(timeout).expect_success()).collect()
}

/// A number of the workers' reports, added up.
pub fn total(outputs: &[Output], field: &str) -> u64 {
    outputs.iter().map(|output| output.json()[field].as_u64().unwrap_or_default()).sum()
}

/// `SQLITE_BUSY` never reaches a caller, under none of its names.
#[track_caller]
pub fn assert_never_busy(outputs: &[Output]) {
    for output in outputs {
        for word in ["SQLITE_BUSY", "DATABASE_BUSY", "database is locked"] {
            assert!(!output.stderr.contains(word), "{}", output.stderr);
        }
    }
}

/// The log is what was written, and the views are what follows from it.
#[track_caller]
pub fn assert_sound(bpc: &Bpc) {
    let verified = bpc.run(["verify", "--json"]).expect_success().json();
    assert_eq!(verified["findings"], serde_json::json!([]), "{verified}");
    let replayed = bpc.run(["replay", "--check", "--json"]).expect_success().json();
    assert_eq!(replayed["drift"], serde_json::json!([]), "{replayed}");
}
