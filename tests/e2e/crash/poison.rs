//! Jobs that take down their attempt, or the worker with it.

use bpc_testkit::process::Signal;
use bpc_testkit::{eventually, on_both_databases};

use crate::harness::{PATIENCE, assert_sound, bpc, enqueue, impatient, initialised, is_long, show, status};
use crate::log::{Log, count};

/// As shells report a process ended by SIGABRT.
const ABORTED: i32 = 134;

on_both_databases! {
    async fn a_job_that_panics_ends_as_a_dead_letter_and_its_worker_goes_on(db) {
        let bpc = initialised(&db);
        let attempts = if is_long() { 5 } else { 2 };
        let poison = enqueue(&bpc, "DRILL_PANIC", "{}", &["--max-attempts", &attempts.to_string()]);
        let mut worker = bpc.spawn(["worker", "--json"]);
        let log = Log::open(&db).await;
        eventually(PATIENCE, || async { log.count("DEAD_LETTERED").await == 1 }).await;
        let healthy = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        eventually(PATIENCE, || async { log.types(&healthy).await.len() == 3 }).await;
        worker.signal(Signal::Term);
        let report = worker.wait(PATIENCE).expect_success().json();
        assert_eq!((report["failed"].as_u64(), report["succeeded"].as_u64()), (Some(attempts), Some(1)));

        let shown = show(&bpc, &poison);
        assert_eq!((shown["status"].as_str(), shown["error_code"].as_str()), (Some("DEAD_LETTER"), Some("PANIC")));
        assert_eq!(shown["attempts"].as_u64(), Some(attempts));
        assert_delays(&log, &poison, attempts).await;
        assert_eq!(status(&bpc, &healthy), "SUCCEEDED");
        assert_sound(&bpc);
    }

    /// It is never settled: only that attempts are counted when leased stops it.
    async fn a_job_that_kills_its_worker_five_times_ends_as_a_dead_letter(db) {
        initialised(&db);
        let bpc = impatient(&db, 2);
        let poison = enqueue(&bpc, "DRILL_PANIC", r#"{"abort":true}"#, &[]);
        for _ in 0..5 {
            assert_ne!(status(&bpc, &poison), "DEAD_LETTER");
            bpc.run(["worker", "--until-idle"]).expect_code(ABORTED);
        }
        bpc.run(["worker", "--until-idle"]).expect_success();
        let events = Log::open(&db).await.job(&poison).await;
        assert_eq!((count(&events, "LEASED"), count(&events, "LEASE_EXPIRED")), (5, 5), "{events:?}");
        let shown = show(&bpc, &poison);
        assert_eq!((shown["status"].as_str(), shown["attempts"].as_u64()), (Some("DEAD_LETTER"), Some(5)));
        assert_sound(&bpc);
    }

    async fn a_dead_letter_that_is_replayed_starts_with_new_attempts_and_keeps_its_history(db) {
        let bpc = bpc(&db);
        let job = enqueue(&bpc, "DRILL_PANIC", "{}", &["--max-attempts", "1"]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        assert_eq!(status(&bpc, &job), "DEAD_LETTER");
        bpc.run(["jobs", "replay", &job, "--reason", "the weather is better"]).expect_success();
        let shown = show(&bpc, &job);
        assert_eq!((shown["status"].as_str(), shown["attempts"].as_u64()), (Some("QUEUED"), Some(0)));
        bpc.run(["worker", "--until-idle"]).expect_success();
        let events = Log::open(&db).await.job(&job).await;
        assert_eq!((count(&events, "LEASED"), count(&events, "DEAD_LETTERED")), (2, 2), "{events:?}");
        let replayed = events.iter().find(|event| event.event_type == "REPLAYED").expect("it was replayed");
        assert!(replayed.payload.to_string().contains("the weather is better"), "{replayed:?}");
        assert!(replayed.actor.starts_with("user:"), "{replayed:?}");
        assert_sound(&bpc);
    }
}

/// 2, 4, 8, 16 s, and at most a tenth more.
async fn assert_delays(log: &Log, job: &str, attempts: u64) {
    let events = log.job(job).await;
    let retries = events.iter().filter(|event| event.event_type == "RETRY_SCHEDULED");
    let delays: Vec<u64> = retries.filter_map(|event| event.payload["delay_ms"].as_u64()).collect();
    assert_eq!(delays.len() as u64, attempts - 1, "{events:?}");
    for (delay, exponent) in delays.into_iter().zip(1..) {
        let least = 1000 * 2_u64.pow(exponent);
        assert!((least..=least * 11 / 10).contains(&delay), "{delay} after attempt {exponent}");
    }
}
