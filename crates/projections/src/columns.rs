//! Rows of the job views to and from their columns. Both databases have the same columns in the same
//! order; only the row types differ.

use bpc_core::job::{FinishedRow, QueueRow};
use bpc_core::{Hash, JobId, Status, TenantId, Timestamp, Version};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::leasing::{Place, WaitingRow};

macro_rules! read_queue_row {
    ($name:ident, $row:ty) => {
        /// A queue row that begins at column `from`.
        pub(crate) fn $name(row: &$row, from: usize) -> Result<QueueRow, sqlx::Error> {
            Ok(QueueRow {
                job_id: JobId(row.try_get(from)?),
                tenant_id: TenantId(row.try_get(from + 1)?),
                created_at: Timestamp::from_micros(row.try_get(from + 2)?),
                scheduled_at: Timestamp::from_micros(row.try_get(from + 3)?),
                lease_expires_at: row.try_get::<Option<i64>, _>(from + 4)?.map(Timestamp::from_micros),
                progressed_at: row.try_get::<Option<i64>, _>(from + 5)?.map(Timestamp::from_micros),
                version: Version(row.try_get::<i32, _>(from + 6)? as u32),
                fence: row.try_get::<Option<i32>, _>(from + 7)?.map(|version| Version(version as u32)),
                max_attempts: row.try_get::<i32, _>(from + 8)? as u32,
                attempts: row.try_get::<i32, _>(from + 9)? as u32,
                priority: row.try_get::<i16, _>(from + 10)? as u8,
                progress_percent: row.try_get::<Option<i16>, _>(from + 11)?.map(|percent| percent as u8),
                running: row.try_get(from + 12)?,
                cancel_requested: row.try_get(from + 13)?,
                job_type: row.try_get(from + 14)?,
                queue: row.try_get(from + 15)?,
                head_hash: head_hash(row.try_get(from + 16)?)?,
                worker_id: row.try_get(from + 17)?,
                error_code: row.try_get(from + 18)?,
                error_message: row.try_get(from + 19)?,
            })
        }
    };
}

/// The row of a waiting job.
pub(crate) fn waiting_row_of_sqlite(row: &SqliteRow) -> Result<WaitingRow<'_>, sqlx::Error> {
    Ok(WaitingRow {
        enqueued_bytes: row.try_get(0)?,
        job_id: JobId(row.try_get(1)?),
        version: Version(row.try_get::<i32, _>(2)? as u32),
        head_hash: head_hash(row.try_get(3)?)?,
        attempts: row.try_get::<i32, _>(4)? as u32,
        scheduled_at: Timestamp::from_micros(row.try_get(5)?),
        place: Place::default(),
    })
}

pub(crate) fn head_hash(stored: Option<&[u8]>) -> Result<Option<Hash>, sqlx::Error> {
    let no_hash = || sqlx::Error::Decode("head_hash is not 32 bytes".into());
    stored.map(|hash| Hash::from_slice(hash).ok_or_else(no_hash)).transpose()
}

read_queue_row!(queue_row_of_postgres, sqlx::postgres::PgRow);
read_queue_row!(queue_row_of_sqlite, SqliteRow);

/// Columns of the queue view, in the order that [`queue_row_of_postgres`] reads.
pub(crate) const QUEUE_COLUMNS: &str = "job_id, tenant_id, created_at, scheduled_at, lease_expires_at, \
    progressed_at, version, fence, max_attempts, attempts, priority, progress_percent, running, cancel_requested, \
    job_type, queue, head_hash, worker_id, error_code, error_message";

/// Columns of the view of finished jobs.
pub(crate) const FINISHED_COLUMNS: &str = "created_at, scheduled_at, finished_at, tenant_id, job_id, version, \
    attempts, max_attempts, priority, resolved, status, job_type, queue, error_code, error_message";

/// A finished row as a tuple that either database decodes.
pub(crate) type FinishedColumns = (
    i64,
    i64,
    i64,
    uuid::Uuid,
    uuid::Uuid,
    i32,
    i32,
    i32,
    i16,
    bool,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
);

/// The row of that tuple.
pub(crate) fn finished_row(row: FinishedColumns) -> Result<FinishedRow, sqlx::Error> {
    let status =
        Status::parse(&row.10).ok_or_else(|| sqlx::Error::Decode(format!("status {:?}", row.10).into()))?;
    Ok(FinishedRow {
        created_at: Timestamp::from_micros(row.0),
        scheduled_at: Timestamp::from_micros(row.1),
        finished_at: Timestamp::from_micros(row.2),
        tenant_id: TenantId(row.3),
        job_id: JobId(row.4),
        version: Version(row.5 as u32),
        attempts: row.6 as u32,
        max_attempts: row.7 as u32,
        priority: row.8 as u8,
        resolved: row.9,
        status,
        job_type: row.11,
        queue: row.12,
        error_code: row.13,
        error_message: row.14,
    })
}
