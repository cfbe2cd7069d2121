//! Changes made behind the engine's back are found, and the place is named.

use bpc_testkit::process::Bpc;
use bpc_testkit::{TestDatabase, on_both_databases};
use serde_json::Value;

use crate::harness::{assert_sound, enqueue, initialised};
use crate::log::Log;

on_both_databases! {
    async fn careless_changes_of_events_are_refused(db) {
        let (bpc, log, job) = worked(&db).await;
        for statement in ["UPDATE events SET version = 9 WHERE version = 1", "DELETE FROM events"] {
            let refused = log.try_execute(statement).await.unwrap_err().to_string();
            assert!(refused.contains("append only"), "{statement}: {refused}");
        }
        assert_eq!(log.types(&job).await, ["ENQUEUED", "LEASED", "SUCCEEDED"]);
        assert_sound(&bpc);
    }

    async fn an_edited_column_is_located(db) {
        let (bpc, log, job) = worked(&db).await;
        log.lift_guard().await;
        let id = log.id(&job);
        let edit = format!("UPDATE events SET event_type = 'CANCELLED' WHERE stream_id = {id} AND version = 3");
        assert_eq!(log.execute(&edit).await, 1);
        let finding = only_finding(&bpc);
        assert_place(&finding, "COLUMN_MISMATCH", &job, 3);
        assert_eq!(finding["column"], "event_type");
        assert_eq!((&finding["expected"], &finding["found"]), (&"SUCCEEDED".into(), &"CANCELLED".into()));
    }

    async fn edited_bytes_are_located(db) {
        let (bpc, log, job) = worked(&db).await;
        log.lift_guard().await;
        let text = String::from_utf8(log.bytes(&job, 1).await).unwrap();
        let edited = text.replace(r#""priority":2"#, r#""priority":1"#);
        assert_ne!(text, edited);
        log.set_bytes(&job, 1, edited.into_bytes()).await;
        let finding = only_finding(&bpc);
        assert_place(&finding, "HASH_MISMATCH", &job, 1);
        assert_eq!(finding["column"], "event_hash");
    }

    async fn a_removed_event_is_located(db) {
        let (bpc, log, job) = worked(&db).await;
        log.lift_guard().await;
        let id = log.id(&job);
        log.execute(&format!("DELETE FROM events WHERE stream_id = {id} AND version = 2")).await;
        let report = bpc.run(["verify", "--json"]).expect_code(1).json();
        let finding = &report["findings"][0];
        assert_place(finding, "VERSION_GAP", &job, 3);
        assert!(finding["message"].as_str().unwrap().contains("version 2 is missing"), "{finding}");
        // The worker has sealed it: its place is empty now.
        assert_eq!((&report["findings"][1]["code"], &report["findings_total"]), (&"EVENT_MISSING".into(), &2.into()));
    }

    /// The chain alone cannot know where a stream ended; the seal does, and so do the views.
    async fn the_removed_end_of_a_stream_is_seen_by_the_seal_and_by_replay(db) {
        let (bpc, log, job) = worked(&db).await;
        log.lift_guard().await;
        let id = log.id(&job);
        log.execute(&format!("DELETE FROM events WHERE stream_id = {id} AND version = 3")).await;
        let report = bpc.run(["verify", "--json"]).expect_code(1).json();
        assert_eq!((&report["held"], &report["findings"][0]["code"]), (&"L0".into(), &"EVENT_MISSING".into()));
        let drift = drift(&bpc);
        assert!(drift.iter().any(|it| it["view"] == "finished_jobs"), "{drift:?}");
        assert!(drift.iter().all(|it| it["key"].as_str().unwrap().contains(&job)), "{drift:?}");
    }

    async fn an_edited_view_row_is_found_by_replay_and_is_no_matter_of_the_log(db) {
        let (bpc, log, job) = worked(&db).await;
        let id = log.id(&job);
        log.execute(&format!("UPDATE finished_jobs SET attempts = 7 WHERE job_id = {id}")).await;
        bpc.run(["verify"]).expect_success();
        // Twice: looking changes nothing.
        for _ in 0..2 {
            let drift = drift(&bpc);
            assert_eq!(drift.len(), 1, "{drift:?}");
            assert_eq!((&drift[0]["code"], &drift[0]["view"]), (&"VIEW_ROW_DIFFERS".into(), &"finished_jobs".into()));
            assert!(drift[0]["key"].as_str().unwrap().contains(&job), "{drift:?}");
            let values = [&drift[0]["column"], &drift[0]["expected"], &drift[0]["found"]];
            assert_eq!(values, ["attempts", "1", "7"]);
        }
        log.execute(&format!("UPDATE finished_jobs SET attempts = 1 WHERE job_id = {id}")).await;
        assert_sound(&bpc);
    }

    async fn missing_and_invented_view_rows_are_found_by_replay(db) {
        let (bpc, log, job) = worked(&db).await;
        let waiting = enqueue(&bpc, "DRILL_NOOP", "{}", &["--delay", "1h"]);
        log.execute(&format!("DELETE FROM finished_jobs WHERE job_id = {}", log.id(&job))).await;
        log.execute(&format!("UPDATE job_queue SET priority = 0 WHERE job_id = {}", log.id(&waiting))).await;
        log.execute("UPDATE drill_streams SET events = events + 1").await;
        let drift = drift(&bpc);
        let mut found: Vec<_> =
            drift.iter().map(|it| (it["view"].as_str().unwrap(), it["code"].as_str().unwrap())).collect();
        found.sort_unstable();
        let expected = [
            ("drill_streams", "VIEW_ROW_DIFFERS"),
            ("finished_jobs", "VIEW_ROW_MISSING"),
            ("job_queue", "VIEW_ROW_DIFFERS"),
        ];
        assert_eq!(found, expected, "{drift:?}");
    }

    async fn findings_for_people_name_the_place(db) {
        let (bpc, log, job) = worked(&db).await;
        log.lift_guard().await;
        let id = log.id(&job);
        let edit = format!("UPDATE events SET event_type = 'CANCELLED' WHERE stream_id = {id} AND version = 3");
        log.execute(&edit).await;
        let told = bpc.run(["verify"]).expect_code(1).stdout;
        for part in ["COLUMN_MISMATCH", &format!("{job} version 3"), "SUCCEEDED", "CANCELLED", "L0 did not hold"] {
            assert!(told.contains(part), "{part} in:\n{told}");
        }
    }
}

/// A log in which one job has succeeded, and another has emitted.
async fn worked(db: &TestDatabase) -> (Bpc, Log, String) {
    let bpc = initialised(db);
    let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
    let emit = r#"{"events":3,"stream_id":"00000000-0000-8000-8000-000000000001"}"#;
    enqueue(&bpc, "DRILL_EMIT", emit, &[]);
    bpc.run(["worker", "--until-idle"]).expect_success();
    assert_sound(&bpc);
    (bpc, Log::open(db).await, job)
}

/// One edit is one finding, and it is the exit code 1.
#[track_caller]
fn only_finding(bpc: &Bpc) -> Value {
    let report = bpc.run(["verify", "--json"]).expect_code(1).json();
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!((findings.len(), report["findings_total"].as_u64()), (1, Some(1)), "{report}");
    findings[0].clone()
}

#[track_caller]
fn assert_place(finding: &Value, code: &str, stream: &str, version: u64) {
    assert_eq!(finding["code"], code, "{finding}");
    assert_eq!(finding["stream"], stream, "{finding}");
    assert_eq!(finding["version"], version, "{finding}");
    assert_eq!(finding["stream_type"], "Job", "{finding}");
}

#[track_caller]
fn drift(bpc: &Bpc) -> Vec<Value> {
    let report = bpc.run(["replay", "--check", "--json"]).expect_code(1).json();
    let drift = report["drift"].as_array().expect("drift").clone();
    assert_eq!(report["drift_total"].as_u64(), Some(drift.len() as u64));
    drift
}
