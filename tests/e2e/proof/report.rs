//! `bpc report completeness`.

use bpc_testkit::on_both_databases;

use crate::harness::{enqueue, error, show, text};
use crate::log::Log;

use super::common::sealed;

const ALWAYS: [&str; 4] = ["--from", "2000-01-01T00:00:00Z", "--to", "2999-01-01T00:00:00Z"];

on_both_databases! {
    async fn every_job_of_the_window_is_counted_and_open_ones_are_listed(db) {
        let (bpc, job) = sealed(&db);
        let report = |more: &[&str]| bpc.run([&["report", "completeness", "--json"], more].concat());
        let told = report(&ALWAYS).expect_success().json();
        assert_eq!((&told["jobs"], &told["ended"]["SUCCEEDED"]), (&1.into(), &1.into()), "{told}");
        let waiting = enqueue(&bpc, "DRILL_NOOP", "{}", &["--delay", "1h"]);
        let told = report(&ALWAYS).expect_success().json();
        assert_eq!((&told["jobs"], &told["unsealed"]), (&1.into(), &1.into()), "not sealed, so not spoken of: {told}");
        bpc.run(["seal", "--once"]).expect_success();
        let told = report(&ALWAYS).expect_code(1).json();
        assert_eq!((&told["jobs"], &told["open_total"]), (&2.into(), &1.into()), "{told}");
        assert_eq!((text(&told["open"][0], "job_id"), text(&told["open"][0], "status")), (waiting, "QUEUED".into()));
        // The window is by the time of enqueueing, and its end is not part of it.
        let created = text(&show(&bpc, &job), "created_at");
        let told = report(&["--from", "2000-01-01T00:00:00Z", "--to", &created]).expect_success().json();
        assert_eq!(told["jobs"], 0, "{told}");
        let backwards = report(&["--from", &created, "--to", &created]).expect_code(2);
        assert_eq!(error(&backwards).0, "USAGE");
    }

    async fn a_job_that_was_hidden_spoils_the_report(db) {
        let (bpc, job) = sealed(&db);
        let log = Log::open(&db).await;
        log.lift_guard().await;
        let text = String::from_utf8(log.bytes(&job, 1).await).unwrap();
        let at = text.find("\"occurred_at\":\"2").unwrap() + "\"occurred_at\":\"".len();
        let mut moved = text.clone();
        moved.replace_range(at..at + 4, "1999");
        log.set_bytes(&job, 1, moved.into_bytes()).await;
        let refused = bpc.run([&["report", "completeness", "--json"], &ALWAYS[..]].concat()).expect_code(1);
        assert_eq!(error(&refused).0, "ROOT_MISMATCH");
    }
}
