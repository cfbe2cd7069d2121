//! The database goes away in the middle of work, and comes back.

use std::time::Duration;

use bpc_testkit::postgres::{Cluster, StopMode};
use bpc_testkit::process::{Bpc, Running};
use bpc_testkit::{TestDatabase, eventually};

use crate::harness::{self, PATIENCE, assert_sound, finish, initialised, is_long};
use crate::log::{Log, count};

const JOBS: usize = 600;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_outlive_a_stopped_server_and_finish_every_job_once() {
    let cluster = Cluster::launch();
    let db = TestDatabase::on_cluster(&cluster).await;
    let bpc = loaded(&db);
    let workers = started(&bpc);
    let log = Log::open(&db).await;
    eventually(PATIENCE, || async { log.count("SUCCEEDED").await >= 50 }).await;
    cluster.stop(StopMode::Fast);
    // The outage itself: there is nothing to wait for but its end.
    tokio::time::sleep(Duration::from_secs(if is_long() { 10 } else { 3 })).await;
    cluster.start();
    // A new connection each time, because the old one is gone as well.
    let before = Log::open(&db).await.count("SUCCEEDED").await;
    assert!(before < JOBS as i64, "the outage came in the middle");
    assert_all_done_once(&bpc, &db, workers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_outlive_a_crashed_server_and_finish_every_job_once() {
    let cluster = Cluster::launch();
    let db = TestDatabase::on_cluster(&cluster).await;
    let bpc = loaded(&db);
    let workers = started(&bpc);
    for goal in [50, 200] {
        let log = Log::open(&db).await;
        eventually(PATIENCE, || async { log.count("SUCCEEDED").await >= goal }).await;
        drop(log);
        cluster.restart(StopMode::Immediate);
    }
    assert_all_done_once(&bpc, &db, workers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_outlive_connections_that_are_cut_at_random() {
    let db = TestDatabase::postgres().await;
    let bpc = loaded(&db);
    let mut workers = started(&bpc);
    let log = Log::open(&db).await;
    // A worker that cannot even start says so and ends; one that works goes on.
    eventually(PATIENCE, || async { workers.iter().all(|it| it.stderr().contains("worker starts")) }).await;
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM (
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1) AS one";
    let mut cuts = 0;
    eventually(PATIENCE * 2, || {
        let is_over = workers.iter_mut().all(|worker| worker.try_wait().is_some());
        let log = &log;
        let is_turn = cuts < 60;
        cuts += 1;
        async move {
            if is_turn {
                log.number(cut).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            is_over
        }
    })
    .await;
    assert_all_done_once(&bpc, &db, workers).await;
}

/// A program that keeps the SQLite file to itself for a while delays workers, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_wait_for_an_sqlite_file_that_somebody_else_holds() {
    let db = TestDatabase::sqlite();
    let bpc = loaded(&db);
    let workers = started(&bpc);
    let log = Log::open(&db).await;
    eventually(PATIENCE, || async { log.count("SUCCEEDED").await >= 50 }).await;
    log.execute("BEGIN IMMEDIATE").await;
    let held_at = log.count("SUCCEEDED").await;
    // Longer than one turn of SQLite's own waiting in the long version.
    tokio::time::sleep(Duration::from_secs(if is_long() { 10 } else { 3 })).await;
    assert_eq!(log.count("SUCCEEDED").await, held_at);
    log.execute("COMMIT").await;
    let outputs = assert_all_done_once(&bpc, &db, workers).await;
    harness::assert_never_busy(&outputs);
}

/// Leases are short: what was leased by a commit whose answer was lost waits for their end.
fn loaded(db: &TestDatabase) -> Bpc {
    initialised(db);
    let bpc = harness::impatient(db, 6);
    let count = JOBS.to_string();
    bpc.run(["enqueue", "DRILL_SLEEP", "--payload", r#"{"ms":20}"#, "--count", &count]).expect_success();
    bpc
}

fn started(bpc: &Bpc) -> Vec<Running> {
    let call = ["worker", "--until-idle", "--json", "--concurrency", "3", "--batch", "10"];
    (0..2).map(|_| bpc.spawn(call)).collect()
}

/// The workers end by themselves, and well; no job is lost and none is done twice.
async fn assert_all_done_once(
    bpc: &Bpc,
    db: &TestDatabase,
    workers: Vec<Running>,
) -> Vec<bpc_testkit::process::Output> {
    let outputs = finish(workers, PATIENCE * 2);
    let histories = Log::open(db).await.events("Job").await;
    assert_eq!(histories.len(), JOBS);
    for (job, events) in &histories {
        assert_eq!(count(events, "SUCCEEDED"), 1, "{job}: {events:?}");
        assert_eq!(events.last().unwrap().event_type, "SUCCEEDED", "{job}: {events:?}");
    }
    assert_sound(bpc);
    outputs
}
