//! What somebody can do who holds the database.

use bpc_core::{EventRecord, Hash, StreamId};
use bpc_eventstore::{Store, StoredEvent, portable, write_events};
use bpc_testkit::{DatabaseKind, TestDatabase};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::common::{all_events, run_sql};

use super::log::small_log;

/// A value for a column.
#[derive(Clone, Debug)]
pub enum Value {
    Id(Uuid),
    Text(String),
    Integer(i64),
    Bytes(Vec<u8>),
}

/// Take the guard rails away.
pub async fn lift_guards(store: &Store, db: &TestDatabase) {
    let sql = match db.kind() {
        DatabaseKind::Postgres => "DROP TRIGGER events_append_only ON events",
        DatabaseKind::Sqlite => "DROP TRIGGER events_refuse_update; DROP TRIGGER events_refuse_delete",
    };
    run_sql(store, sql).await.unwrap();
}

/// Let a version be there twice. SQLite cannot drop the index of a table's own rule, so the table is
/// made again without it.
pub async fn drop_unique_index(store: &Store, db: &TestDatabase) {
    let sql = match db.kind() {
        DatabaseKind::Postgres => "ALTER TABLE events DROP CONSTRAINT events_stream_version",
        DatabaseKind::Sqlite => {
            "DROP VIEW log_events; ALTER TABLE events RENAME TO before; \
             CREATE TABLE events (id INTEGER PRIMARY KEY, occurred_at, version, tenant_id, stream_id, \
                 stream_type, event_type, event_hash, event_bytes); \
             INSERT INTO events SELECT * FROM before; DROP TABLE before; \
             CREATE VIEW log_events AS SELECT * FROM events"
        }
    };
    run_sql(store, sql).await.unwrap();
}

/// A small log in a SQLite table that takes anything, with and without the order of an index.
pub async fn loose_log(db: &TestDatabase, with_index: bool) -> Store {
    let store = small_log(db).await;
    drop_unique_index(&store, db).await;
    if with_index {
        run_sql(&store, "CREATE INDEX again ON events (stream_id, version)").await.unwrap();
    }
    store
}

/// Change one column of one row.
pub async fn set(store: &Store, id: i64, column: &str, value: &Value) {
    let sql = format!("UPDATE events SET {column} = $1 WHERE id = $2");
    let mut tx = store.begin().await.unwrap();
    let changed = portable!(tx.conn(), c => {
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = match value.clone() {
            Value::Id(id) => query.bind(id),
            Value::Text(text) => query.bind(text),
            Value::Integer(number) => query.bind(number),
            Value::Bytes(bytes) => query.bind(bytes),
        };
        query.bind(id).execute(c).await.map(|done| done.rows_affected())
    });
    assert_eq!(changed.unwrap(), 1);
    tx.commit().await.unwrap();
}

/// Replace bytes and hash of one row.
pub async fn rewrite(store: &Store, event: &StoredEvent, event_bytes: Vec<u8>, event_hash: Hash) {
    set(store, event.id, "event_bytes", &Value::Bytes(event_bytes)).await;
    set(store, event.id, "event_hash", &Value::Bytes(event_hash.0.to_vec())).await;
}

/// Delete one row.
pub async fn delete(store: &Store, event: &StoredEvent) {
    run_sql(store, &format!("DELETE FROM events WHERE id = {}", event.id)).await.unwrap();
}

/// Add a row as the program itself would.
pub async fn insert(store: &Store, record: EventRecord) {
    let mut tx = store.begin().await.unwrap();
    write_events(&mut tx.conn(), &[record]).await.unwrap();
    tx.commit().await.unwrap();
}

/// The events of one stream.
pub async fn events_of(store: &Store, stream: impl Into<StreamId>) -> Vec<StoredEvent> {
    let stream = stream.into();
    all_events(store).await.into_iter().filter(|event| event.stream_id == stream).collect()
}

/// The event that stands before, as far as hashes go.
pub fn hash_before(events: &[StoredEvent], index: usize) -> Hash {
    index.checked_sub(1).map_or(Hash::ZERO, |before| events[before].hash().unwrap())
}
