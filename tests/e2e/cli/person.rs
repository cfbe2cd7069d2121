//! What a person decides about a job: cancel, replay, resolve.

use bpc_testkit::on_both_databases;
use bpc_testkit::process::Bpc;

use crate::harness::{assert_sound, enqueue, error, initialised, show, status, text};

on_both_databases! {
    async fn a_waiting_job_is_cancelled_at_once_and_stays_so(db) {
        let bpc = initialised(&db);
        let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        let line = bpc.run(["jobs", "cancel", &job, "--reason", "ordered twice", "--json"]).expect_success().json();
        assert_eq!((&line["status"], &line["job_id"]), (&"CANCELLED".into(), &job.as_str().into()));
        bpc.run(["worker", "--until-idle"]).expect_success();
        assert_eq!(status(&bpc, &job), "CANCELLED");
        assert!(last_event(&bpc, &job).contains("ordered twice"));
        assert_refused(&bpc, &["cancel", &job]);
        assert_sound(&bpc);
    }

    async fn a_failed_job_is_replayed_with_a_reason_that_stays(db) {
        let bpc = initialised(&db);
        let job = failed(&bpc);
        let line = bpc.run(["jobs", "replay", &job, "--reason", "printer is back", "--json"]).expect_success().json();
        assert_eq!((&line["status"], &line["attempts"]), (&"QUEUED".into(), &0.into()));
        assert!(last_event(&bpc, &job).contains("printer is back"));
        assert_refused(&bpc, &["replay", &job, "--reason", "once more"]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        assert_eq!(status(&bpc, &job), "FAILED");
        assert_sound(&bpc);
    }

    async fn a_resolved_job_is_closed_for_good(db) {
        let bpc = initialised(&db);
        let job = failed(&bpc);
        let line = bpc.run(["jobs", "resolve", &job, "--reason", "refunded by hand", "--json"]).expect_success().json();
        assert_eq!((&line["status"], &line["resolved"]), (&"FAILED".into(), &true.into()));
        assert!(last_event(&bpc, &job).contains("refunded by hand"));
        for command in ["resolve", "replay"] {
            let refused = bpc.run(["jobs", command, &job, "--reason", "again", "--json"]).expect_code(1);
            assert_eq!(error(&refused).0, "JOB_RESOLVED", "{command}");
        }
        let why = bpc.run(["jobs", "why", &job, "--json"]).expect_success().json();
        assert_eq!(why["code"], "RESOLVED");
        assert_sound(&bpc);
    }

    async fn a_job_that_succeeded_can_be_neither_cancelled_nor_replayed_nor_resolved(db) {
        let bpc = initialised(&db);
        let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        let before = show(&bpc, &job);
        assert_refused(&bpc, &["cancel", &job]);
        assert_refused(&bpc, &["replay", &job, "--reason", "x"]);
        assert_refused(&bpc, &["resolve", &job, "--reason", "x"]);
        assert_eq!(show(&bpc, &job), before);
    }
}

fn failed(bpc: &Bpc) -> String {
    let job = enqueue(bpc, "DRILL_FAIL", r#"{"code":"PRINTER_ON_FIRE","retryable":false}"#, &[]);
    bpc.run(["worker", "--until-idle"]).expect_success();
    let shown = show(bpc, &job);
    assert_eq!((&shown["status"], &shown["error_code"]), (&"FAILED".into(), &"PRINTER_ON_FIRE".into()));
    job
}

fn last_event(bpc: &Bpc, job: &str) -> String {
    let shown = show(bpc, job);
    let last = shown["events"].as_array().unwrap().last().unwrap().clone();
    assert!(text(&last, "actor").starts_with("user:"), "{last}");
    last["payload"].to_string()
}

#[track_caller]
fn assert_refused(bpc: &Bpc, command: &[&str]) {
    let output = bpc.run([&["jobs", "--json"], command].concat()).expect_code(1);
    assert_eq!(error(&output).0, "INVALID_JOB_STATUS", "{command:?}");
}
