//! `bpc bench`: its promised fields, and nobody else's jobs.

use bpc_testkit::on_both_databases;

use crate::harness::{assert_sound, enqueue, initialised, status};
use crate::log::Log;

on_both_databases! {
    async fn a_benchmark_reports_what_it_promises_and_leaves_the_jobs_of_others_alone(db) {
        let bpc = initialised(&db);
        let mine = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        let in_its_queue = enqueue(&bpc, "DRILL_NOOP", "{}", &["--queue", "bench"]);

        let report = bpc.run(["bench", "--jobs", "2000", "--json"]).expect_success().json();
        for field in ["enqueue_per_s", "process_per_s", "verify_events_per_s"] {
            assert!(report[field].as_u64() > Some(0), "{field} in {report}");
        }
        let [p50, p95, p99] = ["p50", "p95", "p99"].map(|name| report["latency_ms"][name].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p95 && p95 <= p99, "{report}");
        assert_eq!((&report["jobs"], &report["verify_findings"]), (&2000.into(), &0.into()), "{report}");

        for job in [mine, in_its_queue] {
            assert_eq!(status(&bpc, &job), "QUEUED");
            assert_eq!(Log::open(&db).await.types(&job).await, ["ENQUEUED"]);
        }
        let listed = bpc.run(["jobs", "list", "--json"]).expect_success().json_lines();
        assert_eq!(listed.len(), 2, "the tenant sees its own jobs only");
        assert_sound(&bpc);
    }
}
