//! PostgreSQL's own tongue.

mod at_hand;
pub(crate) mod cohort;
mod compose;
pub(crate) mod pending;
pub(crate) mod seal;
mod tx;

use std::borrow::Borrow;
use std::time::Duration;

use bpc_core::{EventRecord, StreamId, Version};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection, PgPool};
use uuid::Uuid;

use crate::append::StreamHead;
use crate::error::StoreError;
use crate::store::StoreOptions;

pub use at_hand::AtHand;
pub use cohort::append_cohorts;
pub use compose::Composed;
pub(crate) use tx::PgTx;

/// What every connection is told first. The statements here are written for their indexes and take
/// arrays whose size the planner cannot know: it must neither plan them anew each time nor scan a
/// table that was empty when it looked.
const SESSION: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
    SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; \
    SET application_name = 'bpc'";

/// How a transaction that writes begins. Whoever freezes or loses power in the middle of one keeps its
/// rows locked until the server gives up on the connection, and locked rows are passed over, expired
/// lease or not: so the server gives up after the time of a usual lease, not after hours.
pub(crate) const BEGIN: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '60s'";

/// The time by the server's clock, as microseconds.
pub const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

pub(crate) async fn connect(url: &str, options: &StoreOptions) -> Result<PgPool, StoreError> {
    let connect: PgConnectOptions = url.parse().map_err(|_| StoreError::bad_url(url))?;
    let connect = connect.disable_statement_logging();
    // The pool would try until its timeout and then name only that; one plain attempt names the cause.
    PgConnection::connect_with(&connect).await.map_err(no_connection)?.close().await?;
    let pool = pool_options(options.connections_max, options.acquire_timeout);
    pool.connect_with(connect).await.map_err(no_connection)
}

/// A pool of one connection to the same database, for somebody who works all the time: its server process
/// stays warm, and nobody else has to be waited for.
pub(crate) fn dedicated(pool: &PgPool) -> PgPool {
    let options = pool_options(1, pool.options().get_acquire_timeout());
    options.connect_lazy_with((*pool.connect_options()).clone())
}

fn pool_options(connections_max: u32, acquire_timeout: Duration) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(acquire_timeout)
        // Many handlers share few connections, so waiting for one is how a busy worker is; not getting one is an error.
        .acquire_slow_threshold(acquire_timeout)
        // A round trip saved each time. A connection that died meanwhile fails its first statement, and
        // every verb of the engine tries again.
        .test_before_acquire(false)
        .after_connect(|conn, _| {
            Box::pin(async move { conn.execute(sqlx::raw_sql(SESSION)).await.map(drop) })
        })
}

/// Wrong password, no such database: for a caller that is no connection, too.
fn no_connection(error: sqlx::Error) -> StoreError {
    match StoreError::from(error) {
        StoreError::Database(error) => StoreError::Unavailable(error),
        error => error,
    }
}

/// About what an event takes beside its bytes.
const ROW_REST: usize = 160;

/// A name under which other connections can see what this transaction sees, as long as it lasts.
pub(crate) async fn export_snapshot(conn: &mut PgConnection) -> Result<String, StoreError> {
    Ok(sqlx::query_scalar("SELECT pg_export_snapshot()").fetch_one(conn).await?)
}

/// Add the append of `events` to a statement.
pub fn append_events<E: Borrow<EventRecord>>(
    events: &[E],
    statement: &mut Composed,
) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let events = || events.iter().map(Borrow::borrow);
    let column = |take: fn(&EventRecord) -> Uuid| events().map(take).collect::<Vec<_>>();
    statement.part(include_str!("sql/append_events.sql"), |args| {
        // Most of what a batch sends; growing into it step by step copies it again and again.
        args.reserve(events().map(|event| event.event_bytes.len() + ROW_REST).sum());
        args.add(column(|event| event.tenant_id.0))?;
        args.add(events().map(|event| &*event.stream_type).collect::<Vec<_>>())?;
        args.add(column(|event| event.stream_id.0))?;
        args.add(events().map(|event| event.version.0 as i32).collect::<Vec<_>>())?;
        args.add(events().map(|event| &*event.event_type).collect::<Vec<_>>())?;
        args.add(events().map(|event| event.occurred_at.as_micros()).collect::<Vec<_>>())?;
        args.add(events().map(|event| &event.event_hash.0[..]).collect::<Vec<_>>())?;
        args.add(events().map(|event| &event.event_bytes[..]).collect::<Vec<_>>())
    })
}

/// The newest event of each stream in either table.
pub(crate) async fn stream_heads(
    conn: &mut PgConnection,
    streams: &[StreamId],
) -> Result<Vec<StreamHead>, StoreError> {
    let ids: Vec<Uuid> = streams.iter().map(|id| id.0).collect();
    let sql = include_str!("sql/stream_heads.sql");
    let mut heads: Vec<StreamHead> = sqlx::query_as(sql).bind(ids).fetch_all(&mut *conn).await?;
    let wanted = streams.iter().map(|stream| (*stream, None)).collect();
    heads.extend(cohort::cohort_heads(conn, wanted).await?);
    Ok(heads)
}

/// Stream, version and hash of those of these events that have a row of their own.
pub(crate) async fn read_hashes(
    conn: &mut PgConnection,
    events: &[(StreamId, Version)],
) -> Result<Vec<(Uuid, i32, Vec<u8>)>, StoreError> {
    let query = sqlx::query_as(include_str!("sql/read_hashes.sql"))
        .bind(events.iter().map(|(stream, _)| stream.0).collect::<Vec<_>>())
        .bind(events.iter().map(|(_, version)| version.0 as i32).collect::<Vec<_>>());
    Ok(query.fetch_all(conn).await?)
}

/// By SQLSTATE: what went away may come back; what conflicts may be tried again.
pub(crate) fn classify(code: &str, error: sqlx::Error) -> StoreError {
    match code {
        // Serialization failure, deadlock: nothing was written, try again.
        "40001" | "40P01" => StoreError::Conflict(error),
        // Connection exceptions, shutdown, crash, starting up, too many connections, idle for too long.
        "57P01" | "57P02" | "57P03" | "57014" | "25P03" => StoreError::Unavailable(error),
        // Disk full, out of memory, read-only after a failover, I/O errors: nothing that the caller did.
        "25006" => StoreError::Unavailable(error),
        code if ["08", "53", "58"].iter().any(|class| code.starts_with(class)) => {
            StoreError::Unavailable(error)
        }
        "42P01" => StoreError::NotInitialised,
        _ => StoreError::Database(error),
    }
}

pub(crate) type AddResult = Result<(), sqlx::error::BoxDynError>;

/// `Arguments::add` with a shorter name for closures.
pub struct Args<'a>(pub(crate) &'a mut PgArguments);

impl Args<'_> {
    /// Make room for so many bytes.
    pub fn reserve(&mut self, bytes: usize) {
        sqlx::Arguments::reserve(self.0, 0, bytes);
    }

    /// Bind the next value.
    pub fn add<'q, T>(&mut self, value: T) -> AddResult
    where
        T: sqlx::Encode<'q, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + 'q,
    {
        sqlx::Arguments::add(self.0, value)
    }
}
