//! The client through its protocol, as bench/compare drives it, on both databases.

mod driven;

use bpc_eventstore::verify::{VerifyOptions, verify};
use bpc_testkit::TestDatabase;
use bpc_testkit::process::Bpc;
use bpc_worker::{Store, StoreOptions};
use serde_json::Value;

use driven::{Client, PROGRAM};

bpc_testkit::on_both_databases! {
    async fn jobs_of_every_kind_of_enqueue_are_run_once_and_sealed(db) {
        let client = Client::on(&db);
        client.run(["setup"]);
        for (arguments, jobs) in [(["enqueue-single", "3", "60", ""], 3), (["enqueue-bulk", "250", "100", "60"], 250)] {
            let told = client.run(arguments.into_iter().filter(|it| !it.is_empty()));
            assert_eq!(told["n"], jobs);
            assert!(told["secs"].as_f64().unwrap() > 0.0);
        }
        let mut worker = client.worker("{}");
        assert_eq!(worker.next()["ready"], true);
        worker.send("go");
        worker.until_count(253);
        client.run(["enqueue-latency", "3", "1"]);
        worker.until_count(256);
        let last = worker.stop();
        assert_eq!(last["count"], 256);
        let latencies: Vec<f64> = last["lat"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        assert!(latencies.len() == 3 && latencies.iter().all(|it| (0.0..60_000.0).contains(it)), "{latencies:?}");
        assert_sealed(&db, 256).await;
    }

    async fn several_workers_of_one_process_share_the_jobs(db) {
        let client = Client::on(&db);
        client.run(["setup"]);
        client.run(["enqueue-bulk", "40", "10", "60"]);
        let mut worker = client.worker(r#"{"workers": 3, "concurrency": 2, "pool": 2}"#);
        worker.next();
        worker.send("go");
        worker.until_count(40);
        assert_eq!(worker.stop()["count"], 40);
        assert_sealed(&db, 40).await;
    }

    async fn setup_begins_anew_on_a_database_that_was_emptied(db) {
        let client = Client::on(&db);
        client.run(["setup"]);
        // The key of a log that is gone does not stay in the way of the next one.
        let other = match db.path() {
            Some(_) => TestDatabase::sqlite(),
            None => TestDatabase::postgres().await,
        };
        client.and_then_on(&other).run(["setup"]);
        assert_eq!(client.and_then_on(&other).run(["enqueue-single", "1", "60"])["n"], 1);
    }
}

#[test]
fn what_it_cannot_do_is_refused_with_a_code() {
    let client = Bpc::without_database(PROGRAM).env("BENCH_PG", "").env("BENCH_SQLITE", "");
    assert!(client.run(["worker", "now"]).expect_code(2).stderr.contains("usage:"));
    assert!(client.run(["setup"]).expect_code(1).stderr.contains("(NO_DATABASE)"));
    let client = client.env("BENCH_SQLITE", "queue.db").env("BENCH_OPTS", r#"{"workerz": 2}"#);
    assert!(client.run(["worker"]).expect_code(1).stderr.contains("(OPTIONS_INVALID)"));
}

/// The log is sound, sealed to its last event, and all jobs have ended.
async fn assert_sealed(db: &TestDatabase, jobs: u64) {
    let store = Store::connect(db.url(), StoreOptions::default()).await.unwrap();
    let report = verify(&store, &VerifyOptions::default(), |_| {}).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!((report.held, report.jobs, report.unsealed), (Some("L1"), jobs, 0));
    // The tenant, the key, and three events a job.
    assert_eq!(report.events, 2 + 3 * jobs);
    store.close().await;
}
