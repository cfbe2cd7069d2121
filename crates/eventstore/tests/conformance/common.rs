//! A log to test with.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bpc_core::canonical::canonicalize;
use bpc_core::envelope::Draft;
use bpc_core::{EventRecord, StreamId, TenantId, Timestamp, Version};
use bpc_eventstore::{
    Cause, Clock, Conn, Database, Store, StoreError, StoreOptions, StoredEvent, StreamAppend,
    append_to_streams, read_log,
};
use bpc_testkit::TestDatabase;
use futures_util::TryStreamExt;
use sqlx::AssertSqlSafe;

/// When tests take place: 2026-11-16T19:48:31.000000Z.
pub const NOW: Timestamp = Timestamp::from_micros(1_794_858_511_000_000);

/// The same actor for all.
pub const CAUSE: Cause<'static> =
    Cause { actor: "user:test", now: NOW, causation_id: None, correlation_id: None };

/// A handle on the database, whatever is in it, with a clock that stands still.
pub async fn connect(db: &TestDatabase) -> Store {
    // A test asks for one more connection than the machine has at hand now and then: it may wait.
    let acquire_timeout = Duration::from_secs(60);
    let options = StoreOptions { clock: Clock::manual(NOW), acquire_timeout, ..StoreOptions::default() };
    Store::connect(db.url(), options).await.expect("the test database answers")
}

/// A handle on an empty log.
pub async fn empty_log(db: &TestDatabase) -> Store {
    let store = connect(db).await;
    store.migrate().await.expect("the schema is new");
    store
}

/// The tenant of most tests.
pub fn acme() -> TenantId {
    TenantId::from_slug("acme")
}

/// A stream named by its purpose.
pub fn stream(name: &str) -> StreamId {
    StreamId::derived("test", name)
}

/// An event with that payload.
pub fn draft(payload: &str) -> Draft {
    let payload = canonicalize(payload.as_bytes()).expect("the payload may be hashed");
    Draft { event_type: "NOTED".into(), schema: 1, payload }
}

/// So many notes for a stream of acme that is expected at a version.
pub fn notes(stream_id: StreamId, expected: u32, count: usize) -> StreamAppend {
    let events = (1..=count).map(|number| draft(&format!("{{\"number\":{number}}}"))).collect();
    let (stream_type, expected) = (Arc::from("Note"), Version(expected));
    StreamAppend { tenant_id: acme(), stream_type, stream_id, expected, events }
}

/// Append in a transaction of its own.
pub async fn append(store: &Store, appends: &[StreamAppend]) -> Result<Vec<EventRecord>, StoreError> {
    let mut tx = store.begin().await?;
    let records = append_to_streams(&mut tx.conn(), appends, CAUSE).await?;
    tx.commit().await?;
    Ok(records)
}

/// The whole log by stream and version.
pub async fn all_events(store: &Store) -> Vec<StoredEvent> {
    let mut tx = store.begin_read().await.expect("a reader");
    read_log(&mut tx.conn()).try_collect().await.expect("the log is readable")
}

/// Run any statements, as somebody who may do anything to the database.
pub async fn run_sql(store: &Store, sql: &str) -> Result<(), sqlx::Error> {
    match &store.database {
        Database::Postgres(pool) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.map(drop),
        Database::Sqlite(pools) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(&pools.writer).await.map(drop),
    }
}

/// One number from any statement.
pub async fn number(store: &Store, sql: &str) -> i64 {
    let mut tx = store.begin_read().await.expect("a reader");
    let number = match tx.conn() {
        Conn::Postgres(conn) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(conn).await,
        Conn::Sqlite(conn) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(conn).await,
    };
    number.expect("the statement yields a number")
}

/// How many events there are.
pub async fn event_count(store: &Store) -> i64 {
    let sql = match &store.database {
        Database::Postgres(_) => "SELECT count(*) FROM log_events",
        // A view follows its table when somebody puts another in its place.
        Database::Sqlite(_) => "SELECT count(*) FROM events",
    };
    number(store, sql).await
}

/// Polls a future so often and then drops it: what a process that is killed there does, as far as the
/// database can tell. `None` if it was dropped.
pub async fn cut_off<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(move |cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
