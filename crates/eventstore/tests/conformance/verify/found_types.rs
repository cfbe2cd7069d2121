//! SQLite keeps any value in any column: no row may get lost over it.

use bpc_testkit::TestDatabase;

use crate::common::{event_count, run_sql, stream};

use super::log::{codes, only, report, small_log};
use super::tampering::{Value, events_of, lift_guards, loose_log, set};

#[tokio::test]
async fn a_value_of_the_wrong_type_is_found_and_no_row_is_skipped() {
    for with_index in [true, false] {
        let db = TestDatabase::sqlite();
        let store = loose_log(&db, with_index).await;
        let rows = event_count(&store).await;
        let id = events_of(&store, stream("notes")).await[1].id;
        for column in ["tenant_id", "stream_type", "stream_id", "version", "event_type", "occurred_at"] {
            for value in ["NULL", "'text'", "x'00ff'", "2.5", "-9223372036854775808", "9223372036854775807"] {
                let restore = format!(
                    "CREATE TEMP TABLE kept AS SELECT {column} AS v FROM events WHERE id = {id}; \
                     UPDATE events SET {column} = {value} WHERE id = {id}"
                );
                run_sql(&store, &restore).await.unwrap();
                let report = report(&store).await;
                let found = report
                    .findings
                    .iter()
                    .any(|finding| finding.code == "COLUMN_MISMATCH" && finding.column == Some(column));
                assert!(found, "{column} = {value}: {:#?}", report.findings);
                assert_eq!(report.events as i64, rows, "{column} = {value}");
                let restore = format!(
                    "UPDATE events SET {column} = (SELECT v FROM kept) WHERE id = {id}; DROP TABLE kept"
                );
                run_sql(&store, &restore).await.unwrap();
            }
        }
        assert!(report(&store).await.is_sound());
    }
}

#[tokio::test]
async fn an_event_whose_version_is_no_number_leaves_a_gap_where_it_was() {
    let db = TestDatabase::sqlite();
    let store = loose_log(&db, true).await;
    let id = events_of(&store, stream("notes")).await[1].id;
    for value in ["NULL", "'text'"] {
        run_sql(&store, &format!("UPDATE events SET version = {value} WHERE id = {id}")).await.unwrap();
        let report = report(&store).await;
        assert_eq!(report.findings_total, 2, "{:#?}", report.findings);
        let finding = only(&report, "COLUMN_MISMATCH");
        assert_eq!((finding.version, finding.expected.as_deref()), (Some(2), Some("2")));
        assert_eq!(only(&report, "VERSION_GAP").message, "version 2 is missing");
    }
}

#[tokio::test]
async fn a_version_below_one_does_not_hide_where_the_stream_begins() {
    let db = TestDatabase::sqlite();
    let store = loose_log(&db, true).await;
    let id = events_of(&store, stream("notes")).await[2].id;
    for version in [0, -3, i64::MIN] {
        set(&store, id, "version", &Value::Integer(version)).await;
        let report = report(&store).await;
        assert_eq!(codes(&report), ["COLUMN_MISMATCH", "VERSION_GAP"]);
        assert!(report.findings.iter().all(|finding| finding.version == Some(version)));
    }
}

#[tokio::test]
async fn bytes_and_hash_that_are_not_bytes_are_found() {
    let db = TestDatabase::sqlite();
    let store = small_log(&db).await;
    lift_guards(&store, &db).await;
    let event = &events_of(&store, stream("notes")).await[2];
    let text = String::from_utf8(event.event_bytes.clone()).unwrap();
    set(&store, event.id, "event_bytes", &Value::Text(text)).await;
    let as_text = report(&store).await;
    assert_eq!(only(&as_text, "COLUMN_MISMATCH").column, Some("event_bytes"));
    set(&store, event.id, "event_bytes", &Value::Integer(1)).await;
    let as_number = report(&store).await;
    assert_eq!(only(&as_number, "HASH_MISMATCH").version, Some(3));
    assert_eq!(only(&as_number, "EVENT_TOO_SMALL").stream, stream("notes"));
}
