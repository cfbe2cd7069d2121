//! SQLite keeps any value in any column, and its index can be kept from the table: no row may get
//! lost over it.

use bpc_eventstore::Store;
use bpc_testkit::TestDatabase;

use crate::common::{event_count, run_sql, stream};

use super::log::{only, report, small_log};
use super::tampering::{Value, drop_unique_index, events_of, lift_guards, set};

/// A log in a table that takes anything, with and without the order of the index.
async fn loose_log(db: &TestDatabase, with_index: bool) -> Store {
    let store = small_log(db).await;
    drop_unique_index(&store, db).await;
    if with_index {
        run_sql(&store, "CREATE INDEX again ON events (stream_id, version)").await.unwrap();
    }
    store
}

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

#[tokio::test]
async fn an_edit_that_spares_the_index_is_found() {
    let db = TestDatabase::sqlite();
    let store = loose_log(&db, true).await;
    let id = events_of(&store, stream("notes")).await[1].id;
    // Whoever hides the index from SQLite for a while can edit the table alone.
    behind_the_index(&store, &format!("UPDATE events SET version = 77 WHERE id = {id}")).await;
    let edited = report(&store).await;
    let finding = only(&edited, "COLUMN_MISMATCH");
    assert_eq!((finding.column, finding.found.as_deref()), (Some("version"), Some("77")));
}

#[tokio::test]
async fn a_row_that_the_index_does_not_know_is_found() {
    let db = TestDatabase::sqlite();
    let store = loose_log(&db, true).await;
    let rows = event_count(&store).await;
    behind_the_index(&store, "INSERT INTO events (version, event_bytes) VALUES (1, x'00')").await;
    let hidden = report(&store).await;
    let finding = only(&hidden, "ROWS_HIDDEN");
    assert_eq!(finding.expected, Some((rows + 1).to_string()));
    assert_eq!(finding.found, Some(rows.to_string()));
}

/// Run a statement while the schema does not mention the index, then put it back as it was.
async fn behind_the_index(store: &Store, sql: &str) {
    let hidden = format!(
        "PRAGMA writable_schema = on; \
         CREATE TEMP TABLE kept AS SELECT * FROM sqlite_master WHERE name = 'again'; \
         DELETE FROM sqlite_master WHERE name = 'again'; PRAGMA writable_schema = reset; \
         {sql}; \
         PRAGMA writable_schema = on; INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept; \
         PRAGMA writable_schema = reset"
    );
    run_sql(store, &hidden).await.unwrap();
}
