//! `bpc enqueue`.

use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

use bpc_testkit::on_both_databases;
use bpc_testkit::process::Bpc;
use serde_json::{Value, json};

use crate::harness::{BINARY, assert_sound, bpc, enqueue, error, initialised, show, status, text};

on_both_databases! {
    async fn a_receipt_has_the_job_its_first_hash_and_whether_it_is_new(db) {
        let bpc = bpc(&db);
        let output = bpc.run(["enqueue", "DRILL_NOOP", "--json"]).expect_success();
        let receipt = output.json();
        let fields: HashSet<&str> = receipt.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, HashSet::from(["job_id", "event_hash", "created"]));
        assert_eq!(receipt["created"], true);
        assert!(output.stderr.is_empty(), "{}", output.stderr);
        let shown = show(&bpc, &text(&receipt, "job_id"));
        assert_eq!(shown["events"][0]["event_hash"], receipt["event_hash"]);
        assert_eq!(text(&receipt, "event_hash").len(), 64);
    }

    async fn the_same_key_is_the_same_job_and_other_content_a_conflict(db) {
        let bpc = initialised(&db);
        let call = ["enqueue", "DRILL_NOOP", "--payload", r#"{"a":1,"b":2}"#, "--key", "order-1", "--json"];
        let first = bpc.run(call).expect_success().json();
        // The order of the fields and blanks do not matter, nor when it is due.
        let mut again = call;
        again[3] = r#"{ "b": 2, "a": 1 }"#;
        let second = bpc.run(again.into_iter().chain(["--delay", "1h"])).expect_success().json();
        assert_eq!((&first["created"], &second["created"]), (&true.into(), &false.into()));
        assert_eq!((&first["job_id"], &first["event_hash"]), (&second["job_id"], &second["event_hash"]));

        let other = ["enqueue", "DRILL_NOOP", "--payload", r#"{"a":2}"#, "--key", "order-1", "--json"];
        let refused = bpc.run(other).expect_code(1);
        assert_eq!(error(&refused).0, "IDEMPOTENCY_CONFLICT");
        assert!(refused.stdout.is_empty());
        // Remembered for the life of the log, and by type.
        bpc.run(["worker", "--until-idle"]).expect_success();
        assert_eq!(bpc.run(call).expect_success().json()["created"], false);
        let of_other_type = ["enqueue", "DRILL_FAIL", "--key", "order-1", "--json"];
        assert_eq!(bpc.run(of_other_type).expect_success().json()["created"], true);
        assert_sound(&bpc);
    }

    async fn payloads_come_from_text_a_file_or_stdin(db) {
        let bpc = initialised(&db);
        std::fs::write(bpc.directory().join("order.json"), "{\"from\": \"file\"}\n").unwrap();
        let from_text = enqueue(&bpc, "DRILL_NOOP", r#"{"from":"text"}"#, &[]);
        let from_file = enqueue(&bpc, "DRILL_NOOP", "@order.json", &[]);
        let from_stdin = enqueue_from_stdin(&bpc, db.url(), r#"{"from":"stdin"}"#);
        for (job, source) in [(from_text, "text"), (from_file, "file"), (from_stdin, "stdin")] {
            assert_eq!(show(&bpc, &job)["events"][0]["payload"]["payload"], json!({"from": source}));
        }
        let default = text(&bpc.run(["enqueue", "DRILL_NOOP", "--json"]).expect_success().json(), "job_id");
        assert_eq!(show(&bpc, &default)["events"][0]["payload"]["payload"], json!({}));
    }

    async fn bad_requests_are_named_and_nothing_is_written(db) {
        let bpc = initialised(&db);
        for (arguments, exit, code) in [
            (&["NO_SUCH_TYPE"][..], 1, "UNSUPPORTED_JOB_TYPE"),
            (&["DRILL_NOOP", "--payload", "{not json"], 1, "JSON_SYNTAX"),
            (&["DRILL_NOOP", "--payload", r#"{"a":1,"a":2}"#], 1, "JSON_DUPLICATE_KEY"),
            // Nothing comes from this stdin.
            (&["DRILL_NOOP", "--payload", "-"], 1, "JSON_SYNTAX"),
            (&["DRILL_NOOP", "--payload", "@missing.json"], 2, "INPUT_UNREADABLE"),
            (&["DRILL_NOOP", "--priority", "4"], 1, "VALIDATION_ERROR"),
            (&["DRILL_NOOP", "--max-attempts", "0"], 1, "VALIDATION_ERROR"),
            (&["DRILL_NOOP", "--queue", ""], 1, "VALIDATION_ERROR"),
            (&["DRILL_NOOP", "--key", ""], 1, "VALIDATION_ERROR"),
            (&["DRILL_NOOP", "--count", "0"], 2, "USAGE"),
            (&["DRILL_NOOP", "--count", "2", "--key", "one"], 2, "USAGE"),
            (&["DRILL_NOOP", "--delay", "soon"], 2, "USAGE"),
            (&["DRILL_NOOP", "--at", "tomorrow"], 2, "USAGE"),
            (&["DRILL_NOOP", "--at", "2030-01-01T00:00:00Z", "--delay", "1s"], 2, "USAGE"),
        ] {
            let output = bpc.run([&["enqueue", "--json"], arguments].concat()).expect_code(exit);
            let (found, message) = error(&output);
            assert_eq!(found, code, "{arguments:?}: {message}");
            assert!(output.stdout.is_empty(), "{arguments:?}");
        }
        let listed = bpc.run(["jobs", "list", "--json"]).expect_success();
        assert_eq!(listed.stdout, "");
    }

    async fn a_payload_beyond_the_limit_is_refused(db) {
        let bpc = initialised(&db);
        for (bytes, exit) in [(200_000, 0), (300_000, 1)] {
            let payload = format!(r#"{{"x":"{}"}}"#, "x".repeat(bytes));
            std::fs::write(bpc.directory().join("large.json"), payload).unwrap();
            let output = bpc.run(["enqueue", "DRILL_NOOP", "--payload", "@large.json", "--json"]);
            let output = output.expect_code(exit);
            if exit == 1 {
                assert_eq!(error(&output).0, "PAYLOAD_TOO_LARGE");
            }
        }
    }

    async fn jobs_wait_until_they_are_due(db) {
        let bpc = initialised(&db);
        let delayed = enqueue(&bpc, "DRILL_NOOP", "{}", &["--delay", "1h"]);
        let at = enqueue(&bpc, "DRILL_NOOP", "{}", &["--at", "2099-12-31T23:59:59Z"]);
        let past = enqueue(&bpc, "DRILL_NOOP", "{}", &["--at", "2020-01-01T00:00:00Z"]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        assert_eq!([&delayed, &at, &past].map(|job| status(&bpc, job)), ["QUEUED", "QUEUED", "SUCCEEDED"]);
        assert_eq!(show(&bpc, &at)["scheduled_at"], "2099-12-31T23:59:59.000000Z");
        let shown = show(&bpc, &delayed);
        assert!(text(&shown, "scheduled_at") > text(&shown, "created_at"));
    }

    async fn many_jobs_have_a_receipt_each(db) {
        let bpc = initialised(&db);
        let call = ["enqueue", "DRILL_NOOP", "--count", "2500", "--queue", "mail", "--priority", "3"];
        let receipts = bpc.run(call.into_iter().chain(["--json"])).expect_success().json_lines();
        let ids: HashSet<String> = receipts.iter().map(|receipt| text(receipt, "job_id")).collect();
        assert_eq!(ids.len(), 2500);
        assert_eq!(bpc.run(call).expect_success().stdout, "enqueued 2,500 jobs\n");
        let counts: Vec<Value> = bpc.run(["jobs", "stats", "--json"]).expect_success().json_lines();
        assert_eq!(counts, [json!({"status": "QUEUED", "type": "DRILL_NOOP", "queue": "mail", "jobs": 5000})]);
    }
}

fn enqueue_from_stdin(bpc: &Bpc, url: &str, payload: &str) -> String {
    let mut child = Command::new(BINARY)
        .args(["enqueue", "DRILL_NOOP", "--payload", "-", "--json", "--database", url])
        .current_dir(bpc.directory())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    text(&serde_json::from_slice(&output.stdout).unwrap(), "job_id")
}
