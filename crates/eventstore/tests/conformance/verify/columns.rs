//! Every stored column of every row is covered.

use bpc_core::StreamId;
use bpc_eventstore::StoredEvent;
use bpc_eventstore::verify::Finding;
use bpc_testkit::{DatabaseKind, on_both_databases};
use uuid::Uuid;

use crate::common::{all_events, run_sql, stream};

use super::log::{SMALL, codes, only, report, small_log};
use super::tampering::{Value, events_of, lift_guards, set};

/// A column as it is, and slightly changed.
fn columns(event: &StoredEvent) -> Vec<(&'static str, Value, Value)> {
    let flip_id = |id: Uuid| Uuid::from_u128(id.as_u128() ^ 1);
    let flip_text = |text: &str| Value::Text(flip_letter(text));
    let last_bit = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        Value::Bytes(bytes)
    };
    let (tenant, stream) = (event.tenant_id.0, event.stream_id.0);
    let version = i64::from(event.version);
    vec![
        ("tenant_id", Value::Id(tenant), Value::Id(flip_id(tenant))),
        ("stream_type", Value::Text(event.stream_type.clone()), flip_text(&event.stream_type)),
        ("stream_id", Value::Id(stream), Value::Id(flip_id(stream))),
        ("version", Value::Integer(version), Value::Integer(version ^ 1024)),
        ("event_type", Value::Text(event.event_type.clone()), flip_text(&event.event_type)),
        ("occurred_at", Value::Integer(event.occurred_at), Value::Integer(event.occurred_at ^ 1)),
        ("event_hash", Value::Bytes(event.event_hash.clone()), last_bit(&event.event_hash)),
        ("event_bytes", Value::Bytes(event.event_bytes.clone()), last_bit(&event.event_bytes)),
    ]
}

/// One bit of the first letter.
fn flip_letter(text: &str) -> String {
    let mut letters = text.to_owned().into_bytes();
    letters[0] ^= 1;
    String::from_utf8(letters).unwrap()
}

/// Where the event says it is, whichever of its columns was changed.
fn is_at(finding: &Finding, event: &StoredEvent) -> bool {
    let stream = if finding.column == Some("stream_id") {
        finding.expected.clone()
    } else {
        Some(finding.stream.to_string())
    };
    let version = if finding.column == Some("version") {
        finding.expected.clone()
    } else {
        finding.version.map(|version| version.to_string())
    };
    stream == Some(event.stream_id.to_string()) && version == Some(event.version.to_string())
}

on_both_databases! {
    async fn a_change_of_any_column_of_any_row_is_found_where_it_is(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let events = all_events(&store).await;
        assert_eq!(events.len() as u64, SMALL);
        for event in &events {
            for (column, value, changed) in columns(event) {
                set(&store, event.id, column, &changed).await;
                let report = report(&store).await;
                let (code, named) = match column {
                    "event_hash" | "event_bytes" => ("HASH_MISMATCH", "event_hash"),
                    _ => ("COLUMN_MISMATCH", column),
                };
                let found = |finding: &Finding| {
                    finding.code == code && finding.column == Some(named) && is_at(finding, event)
                };
                assert!(report.findings.iter().any(found), "{column} of {event:?}: {:#?}", report.findings);
                assert!(!report.is_sound());
                set(&store, event.id, column, &value).await;
            }
        }
        assert!(report(&store).await.is_sound(), "all is as it was");
    }

    async fn a_changed_copy_is_one_finding_with_both_values(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[1];
        set(&store, event.id, "event_type", &Value::Text("FORGED".to_owned())).await;
        let report = report(&store).await;
        assert_eq!(report.findings_total, 1, "{:#?}", report.findings);
        let finding = only(&report, "COLUMN_MISMATCH");
        assert_eq!((finding.stream, finding.version), (stream("notes"), Some(2)));
        assert_eq!(finding.column, Some("event_type"));
        assert_eq!(finding.expected.as_deref(), Some("NOTED"));
        assert_eq!(finding.found.as_deref(), Some("FORGED"));
    }

    async fn a_changed_hash_is_one_finding_and_not_one_for_each_event_behind_it(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[0];
        set(&store, event.id, "event_hash", &Value::Bytes(vec![0; 32])).await;
        let report = report(&store).await;
        assert_eq!(codes(&report), ["HASH_MISMATCH"]);
        assert_eq!(only(&report, "HASH_MISMATCH").version, Some(1));
    }

    async fn a_hash_of_the_wrong_length_is_found(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[1];
        for length in [0, 31, 33] {
            set(&store, event.id, "event_hash", &Value::Bytes(vec![7; length])).await;
            assert_eq!(codes(&report(&store).await), ["HASH_MISMATCH"], "{length} bytes");
        }
    }

    async fn a_change_of_any_byte_of_an_event_is_found(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[2];
        for place in 0..event.event_bytes.len() {
            let mut bytes = event.event_bytes.clone();
            bytes[place] ^= 1 << (place % 8);
            set(&store, event.id, "event_bytes", &Value::Bytes(bytes)).await;
            let report = report(&store).await;
            let finding = only(&report, "HASH_MISMATCH");
            assert_eq!((finding.stream, finding.version), (stream("notes"), Some(3)), "byte {place}");
        }
    }

    /// Ids number insertions; they are no part of the record, and level L0 does not look at order
    /// across streams.
    async fn a_changed_insertion_id_is_not_found_at_this_level(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[0];
        if db.kind() == DatabaseKind::Postgres {
            let sql = "ALTER TABLE cohort_events ALTER id DROP DEFAULT; ALTER TABLE events ALTER id DROP IDENTITY";
            run_sql(&store, sql).await.unwrap();
        }
        set(&store, event.id, "id", &Value::Integer(4711)).await;
        assert!(report(&store).await.is_sound());
    }

    async fn an_event_moved_to_another_stream_is_found_in_both(db) {
        let store = small_log(&db).await;
        lift_guards(&store, &db).await;
        let event = &events_of(&store, stream("notes")).await[1];
        let elsewhere = StreamId::derived("test", "elsewhere");
        set(&store, event.id, "stream_id", &Value::Id(elsewhere.0)).await;
        let report = report(&store).await;
        let moved = only(&report, "COLUMN_MISMATCH");
        assert_eq!((moved.stream, moved.column), (elsewhere, Some("stream_id")));
        let gaps: Vec<_> = report.findings.iter().filter(|finding| finding.code == "VERSION_GAP").collect();
        assert!(gaps.iter().any(|gap| gap.stream == stream("notes") && gap.version == Some(3)), "{gaps:#?}");
        assert!(gaps.iter().any(|gap| gap.stream == elsewhere && gap.version == Some(2)), "{gaps:#?}");
    }
}
