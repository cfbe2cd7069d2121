//! A log that is as it was written has no findings, whatever was going on.

use bpc_core::TenantId;
use bpc_eventstore::verify::{VerifyOptions, event_count_estimate, verify};
use bpc_eventstore::{Store, append_to_streams};
use bpc_testkit::on_both_databases;

use crate::common::{CAUSE, acme, append, empty_log, notes, stream};

use super::log::{SMALL, append_job, report, retried_job, small_log};
use super::tampering::{Value, delete, events_of, lift_guards, set};

/// More than one chunk, with one stream that goes through several of them.
async fn long_log(store: &Store) -> u64 {
    const LONG: u32 = 7000;
    append(store, &[notes(stream("long"), 0, LONG as usize)]).await.unwrap();
    for number in 0..20 {
        append_job(store, retried_job(&number.to_string())).await;
    }
    u64::from(LONG) + 120
}

on_both_databases! {
    async fn a_sound_log_has_no_findings(db) {
        let store = small_log(&db).await;
        let report = report(&store).await;
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert_eq!((report.level, report.events, report.unsealed), ("L0", SMALL, SMALL));
        assert_eq!((report.streams, report.jobs), (4, 1));
        assert!(event_count_estimate(&store).await.unwrap() >= SMALL);
    }

    async fn an_empty_log_is_sound(db) {
        let store = empty_log(&db).await;
        let report = report(&store).await;
        assert_eq!((report.events, report.streams, report.findings_total), (0, 0, 0));
        assert_eq!(event_count_estimate(&store).await.unwrap(), 0);
    }

    async fn a_log_of_many_chunks_is_sound_and_progress_reaches_its_end(db) {
        let store = empty_log(&db).await;
        let events = long_log(&store).await;
        let mut heard = Vec::new();
        let report = verify(&store, &VerifyOptions::default(), |checked| heard.push(checked)).await.unwrap();
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert_eq!((report.events, report.streams, report.jobs), (events, 21, 20));
        assert!(heard.is_sorted() && heard.len() > 2 && heard.last() == Some(&events), "{heard:?}");
    }

    async fn findings_in_many_chunks_are_in_order_and_counted_beyond_those_kept(db) {
        let store = empty_log(&db).await;
        long_log(&store).await;
        lift_guards(&store, &db).await;
        let long = events_of(&store, stream("long")).await;
        for index in [10, 2047, 2048, 4100, 6999] {
            set(&store, long[index].id, "event_type", &Value::Text("FORGED".to_owned())).await;
        }
        delete(&store, &long[5000]).await;
        let all = report(&store).await;
        let versions: Vec<_> = all.findings.iter().filter_map(|finding| finding.version).collect();
        assert_eq!(versions, [11, 2048, 2049, 4101, 5002, 7000]);
        let few = VerifyOptions { findings_max: 2, ..VerifyOptions::default() };
        let few = verify(&store, &few, |_| {}).await.unwrap();
        assert_eq!((few.findings.len(), few.findings_total), (2, 6));
        assert_eq!(few.findings[..], all.findings[..2]);
    }

    async fn transactions_that_were_rolled_back_are_no_finding(db) {
        let store = small_log(&db).await;
        for _ in 0..3 {
            let mut tx = store.begin().await.unwrap();
            append_to_streams(&mut tx.conn(), &[notes(stream("notes"), 3, 5)], CAUSE).await.unwrap();
            drop(tx);
            append(&store, &[notes(stream("notes"), 0, 1)]).await.unwrap_err();
        }
        append(&store, &[notes(stream("notes"), 3, 1)]).await.unwrap();
        let report = report(&store).await;
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert_eq!(report.events, SMALL + 1);
    }

    async fn writers_at_work_are_no_finding(db) {
        let store = small_log(&db).await;
        let writers = (0..3).map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for round in 0..40 {
                    append(&store, &[notes(stream(&writer.to_string()), round * 3, 3)]).await.unwrap();
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        while !writers.iter().all(|writer| writer.is_finished()) {
            let report = report(&store).await;
            assert!(report.is_sound(), "{:#?}", report.findings);
        }
        for writer in writers {
            writer.await.unwrap();
        }
        assert_eq!(report(&store).await.events, SMALL + 360);
    }

    async fn verify_runs_as_a_task_of_its_own(db) {
        let store = small_log(&db).await;
        let task = tokio::spawn(async move { verify(&store, &VerifyOptions::default(), |_| {}).await });
        assert!(task.await.unwrap().unwrap().is_sound());
    }

    async fn one_tenant_is_checked_without_the_others(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[1];
        set(&store, event.id, "event_hash", &Value::Bytes(vec![0; 32])).await;
        let of = async |tenant| {
            let options = VerifyOptions { tenant: Some(tenant), ..VerifyOptions::default() };
            let report = verify(&store, &options, |_| {}).await.unwrap();
            (report.events, report.findings_total)
        };
        assert_eq!(of(acme()).await, (SMALL - 1, 1));
        assert_eq!(of(TenantId::SYSTEM).await, (1, 0));
        assert_eq!(of(TenantId::from_slug("nobody")).await, (0, 0));
    }

    async fn the_report_is_stable_json(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[1];
        set(&store, event.id, "event_type", &Value::Text("FORGED".to_owned())).await;
        let mut json = serde_json::to_value(report(&store).await).unwrap();
        assert!(json.as_object_mut().unwrap().remove("elapsed_ms").unwrap().is_u64());
        let expected = serde_json::json!({
            "level": "L0",
            "held": null,
            "events": SMALL,
            "streams": 4,
            "jobs": 1,
            "origin": "log",
            "sealed": 0,
            "up_to_position": 0,
            "checkpoint_age_ms": null,
            "unsealed": SMALL,
            "unsealed_age_ms": 0,
            "anchor": null,
            "reopened": [],
            "findings_total": 1,
            "findings": [{
                "code": "COLUMN_MISMATCH",
                "level": "L0",
                "stream_type": "Note",
                "stream": stream("notes"),
                "version": 2,
                "column": "event_type",
                "expected": "NOTED",
                "found": "FORGED",
                "message": "column event_type is not what the event says",
            }],
        });
        assert_eq!(json, expected);
    }
}
