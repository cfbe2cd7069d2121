//! A worker that freezes, loses its job to another, and comes back.

use bpc_testkit::process::{Running, Signal};
use bpc_testkit::{TestDatabase, eventually, on_both_databases};

use crate::harness::{PATIENCE, assert_sound, enqueue, impatient, initialised, show};
use crate::log::{Event, Log};

on_both_databases! {
    async fn a_frozen_worker_that_comes_back_cannot_change_what_its_successor_did(db) {
        initialised(&db);
        let (log, job, mut zombie) = frozen(&db, r#"{"ms":1500}"#).await;
        let mut successor = impatient(&db, 3).env("BPC_WORKER_ID", "successor").spawn(["worker"]);
        eventually(PATIENCE, || async { has(&log.job(&job).await, "SUCCEEDED", "successor") }).await;
        let bpc = impatient(&db, 3);
        let before = show(&bpc, &job);

        zombie.signal(Signal::Cont);
        eventually(PATIENCE, || async { has(&log.job(&job).await, "STALE_COMPLETION_REFUSED", "zombie") }).await;
        let after = show(&bpc, &job);
        for field in ["status", "attempts", "finished_at", "error_code"] {
            assert_eq!(before[field], after[field], "{field}");
        }
        let expected =
            ["ENQUEUED", "LEASED", "LEASE_EXPIRED", "LEASED", "SUCCEEDED", "STALE_COMPLETION_REFUSED"];
        let mut types = log.types(&job).await;
        types.retain(|it| it != "PROGRESSED" && it != "RENEWED");
        assert_eq!(types, expected);
        for worker in [&mut zombie, &mut successor] {
            worker.signal(Signal::Term);
            worker.wait(PATIENCE).expect_success();
        }
        assert_sound(&bpc);
    }

    async fn a_frozen_worker_that_comes_back_too_soon_does_not_disturb_its_successor(db) {
        initialised(&db);
        let (log, job, mut zombie) = frozen(&db, r#"{"ms":4000}"#).await;
        let mut successor = impatient(&db, 3).env("BPC_WORKER_ID", "successor").spawn(["worker"]);
        eventually(PATIENCE, || async { has(&log.job(&job).await, "LEASED", "successor") }).await;
        zombie.signal(Signal::Cont);
        eventually(PATIENCE, || async { has(&log.job(&job).await, "STALE_COMPLETION_REFUSED", "zombie") }).await;
        zombie.signal(Signal::Term);
        zombie.wait(PATIENCE).expect_success();

        eventually(PATIENCE, || async { has(&log.job(&job).await, "SUCCEEDED", "successor") }).await;
        let events = log.job(&job).await;
        assert!(!has(&events, "SUCCEEDED", "zombie"), "{events:?}");
        assert_eq!(events.iter().filter(|event| event.event_type == "LEASED").count(), 2, "{events:?}");
        successor.signal(Signal::Term);
        successor.wait(PATIENCE).expect_success();
        assert_sound(&impatient(&db, 3));
    }
}

/// A sleeping job, and the worker that froze just after leasing it.
async fn frozen(db: &TestDatabase, payload: &str) -> (Log, String, Running) {
    let bpc = impatient(db, 3).env("BPC_WORKER_ID", "zombie");
    let job = enqueue(&bpc, "DRILL_SLEEP", payload, &[]);
    let log = Log::open(db).await;
    let mut zombie = bpc.spawn(["worker"]);
    eventually(PATIENCE, || async { has(&log.job(&job).await, "LEASED", "zombie") }).await;
    zombie.signal(Signal::Stop);
    // One that froze with the file or a row locked would keep everybody waiting. That is another story.
    while !is_unlocked(db, &log).await {
        zombie.signal(Signal::Cont);
        tokio::task::yield_now().await;
        zombie.signal(Signal::Stop);
    }
    assert!(!has(&log.job(&job).await, "SUCCEEDED", "zombie"), "it froze in time");
    (log, job, zombie)
}

/// Is nobody in the middle of a transaction that writes?
async fn is_unlocked(db: &TestDatabase, log: &Log) -> bool {
    match log {
        Log::Postgres(_) => {
            let idle = "SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
            log.number(idle).await == 0
        }
        Log::Sqlite(_) => {
            let other = Log::impatient(db).await;
            let is_free = other.try_execute("BEGIN IMMEDIATE").await.is_ok();
            is_free && other.try_execute("ROLLBACK").await.is_ok()
        }
    }
}

fn has(events: &[Event], event_type: &str, worker: &str) -> bool {
    let actor = format!("worker:{worker}");
    events.iter().any(|event| event.event_type == event_type && event.actor == actor)
}
