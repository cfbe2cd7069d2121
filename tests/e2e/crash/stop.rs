//! SIGTERM and Ctrl-C.

use std::time::{Duration, Instant};

use bpc_testkit::process::{Bpc, Running, Signal};
use bpc_testkit::{TestDatabase, eventually, on_both_databases};

use crate::harness::{PATIENCE, assert_sound, enqueue, initialised, show, status};
use crate::log::Log;

on_both_databases! {
    async fn a_worker_asked_to_stop_lets_running_jobs_finish_and_leases_no_more(db) {
        let (bpc, log) = prepared(&db).await;
        for signal in [Signal::Term, Signal::Int] {
            let (job, mut worker) = sleeping(&bpc, &log, 3000, "30s").await;
            worker.signal(signal);
            eventually(PATIENCE, || async { worker.stderr().contains("stopping") }).await;
            let later = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
            let report = worker.wait(PATIENCE).expect_success().json();
            assert_eq!(report["succeeded"], 1, "{signal:?}: {report}");
            assert_eq!(status(&bpc, &job), "SUCCEEDED", "{signal:?}");
            assert_eq!(log.types(&later).await, ["ENQUEUED"], "{signal:?}");
            bpc.run(["jobs", "cancel", &later]).expect_success();
        }
        assert_sound(&bpc);
    }

    async fn a_job_that_outlasts_the_grace_period_is_given_back_with_its_attempt(db) {
        let (bpc, log) = prepared(&db).await;
        for signal in [Signal::Term, Signal::Int] {
            let (job, mut worker) = sleeping(&bpc, &log, 600_000, "200ms").await;
            worker.signal(signal);
            let report = worker.wait(PATIENCE).expect_success().json();
            assert_eq!(report["returned"], 1, "{signal:?}: {report}");
            assert_eq!(told(&log, &job).await, ["ENQUEUED", "LEASED", "RELEASED"], "{signal:?}");
            let shown = show(&bpc, &job);
            assert_eq!((shown["status"].as_str(), shown["attempts"].as_u64()), (Some("QUEUED"), Some(0)));
            bpc.run(["jobs", "cancel", &job]).expect_success();
        }
        assert_sound(&bpc);
    }

    async fn a_second_signal_ends_the_worker_at_once_and_the_lease_stays(db) {
        let (bpc, log) = prepared(&db).await;
        for (first, second) in [(Signal::Term, Signal::Term), (Signal::Int, Signal::Term)] {
            let (job, mut worker) = sleeping(&bpc, &log, 600_000, "10m").await;
            worker.signal(first);
            eventually(PATIENCE, || async { worker.stderr().contains("stopping") }).await;
            assert!(worker.try_wait().is_none(), "it waits for its job");
            let asked_at = Instant::now();
            worker.signal(second);
            worker.wait(PATIENCE).expect_code(130);
            assert!(asked_at.elapsed() < Duration::from_secs(5));
            assert_eq!(told(&log, &job).await, ["ENQUEUED", "LEASED"]);
            assert_eq!(status(&bpc, &job), "RUNNING");
        }
        assert_sound(&bpc);
    }

    async fn a_running_job_that_is_cancelled_stops_when_its_handler_looks(db) {
        let (bpc, log) = prepared(&db).await;
        let (job, mut worker) = sleeping(&bpc, &log, 600_000, "10m").await;
        let cancelled = bpc.run(["jobs", "cancel", &job, "--reason", "ordered twice", "--json"]);
        assert_eq!(cancelled.expect_success().json()["cancel_requested"], true);
        eventually(PATIENCE, || async { log.types(&job).await.contains(&"CANCELLED".to_owned()) }).await;
        assert_eq!(status(&bpc, &job), "CANCELLED");
        worker.signal(Signal::Term);
        worker.wait(PATIENCE).expect_success();
        assert_sound(&bpc);
    }

    async fn an_idle_worker_stops_at_once(db) {
        let (bpc, _) = prepared(&db).await;
        let mut worker = bpc.spawn(["worker", "--json"]);
        eventually(PATIENCE, || async { worker.stderr().contains("worker starts") }).await;
        worker.signal(Signal::Term);
        let report = worker.wait(Duration::from_secs(10)).expect_success().json();
        assert_eq!(report["leased"], 0);
    }
}

async fn prepared(db: &TestDatabase) -> (Bpc, Log) {
    (initialised(db), Log::open(db).await)
}

/// A worker in the middle of a job: one that was only leased may be given back instead.
async fn sleeping(bpc: &Bpc, log: &Log, ms: u64, grace: &str) -> (String, Running) {
    let job = enqueue(bpc, "DRILL_SLEEP", &format!(r#"{{"ms":{ms}}}"#), &[]);
    let worker = bpc.spawn(["worker", "--grace", grace, "--json"]);
    eventually(PATIENCE, || async { log.types(&job).await.contains(&"PROGRESSED".to_owned()) }).await;
    (job, worker)
}

/// The events that move the job.
async fn told(log: &Log, job: &str) -> Vec<String> {
    let mut types = log.types(job).await;
    types.retain(|it| it != "PROGRESSED" && it != "RENEWED");
    types
}
