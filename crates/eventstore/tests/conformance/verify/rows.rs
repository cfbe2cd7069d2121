//! Rows deleted, doubled, swapped and rewritten.

use bpc_core::{Envelope, Hash, chain_hash};
use bpc_testkit::on_both_databases;

use crate::common::{acme, event_count, notes, stream};

use super::log::{codes, job, only, report, small_log};
use super::tampering::{delete, drop_unique_index, events_of, hash_before, insert, lift_guards, rewrite};

on_both_databases! {
    async fn a_missing_first_event_is_a_gap(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        delete(&store, &events_of(&store, stream("notes")).await[0]).await;
        let report = report(&store).await;
        assert_eq!(codes(&report), ["VERSION_GAP"]);
        let gap = only(&report, "VERSION_GAP");
        assert_eq!((gap.stream, gap.version), (stream("notes"), Some(2)));
        assert_eq!((gap.expected.as_deref(), gap.found.as_deref()), (Some("1"), Some("2")));
        assert_eq!(gap.message, "version 1 is missing");
    }

    async fn missing_events_in_the_middle_are_one_gap(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        for event in &events_of(&store, job("small")).await[2..4] {
            delete(&store, event).await;
        }
        let report = report(&store).await;
        assert_eq!(codes(&report), ["VERSION_GAP"], "a job with a hole is not judged behind it");
        let gap = only(&report, "VERSION_GAP");
        assert_eq!((gap.stream, gap.version), (job("small").into(), Some(5)));
        assert_eq!(gap.message, "versions 3 to 4 are missing");
    }

    /// Nothing that is left speaks of what came last. Checkpoints do, from level L1 on.
    async fn a_missing_end_and_a_missing_stream_are_not_found_at_this_level(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        delete(&store, &events_of(&store, stream("notes")).await[2]).await;
        for event in &events_of(&store, job("small")).await {
            delete(&store, event).await;
        }
        let report = report(&store).await;
        assert!(report.is_sound());
        assert_eq!(report.events as i64, event_count(&store).await);
    }

    async fn a_version_that_is_there_twice_is_found(db) {
        let store = small_log(&db).await;
        drop_unique_index(&store, &db).await;
        let events = events_of(&store, stream("notes")).await;
        let envelope = events[1].envelope().unwrap();
        let forged = Envelope { payload: br#"{"number":99}"#, ..envelope };
        let notes = notes(stream("notes"), 1, 1);
        let before = hash_before(&events, 1);
        insert(&store, forged.record(&before, notes.stream_type, "NOTED".into()).unwrap()).await;
        let report = report(&store).await;
        assert_eq!(codes(&report), ["VERSION_DUPLICATE"], "which of the two is right is not known here");
        let finding = only(&report, "VERSION_DUPLICATE");
        assert_eq!((finding.stream, finding.version), (stream("notes"), Some(2)));
        assert_eq!(report.events as i64, event_count(&store).await, "no row is skipped");
    }

    async fn the_same_row_twice_is_found(db) {
        let store = small_log(&db).await;
        drop_unique_index(&store, &db).await;
        let columns = "occurred_at, version, tenant_id, stream_id, stream_type, event_type, event_hash, event_bytes";
        let copy = format!("INSERT INTO events ({columns}) SELECT {columns} FROM events");
        crate::common::run_sql(&store, &copy).await.unwrap();
        let report = report(&store).await;
        assert!(report.findings.iter().all(|finding| finding.code == "VERSION_DUPLICATE"));
        assert_eq!(report.findings_total * 2, report.events, "one for each copy");
    }

    async fn swapped_events_are_found(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let events = events_of(&store, stream("notes")).await;
        rewrite(&store, &events[1], events[2].event_bytes.clone(), events[2].hash().unwrap()).await;
        rewrite(&store, &events[2], events[1].event_bytes.clone(), events[1].hash().unwrap()).await;
        let report = report(&store).await;
        for version in [2, 3] {
            let here = |code: &str, column: &str| {
                report.findings.iter().any(|finding| {
                    finding.code == code
                        && finding.column == Some(column)
                        && (finding.stream, finding.version) == (stream("notes"), Some(version))
                })
            };
            assert!(here("COLUMN_MISMATCH", "version"), "{:#?}", report.findings);
            assert!(here("HASH_MISMATCH", "event_hash"), "{:#?}", report.findings);
        }
    }

    async fn other_spellings_of_the_same_event_are_found_though_their_hash_is_right(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let events = events_of(&store, stream("notes")).await;
        let (last, before) = (&events[2], hash_before(&events, 2));
        let text = String::from_utf8(last.event_bytes.clone()).unwrap();
        let key_moved = text.replacen(r#"{"actor":"user:test","#, "{", 1);
        let key_moved = format!(r#"{},"actor":"user:test"}}"#, key_moved.strip_suffix('}').unwrap());
        let spellings = [
            (text.replacen(':', ": ", 1), "JSON_NOT_CANONICAL"),
            (key_moved, "JSON_NOT_CANONICAL"),
            (text.replace("user:test", "user:\\u0074est"), "JSON_NOT_CANONICAL"),
            (text.replace("\"number\":3", "\"number\":3.0"), "JSON_NUMBER_NOT_INTEGER"),
            (text.replace("\"number\":3", "\"number\":3,\"number\":3"), "JSON_DUPLICATE_KEY"),
            (text.replace("BPC-EVENT-1", "BPC-EVENT-2"), "EVENT_MALFORMED"),
            (format!("{text}\n"), "JSON_NOT_CANONICAL"),
            ("{}".to_owned(), "EVENT_TOO_SMALL"),
        ];
        for (spelling, code) in spellings {
            assert_ne!(spelling, text);
            let hash = chain_hash(&before, spelling.as_bytes());
            rewrite(&store, last, spelling.clone().into_bytes(), hash).await;
            let report = report(&store).await;
            assert_eq!(codes(&report), [code], "{spelling}");
            assert_eq!((report.findings[0].stream, report.findings[0].version), (stream("notes"), Some(3)));
        }
    }

    async fn a_first_event_that_is_chained_to_something_is_found(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let events = events_of(&store, stream("notes")).await;
        let hash = chain_hash(&Hash([1; 32]), &events[0].event_bytes);
        rewrite(&store, &events[0], events[0].event_bytes.clone(), hash).await;
        let report = report(&store).await;
        assert_eq!(only(&report, "HASH_MISMATCH").version, Some(1));
    }

    async fn an_edited_event_with_its_own_hash_repaired_breaks_the_chain_behind_it(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let events = events_of(&store, stream("notes")).await;
        let text = String::from_utf8(events[1].event_bytes.clone()).unwrap();
        let edited = text.replace("\"number\":2", "\"number\":7").into_bytes();
        let hash = chain_hash(&hash_before(&events, 1), &edited);
        rewrite(&store, &events[1], edited, hash).await;
        let report = report(&store).await;
        assert_eq!(codes(&report), ["HASH_MISMATCH"]);
        assert_eq!(only(&report, "HASH_MISMATCH").version, Some(3));
    }

    async fn an_event_of_another_tenant_in_a_stream_is_found(db) {
        let store = small_log(&db).await;
        let events = events_of(&store, stream("notes")).await;
        let envelope = events[2].envelope().unwrap();
        let other = bpc_core::TenantId::from_slug("other");
        let foreign = Envelope { tenant_id: other, version: envelope.version.next(), ..envelope };
        let notes = notes(stream("notes"), 3, 1);
        insert(&store, foreign.record(&hash_before(&events, 3), notes.stream_type, "NOTED".into()).unwrap()).await;
        let report = report(&store).await;
        assert_eq!(codes(&report), ["STREAM_MIXED"]);
        let mixed = only(&report, "STREAM_MIXED");
        assert_eq!((mixed.stream, mixed.version), (stream("notes"), Some(4)));
        assert_eq!(mixed.column, Some("tenant_id"));
        assert_eq!(mixed.expected, Some(acme().to_string()));
    }
}
