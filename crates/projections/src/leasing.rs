//! Taking rows of the queue view: to lease them, to settle them, to reap them.
//!
//! Each returns the time by the clock that counts, read in the same statement as the rows.

use bpc_core::job::QueueRow;
use bpc_core::{Job, JobId, StreamId, Timestamp, Version};
use bpc_eventstore::sqlite::fetch_rows;
use bpc_eventstore::{Clock, Conn, StoreError, stream_heads};
use sqlx::Row;
use uuid::Uuid;

use crate::lanes::LaneRoom;
use crate::{postgres, sqlite};

/// A job that may be leased, and the event that made it, which holds its payload.
#[derive(Clone, Debug)]
pub struct Leasable {
    /// Its state, but for why its last attempt failed, which a lease forgets.
    pub job: Job,
    /// Bytes of its ENQUEUED event.
    pub enqueued_bytes: Vec<u8>,
}

/// Rows taken at a moment.
#[derive(Clone, Debug)]
pub struct Taken<T> {
    /// The moment. PostgreSQL tells it with the rows: without rows it says nothing.
    pub now: Timestamp,
    /// The rows, locked until the transaction ends.
    pub rows: Vec<T>,
}

/// Due jobs of these lanes and types, by priority then due time, at most `limit`, each locked.
pub async fn leasable_jobs(
    conn: &mut Conn<'_>,
    clock: &Clock,
    lanes: &[LaneRoom],
    types: &[&str],
    limit: usize,
) -> Result<Taken<Leasable>, StoreError> {
    let (now, mut rows) = match conn {
        Conn::Postgres(conn) => {
            let (now, rows) = postgres::leasable_jobs(conn, clock.fixed(), lanes, types, limit).await?;
            (now.unwrap_or_default(), rows)
        }
        Conn::Sqlite(conn) => {
            let now = clock.host();
            (now, sqlite::leasable_jobs(conn, now, lanes, types, limit).await?)
        }
    };
    // Each lane comes in order; only here do they become one.
    rows.sort_by_key(|row| (row.job.priority, row.job.scheduled_at));
    rows.truncate(limit);
    Ok(Taken { now, rows })
}

/// The live jobs among these whose attempt is the one with that fence, each locked. Whether its lease
/// still holds is for the rule book to say.
pub async fn held_leases(
    conn: &mut Conn<'_>,
    clock: &Clock,
    held: &[(JobId, Version)],
) -> Result<Taken<Job>, StoreError> {
    let (now, rows) = match conn {
        Conn::Postgres(conn) => {
            let (now, rows) = postgres::held_leases(conn, clock.fixed(), held).await?;
            (now.unwrap_or_default(), rows)
        }
        Conn::Sqlite(conn) => (clock.host(), sqlite::held_leases(conn, held).await?),
    };
    Ok(Taken { now, rows: with_heads(conn, rows).await? })
}

/// Of these jobs, move those whose attempt this worker still holds, unmoved since it was leased, to the
/// finished ones as succeeded. Answers with their fences.
pub async fn finish_leases(
    conn: &mut Conn<'_>,
    clock: &Clock,
    worker_id: &str,
    jobs: &[JobId],
) -> Result<Taken<(JobId, Version)>, StoreError> {
    match conn {
        Conn::Postgres(conn) => {
            let (now, rows) = postgres::finish_leases(conn, clock.fixed(), worker_id, jobs).await?;
            Ok(Taken { now, rows })
        }
        Conn::Sqlite(conn) => {
            let now = clock.host();
            Ok(Taken { now, rows: sqlite::finish_leases(conn, now, worker_id, jobs).await? })
        }
    }
}

/// The states of rows that are locked. On PostgreSQL, a row that had to be waited for is read as it is by
/// then, but its head is looked for in the log as it was when the statement began, where a renewal or a
/// cancel request just committed is missing: such heads are looked for once more.
async fn with_heads(conn: &mut Conn<'_>, rows: Vec<QueueRow>) -> Result<Vec<Job>, StoreError> {
    let missing: Vec<StreamId> =
        rows.iter().filter(|row| row.head_hash.is_none()).map(|row| row.job_id.into()).collect();
    let heads = stream_heads(conn, &missing).await?;
    let job = |row: QueueRow| {
        let head = heads.get(&row.job_id.into()).map(|it| it.head).filter(|head| head.version == row.version);
        let hash = row.head_hash.or(head.map(|head| head.hash));
        let hash = hash.ok_or_else(|| StoreError::Damaged(format!("head of job {}", row.job_id)))?;
        Ok(row.into_job(hash))
    };
    rows.into_iter().map(job).collect()
}

/// Jobs whose lease has run out, each locked; rows that others hold are skipped.
pub async fn expired_leases(
    conn: &mut Conn<'_>,
    clock: &Clock,
    limit: u32,
) -> Result<Taken<Job>, StoreError> {
    let (now, rows) = match conn {
        Conn::Postgres(conn) => {
            let (now, rows) = postgres::expired_leases(conn, clock.fixed(), limit).await?;
            (now.unwrap_or_default(), rows)
        }
        Conn::Sqlite(conn) => {
            let now = clock.host();
            (now, sqlite::expired_leases(conn, now, limit).await?)
        }
    };
    Ok(Taken { now, rows: with_heads(conn, rows).await? })
}

/// Those of these jobs that somebody wants stopped.
pub async fn cancel_requests(conn: &mut Conn<'_>, jobs: &[JobId]) -> Result<Vec<JobId>, StoreError> {
    let ids: Vec<Uuid> = match conn {
        Conn::Postgres(conn) => {
            let asked: Vec<Uuid> = jobs.iter().map(|job| job.0).collect();
            let sql = include_str!("postgres/sql/cancel_requests.sql");
            sqlx::query_scalar(sql).bind(asked).fetch_all(&mut **conn).await?
        }
        Conn::Sqlite(conn) => {
            let sql = include_str!("sqlite/sql/cancel_requests.sql");
            let rows = fetch_rows(conn, sql, jobs, |query, job| query.bind(job.0)).await?;
            rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?
        }
    };
    Ok(ids.into_iter().map(JobId).collect())
}
