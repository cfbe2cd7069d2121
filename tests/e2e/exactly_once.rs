//! Many processes at once, and every job once.

use std::collections::HashSet;

use bpc_testkit::on_both_databases;

use crate::harness::{self, PATIENCE, assert_never_busy, assert_sound, finish, initialised, text, total};
use crate::log::Log;

on_both_databases! {
    async fn ten_workers_run_a_thousand_jobs_once_each(db) {
        let bpc = initialised(&db);
        let receipts = bpc.run(["enqueue", "DRILL_NOOP", "--count", "1000", "--json"]).expect_success();
        let jobs: HashSet<String> = receipts.json_lines().iter().map(|line| text(line, "job_id")).collect();
        assert_eq!(jobs.len(), 1000);

        let outputs = finish(harness::workers(&bpc, 10), PATIENCE);
        assert_never_busy(&outputs);
        let counted = ["leased", "succeeded", "failed", "returned", "refused"];
        assert_eq!(counted.map(|field| total(&outputs, field)), [1000, 1000, 0, 0, 0]);

        let histories = Log::open(&db).await.events("Job").await;
        assert_eq!(histories.len(), 1000);
        for (job, events) in &histories {
            let types: Vec<&str> = events.iter().map(|event| event.event_type.as_str()).collect();
            assert_eq!(types, ["ENQUEUED", "LEASED", "SUCCEEDED"], "{job}");
            assert!(jobs.contains(job), "{job} has no receipt");
        }
        assert_sound(&bpc);
    }

    async fn processes_that_start_together_on_nothing_make_one_log_and_one_job(db) {
        let bpc = harness::bpc(&db);
        let call = ["enqueue", "DRILL_NOOP", "--key", "order-4711", "--json"];
        let racers: Vec<_> = (0..8).map(|_| bpc.spawn(call)).collect();
        let outputs = finish(racers, PATIENCE);
        assert_never_busy(&outputs);
        let receipts: Vec<_> = outputs.iter().map(|output| output.json()).collect();
        let ids: HashSet<String> = receipts.iter().map(|receipt| text(receipt, "job_id")).collect();
        let hashes: HashSet<String> = receipts.iter().map(|receipt| text(receipt, "event_hash")).collect();
        assert_eq!((ids.len(), hashes.len()), (1, 1), "{receipts:?}");
        assert_eq!(receipts.iter().filter(|receipt| receipt["created"] == true).count(), 1, "{receipts:?}");
        assert_sound(&bpc);
    }

    async fn jobs_that_arrive_while_workers_run_are_run_once_each(db) {
        let bpc = initialised(&db);
        let mut workers: Vec<_> = (0..2).map(|_| bpc.spawn(["worker", "--json"])).collect();
        let call = ["enqueue", "DRILL_NOOP", "--count", "50", "--json"];
        let senders: Vec<_> = (0..6).map(|_| bpc.spawn(call)).collect();
        assert_never_busy(&finish(senders, PATIENCE));
        let log = Log::open(&db).await;
        bpc_testkit::eventually(PATIENCE, || async { log.count("SUCCEEDED").await == 300 }).await;
        workers.iter_mut().for_each(|worker| worker.signal(bpc_testkit::process::Signal::Term));
        let outputs = finish(workers, PATIENCE);
        assert_never_busy(&outputs);
        assert_eq!((total(&outputs, "leased"), total(&outputs, "succeeded")), (300, 300));
        assert_eq!((log.count("LEASED").await, log.count("SUCCEEDED").await), (300, 300));
        assert_sound(&bpc);
    }
}
