//! SQLite's own tongue.

mod rows;
pub(crate) mod seal;

use std::str::FromStr;
use std::time::Duration;

use bpc_core::{EventRecord, StreamId};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};

use crate::append::StreamHead;
use crate::database::SqlitePools;
use crate::error::StoreError;
use crate::store::StoreOptions;

pub use rows::{execute_rows, execute_rows_behind, fetch_rows, fetch_rows_behind};

pub(crate) async fn connect(url: &str, options: &StoreOptions) -> Result<SqlitePools, StoreError> {
    let base = SqliteConnectOptions::from_str(url)
        .map_err(|_| StoreError::bad_url(url))?
        .disable_statement_logging()
        .create_if_missing(options.create)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(5))
        // A larger log between checkpoints: each checkpoint syncs the database file once more.
        .pragma("wal_autocheckpoint", "4000")
        .pragma("cache_size", "-65536")
        .pragma("temp_store", "memory")
        // Without it REPLACE deletes events behind the back of the trigger that refuses to.
        .pragma("recursive_triggers", "on")
        .statement_cache_capacity(256)
        // Rows come through a channel from the driver's thread; a small one makes the two wait for each
        // other all the time.
        .row_buffer_size(1024);
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(options.acquire_timeout)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(base.clone())
        .await?;
    let readers = SqlitePoolOptions::new()
        .max_connections(options.connections_max)
        .acquire_timeout(options.acquire_timeout)
        .connect_lazy_with(base.pragma("query_only", "on"));
    Ok(SqlitePools { writer, readers })
}

/// Append `events` on a connection inside a transaction.
pub async fn append_events(conn: &mut SqliteConnection, events: &[EventRecord]) -> Result<(), StoreError> {
    execute_rows(conn, include_str!("sql/append_events.sql"), events, |query, event| {
        query
            .bind(event.tenant_id.0)
            .bind(&*event.stream_type)
            .bind(event.stream_id.0)
            .bind(event.version.0)
            .bind(&*event.event_type)
            .bind(event.occurred_at.as_micros())
            .bind(&event.event_hash.0[..])
            .bind(&event.event_bytes[..])
    })
    .await
}

pub(crate) async fn stream_heads(
    conn: &mut SqliteConnection,
    streams: &[StreamId],
) -> Result<Vec<StreamHead>, StoreError> {
    let sql = include_str!("sql/stream_heads.sql");
    let rows = fetch_rows(conn, sql, streams, |query, id| query.bind(id.0)).await?;
    rows.iter().map(|row| sqlx::FromRow::from_row(row).map_err(StoreError::from)).collect()
}

/// Is another process or connection writing?
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default();
    // The low byte of an extended code is the primary one; 5 is BUSY, 6 LOCKED.
    matches!(code.parse::<i32>().unwrap_or(0) & 0xff, 5 | 6)
}

/// By extended result code: 5 busy, 6 locked, 10 I/O, 14 cannot open, 26 not a database.
pub(crate) fn classify(code: &str, error: sqlx::Error) -> StoreError {
    match code.parse::<i32>().unwrap_or(0) & 0xff {
        5 | 6 => StoreError::Busy(Duration::from_secs(5)),
        8 | 10 | 13 | 14 | 26 => StoreError::Unavailable(error),
        1 if error.to_string().contains("no such table") => StoreError::NotInitialised,
        _ => StoreError::Database(error),
    }
}
