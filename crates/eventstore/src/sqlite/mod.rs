//! SQLite's own tongue.

mod rows;
mod scribe;
pub(crate) mod seal;

use std::str::FromStr;
use std::time::{Duration, Instant};

use bpc_core::{EventRecord, StreamId, Version};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use sqlx::{ConnectOptions, SqliteConnection};
use uuid::Uuid;

use crate::append::StreamHead;
use crate::database::{Scribes, SqlitePools};
use crate::error::StoreError;
use crate::store::StoreOptions;

pub use rows::{execute_rows, execute_rows_behind, fetch_rows, fetch_rows_behind};
pub use scribe::Scribe;

/// How long SQLite itself waits for other processes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a writer waits for other processes before it gives up.
pub(crate) const BUSY_MAX: Duration = Duration::from_secs(120);

/// What every connection is told first.
const PRAGMAS: [(&str, &str); 5] = [
    ("synchronous", "full"),
    // A larger log between checkpoints: each checkpoint syncs the database file once more.
    ("wal_autocheckpoint", "4000"),
    ("cache_size", "-65536"),
    ("temp_store", "memory"),
    // Without it REPLACE deletes events behind the back of the trigger that refuses to.
    ("recursive_triggers", "on"),
];

pub(crate) async fn connect(url: &str, options: &StoreOptions) -> Result<SqlitePools, StoreError> {
    let base = SqliteConnectOptions::from_str(url)
        .map_err(|_| StoreError::bad_url(url))?
        .disable_statement_logging()
        .create_if_missing(options.create)
        // Of a new file: half as many pages to write as with SQLite's own 4096, and a tenth faster.
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(256)
        // Rows come through a channel from the driver's thread; a small one makes the two wait for each
        // other all the time.
        .row_buffer_size(1024);
    let base = PRAGMAS.into_iter().fold(base, |base, (name, value)| base.pragma(name, value));
    let file = base.get_filename().to_path_buf();
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(options.acquire_timeout)
        .idle_timeout(None)
        .max_lifetime(None)
        // There is nobody who could have hung up.
        .test_before_acquire(false);
    let start = Instant::now();
    let writer = loop {
        // Of several that make a new file a write-ahead log at once, SQLite refuses all but one without waiting.
        match writer.clone().connect_with(base.clone()).await {
            Err(error) if is_busy(&error) && start.elapsed() < BUSY_MAX => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            connected => break connected?,
        }
    };
    let readers = SqlitePoolOptions::new()
        .max_connections(options.connections_max)
        .acquire_timeout(options.acquire_timeout)
        .connect_lazy_with(base.pragma("query_only", "on"));
    let scribes = Scribes { writer: Scribe::writer(file.clone()), reader: Scribe::reader(file) };
    Ok(SqlitePools { writer, readers, scribes: Some(scribes) })
}

/// Appends one event: tenant, stream type, stream, version, event type, time, hash, bytes.
pub const APPEND_EVENTS: &str = include_str!("sql/append_events.sql");

/// Append `events` on a connection inside a transaction.
pub async fn append_events(conn: &mut SqliteConnection, events: &[EventRecord]) -> Result<(), StoreError> {
    execute_rows(conn, APPEND_EVENTS, events, |query, event| {
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

/// Stream, version and hash of those of these events that are there.
pub(crate) async fn read_hashes(
    conn: &mut SqliteConnection,
    events: &[(StreamId, Version)],
) -> Result<Vec<(Uuid, i32, Vec<u8>)>, StoreError> {
    let sql = include_str!("sql/read_hashes.sql");
    let rows = fetch_rows(conn, sql, events, |query, (stream, version)| query.bind(stream.0).bind(version.0))
        .await?;
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
        5 | 6 => StoreError::Busy(BUSY_TIMEOUT),
        8 | 10 | 13 | 14 | 26 => StoreError::Unavailable(error),
        1 if error.to_string().contains("no such table") => StoreError::NotInitialised,
        _ => StoreError::Database(error),
    }
}
