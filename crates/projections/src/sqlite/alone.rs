//! What is a transaction of its own and happens thousands of times a second: new jobs, leases, and
//! successes that bring nothing else. Row by row, by statements that stay prepared, on the scribe's
//! connection.

use bpc_core::job::QueueRow;
use bpc_core::{EventRecord, Hash, JobId, Timestamp, Version};
use bpc_eventstore::StoreError;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, Row, params};
use uuid::Uuid;

use crate::lanes::LaneRoom;
use crate::leasing::{Leasable, Place, WaitingRow};
use crate::write::{Finishing, JobWrites};

/// Write all of it, if that is of new and leased jobs only, inside the transaction that `conn` is in.
pub(crate) fn write_jobs(conn: &Connection, writes: &JobWrites) -> Result<(), StoreError> {
    append_events(conn, &writes.events)?;
    insert_queue_rows(conn, &writes.insert_queue)?;
    lease_jobs(conn, writes)?;
    if writes.lease.is_some() {
        let mut insert = prepare(conn, include_str!("sql/insert_leases.sql"))?;
        for row in writes.insert_leases() {
            insert.execute(params![bytes(&row.lease_id.0), row.expires_at.as_micros(), &row.job_ids[..]])?;
        }
    }
    let mut delete = prepare(conn, include_str!("sql/delete_leases.sql"))?;
    for lease in &writes.delete_leases {
        delete.execute([bytes(&lease.0)])?;
    }
    Ok(())
}

/// Move jobs to the finished ones as succeeded. A conflict if any of them is not held any more as it was
/// leased.
pub(crate) fn finish_jobs(
    conn: &Connection,
    now: Timestamp,
    finishing: &Finishing,
) -> Result<(), StoreError> {
    let mut finish = prepare(conn, include_str!("alone/finish_job.sql"))?;
    let mut delete = prepare(conn, include_str!("alone/delete_job.sql"))?;
    let (at, now) = (finishing.at.as_micros(), now.as_micros());
    for (job, fence) in &finishing.jobs {
        let id = bytes(&job.0);
        if finish.execute(params![at, id, fence.0, finishing.worker_id, now])? != 1 {
            return Err(moved());
        }
        delete.execute([id])?;
    }
    Ok(())
}

/// Due jobs of these lanes, as [`super::leasable_jobs`] finds them.
pub(crate) fn leasable_jobs(
    conn: &Connection,
    now: Timestamp,
    lanes: &[LaneRoom],
    types: &str,
    limit: usize,
) -> Result<Vec<Leasable>, StoreError> {
    let mut select = prepare(conn, include_str!("sql/leasable_jobs.sql"))?;
    let mut found = Vec::new();
    for lane in lanes {
        let [a, b, c, d] = lane.since.map(Timestamp::as_micros);
        let (tenant, room) = (bytes(&lane.lane.tenant_id.0), lane.room.min(limit) as i64);
        let mut rows =
            select.query(params![tenant, lane.lane.queue, now.as_micros(), room, types, a, b, c, d])?;
        while let Some(row) = rows.next()? {
            found.extend(waiting_row(row)?.into_leasable());
        }
    }
    Ok(found)
}

fn waiting_row<'r>(row: &'r Row<'_>) -> Result<WaitingRow<'r>, StoreError> {
    Ok(WaitingRow {
        enqueued_bytes: blob(row, 0)?,
        job_id: JobId(Uuid::from_slice(blob(row, 1)?).map_err(|_| damaged("job_id"))?),
        version: Version(row.get(2)?),
        head_hash: hash(row, 3)?,
        attempts: row.get(4)?,
        scheduled_at: Timestamp::from_micros(row.get(5)?),
        place: Place::default(),
    })
}

fn blob<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], StoreError> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(bytes),
        _ => Err(damaged("a column of job_queue")),
    }
}

fn hash(row: &Row<'_>, column: usize) -> Result<Option<Hash>, StoreError> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => Hash::from_slice(blob(row, column)?).map(Some).ok_or_else(|| damaged("head_hash")),
    }
}

fn append_events(conn: &Connection, events: &[EventRecord]) -> Result<(), StoreError> {
    let mut insert = prepare(conn, bpc_eventstore::sqlite::APPEND_EVENTS)?;
    for event in events {
        insert.execute(params![
            bytes(&event.tenant_id.0),
            &*event.stream_type,
            bytes(&event.stream_id.0),
            event.version.0,
            &*event.event_type,
            event.occurred_at.as_micros(),
            &event.event_hash.0[..],
            &event.event_bytes[..],
        ])?;
    }
    Ok(())
}

fn insert_queue_rows(conn: &Connection, rows: &[QueueRow]) -> Result<(), StoreError> {
    let mut insert = prepare(conn, include_str!("alone/insert_new_queue_row.sql"))?;
    for row in rows {
        insert.execute(params![
            bytes(&row.job_id.0),
            bytes(&row.tenant_id.0),
            row.created_at.as_micros(),
            row.scheduled_at.as_micros(),
            row.max_attempts,
            row.priority,
            row.job_type,
            row.queue,
        ])?;
    }
    Ok(())
}

fn lease_jobs(conn: &Connection, writes: &JobWrites) -> Result<(), StoreError> {
    let Some((_, lease)) = &writes.lease else {
        return Ok(());
    };
    let mut update = prepare(conn, include_str!("alone/lease_job.sql"))?;
    let expires_at = lease.expires_at.as_micros();
    for (job, _) in &writes.lease_queue {
        if update.execute(params![lease.worker_id, expires_at, bytes(&job.0)])? != 1 {
            return Err(moved());
        }
    }
    Ok(())
}

fn prepare<'c>(conn: &'c Connection, sql: &str) -> Result<CachedStatement<'c>, StoreError> {
    Ok(conn.prepare_cached(sql)?)
}

fn bytes(id: &Uuid) -> &[u8] {
    id.as_bytes()
}

/// Found before this transaction began, and not as it was any more.
fn moved() -> StoreError {
    StoreError::Conflict(sqlx::Error::RowNotFound)
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(what.to_owned())
}
