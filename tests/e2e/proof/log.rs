//! `bpc log`.

use bpc_testkit::process::Signal;
use bpc_testkit::{eventually, on_both_databases};

use crate::harness::{PATIENCE, enqueue, error, text};

use super::common::sealed;

on_both_databases! {
    async fn the_log_is_read_in_sealed_order_and_can_be_narrowed(db) {
        let (bpc, job) = sealed(&db);
        let lines = bpc.run(["log", "--json"]).expect_success().json_lines();
        let positions: Vec<u64> = lines.iter().filter_map(|line| line["position"].as_u64()).collect();
        assert_eq!(positions, (0..5).collect::<Vec<_>>(), "key, tenant, and three events of the job");
        let of_job = bpc.run(["log", "--stream", &job, "--json"]).expect_success().json_lines();
        let types: Vec<String> = of_job.iter().map(|line| text(&line["event"], "event_type")).collect();
        assert_eq!(types, ["ENQUEUED", "LEASED", "SUCCEEDED"]);
        let one = bpc.run(["log", "--from", "1", "--to", "2", "--json"]).expect_success().json_lines();
        assert_eq!(one, lines[1..2]);
        let leased = bpc.run(["log", "--type", "LEASED", "--json"]).expect_success().json_lines();
        assert_eq!((leased.len(), &leased[0]["event"]["stream_id"]), (1, &job.as_str().into()));
        bpc.run(["tenant", "add", "acme"]).expect_success();
        bpc.run(["seal", "--once"]).expect_success();
        let theirs = bpc.run(["log", "--tenant", "acme", "--json"]).expect_success().json_lines();
        assert_eq!(theirs.len(), 1, "{theirs:?}");
        let told = bpc.run(["log"]).expect_success().stdout;
        assert_eq!(told.lines().count(), 6, "{told}");
    }

    async fn what_is_not_sealed_is_not_shown_and_that_is_said(db) {
        let (bpc, _) = sealed(&db);
        enqueue(&bpc, "DRILL_NOOP", "{}", &["--delay", "1h"]);
        let told = bpc.run(["log", "--from", "5"]).expect_success();
        assert_eq!(told.stdout, "");
        assert!(told.stderr.contains("1 events are not sealed yet"), "{}", told.stderr);
        let both = bpc.run(["log", "--follow", "--to", "7", "--json"]).expect_code(2);
        assert_eq!(error(&both).0, "USAGE");
    }

    async fn a_follower_sees_what_is_sealed_later_and_ends_well(db) {
        let (bpc, _) = sealed(&db);
        let mut follower = bpc.spawn(["log", "--follow", "--from", "4", "--json"]);
        let lines = |follower: &bpc_testkit::process::Running| follower.stdout().lines().count();
        eventually(PATIENCE, || std::future::ready(lines(&follower) == 1)).await;
        bpc.run(["enqueue", "DRILL_NOOP", "--count", "2"]).expect_success();
        bpc.run(["seal", "--once"]).expect_success();
        eventually(PATIENCE, || std::future::ready(lines(&follower) == 3)).await;
        follower.signal(Signal::Int);
        let output = follower.wait(PATIENCE).expect_success();
        let positions: Vec<_> = output.json_lines().iter().map(|line| line["position"].as_u64().unwrap()).collect();
        assert_eq!(positions, [4, 5, 6]);
    }
}
