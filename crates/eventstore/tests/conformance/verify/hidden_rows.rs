//! Rows that an index hides: whoever can keep the index from learning of a row must not be able to
//! keep verify from it.

use bpc_eventstore::Store;
use bpc_testkit::TestDatabase;

use crate::common::{append, event_count, notes, run_sql, stream};

use super::log::{SMALL, codes, only, report, small_log};
use super::tampering::{events_of, loose_log};

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

#[tokio::test]
async fn a_row_that_postgres_has_in_no_index_is_found() {
    let db = TestDatabase::postgres().await;
    let store = small_log(&db).await;
    let ready = "UPDATE pg_index SET indisready = true WHERE indrelid = 'events'::regclass";
    run_sql(&store, &ready.replace("true", "false")).await.unwrap();
    let columns =
        "occurred_at, version, tenant_id, stream_id, stream_type, event_type, event_hash, event_bytes";
    let copy =
        format!("INSERT INTO events ({columns}) SELECT {columns} FROM events WHERE version = 3 LIMIT 1");
    run_sql(&store, &copy).await.unwrap();
    run_sql(&store, ready).await.unwrap();
    let hidden = report(&store).await;
    assert_eq!(codes(&hidden), ["ROWS_HIDDEN"]);
    let finding = only(&hidden, "ROWS_HIDDEN");
    assert_eq!((finding.expected.as_deref(), finding.found.as_deref()), (Some("12"), Some("11")));
    assert_eq!(hidden.events, SMALL + 1, "they are read from the table");
}

#[tokio::test]
async fn an_event_in_order_that_postgres_does_not_find_by_its_id_is_found() {
    for hidden_from in ["indrelid = 'events'::regclass", "indexrelid = 'events_pkey'::regclass"] {
        let db = TestDatabase::postgres().await;
        let store = small_log(&db).await;
        let ready = format!("UPDATE pg_index SET indisready = true WHERE {hidden_from}");
        run_sql(&store, &ready.replace("true", "false")).await.unwrap();
        append(&store, &[notes(stream("more"), 0, 1)]).await.unwrap();
        run_sql(&store, &ready).await.unwrap();
        let hidden = report(&store).await;
        assert_eq!((codes(&hidden), hidden.events), (vec!["ROWS_HIDDEN"], SMALL + 1), "{hidden_from}");
        let finding = only(&hidden, "ROWS_HIDDEN");
        assert_eq!((finding.expected.as_deref(), finding.found.as_deref()), (Some("12"), Some("11")));
        run_sql(&store, "REINDEX TABLE events").await.unwrap();
        assert!(report(&store).await.is_sound());
    }
}
