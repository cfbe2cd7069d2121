//! The job views in SQLite's tongue.

pub(crate) mod alone;

use bpc_core::job::QueueRow;
use bpc_core::{JobId, Timestamp, Version};
use bpc_eventstore::StoreError;
use bpc_eventstore::sqlite::{
    append_events, execute_rows, execute_rows_behind, fetch_rows, fetch_rows_behind,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::columns::{queue_row_of_sqlite, waiting_row_of_sqlite};
use crate::lanes::LaneRoom;
use crate::leasing::Leasable;
use crate::list::Running;
use crate::write::JobWrites;

/// Write all of it, inside the transaction that `conn` is in.
pub(crate) async fn write_jobs(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    append_events(conn, &writes.events).await?;
    insert_queue_rows(conn, writes).await?;
    lease_jobs(conn, writes).await?;
    update_queue_rows(conn, writes).await?;
    delete_queue_rows(conn, writes).await?;
    delete_finished_jobs(conn, writes).await?;
    insert_finished_jobs(conn, writes).await?;
    insert_leases(conn, writes).await?;
    let sql = include_str!("sqlite/sql/delete_leases.sql");
    execute_rows(conn, sql, &writes.delete_leases, |query, id| query.bind(id.0)).await
}

/// Write only the rows of views that begin empty.
pub(crate) async fn insert_rows(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    insert_queue_rows(conn, writes).await?;
    insert_finished_jobs(conn, writes).await?;
    insert_leases(conn, writes).await
}

async fn insert_leases(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    let sql = include_str!("sqlite/sql/insert_leases.sql");
    execute_rows(conn, sql, &writes.insert_leases(), |query, row| {
        query.bind(row.lease_id.0).bind(row.expires_at.as_micros()).bind(&row.job_ids[..])
    })
    .await
}

async fn insert_queue_rows(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    let sql = include_str!("sqlite/sql/insert_queue_rows.sql");
    execute_rows(conn, sql, &writes.insert_queue, |query, row| {
        query
            .bind(row.job_id.0)
            .bind(row.tenant_id.0)
            .bind(row.created_at.as_micros())
            .bind(row.scheduled_at.as_micros())
            .bind(row.lease_expires_at.map(Timestamp::as_micros))
            .bind(row.progressed_at.map(Timestamp::as_micros))
            .bind(row.version.0)
            .bind(row.fence.map(|fence| fence.0))
            .bind(row.max_attempts)
            .bind(row.attempts)
            .bind(row.priority)
            .bind(row.progress_percent)
            .bind(row.running)
            .bind(row.cancel_requested)
            .bind(&*row.job_type)
            .bind(&*row.queue)
            .bind(row.head_hash.as_ref().map(|hash| &hash.0[..]))
            .bind(row.worker_id.as_deref())
            .bind(row.error_code.as_deref())
            .bind(row.error_message.as_deref())
    })
    .await
}

async fn lease_jobs(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    let Some((_, lease)) = &writes.lease else {
        return Ok(());
    };
    let sql = include_str!("sqlite/sql/lease_jobs.sql");
    let (worker_id, expires_at) = (lease.worker_id.clone(), lease.expires_at.as_micros());
    let leased = execute_rows_behind(
        conn,
        sql,
        |query| query.bind(worker_id.clone()).bind(expires_at),
        &writes.lease_queue,
        |query, it| query.bind(it.0.0),
    )
    .await?;
    // Found waiting before this transaction began, and not waiting any more.
    if leased < writes.lease_queue.len() as u64 {
        return Err(StoreError::Conflict(sqlx::Error::RowNotFound));
    }
    Ok(())
}

async fn update_queue_rows(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    let sql = include_str!("sqlite/sql/update_queue_rows.sql");
    execute_rows(conn, sql, &writes.update_queue, |query, row| {
        query
            .bind(row.job_id.0)
            .bind(row.scheduled_at.as_micros())
            .bind(row.lease_expires_at.map(Timestamp::as_micros))
            .bind(row.progressed_at.map(Timestamp::as_micros))
            .bind(row.version.0)
            .bind(row.fence.map(|fence| fence.0))
            .bind(row.attempts)
            .bind(row.progress_percent)
            .bind(row.running)
            .bind(row.cancel_requested)
            .bind(row.head_hash.as_ref().map(|hash| &hash.0[..]))
            .bind(row.worker_id.as_deref())
            .bind(row.error_code.as_deref())
            .bind(row.error_message.as_deref())
    })
    .await
}

async fn delete_queue_rows(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    let sql = include_str!("sqlite/sql/delete_queue_rows.sql");
    execute_rows(conn, sql, &writes.delete_queue, |query, id| query.bind(id.0)).await
}

async fn insert_finished_jobs(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    let sql = include_str!("sqlite/sql/insert_finished_jobs.sql");
    execute_rows(conn, sql, &writes.insert_finished, |query, row| {
        query
            .bind(row.created_at.as_micros())
            .bind(row.scheduled_at.as_micros())
            .bind(row.finished_at.as_micros())
            .bind(row.tenant_id.0)
            .bind(row.job_id.0)
            .bind(row.version.0)
            .bind(row.attempts)
            .bind(row.max_attempts)
            .bind(row.priority)
            .bind(row.resolved)
            .bind(row.status.as_str())
            .bind(&*row.job_type)
            .bind(&*row.queue)
            .bind(row.error_code.as_deref())
            .bind(row.error_message.as_deref())
    })
    .await
}

async fn delete_finished_jobs(conn: &mut SqliteConnection, writes: &JobWrites) -> Result<(), StoreError> {
    let sql = include_str!("sqlite/sql/delete_finished_jobs.sql");
    execute_rows(conn, sql, &writes.delete_finished, |query, key| {
        query.bind(key.0.0).bind(key.1.as_micros()).bind(key.2.0)
    })
    .await
}

pub(crate) async fn leasable_jobs(
    conn: &mut SqliteConnection,
    now: Timestamp,
    lanes: &[LaneRoom],
    types: &[&str],
    limit: usize,
) -> Result<Vec<Leasable>, StoreError> {
    let types = serde_json::to_string(types).expect("strings are JSON");
    let mut found: Vec<Leasable> = Vec::new();
    for lane in lanes {
        let [a, b, c, d] = lane.since.map(Timestamp::as_micros);
        let rows = sqlx::query(include_str!("sqlite/sql/leasable_jobs.sql"))
            .bind(lane.lane.tenant_id.0)
            .bind(&*lane.lane.queue)
            .bind(now.as_micros())
            .bind(lane.room.min(limit) as i64)
            .bind(&types)
            .bind(a)
            .bind(b)
            .bind(c)
            .bind(d)
            .fetch_all(&mut *conn)
            .await?;
        for row in &rows {
            found.extend(waiting_row_of_sqlite(row)?.into_leasable());
        }
    }
    Ok(found)
}

pub(crate) async fn held_leases(
    conn: &mut SqliteConnection,
    held: &[(JobId, Version)],
) -> Result<Vec<QueueRow>, StoreError> {
    let sql = include_str!("sqlite/sql/held_leases.sql");
    let rows = fetch_rows(conn, sql, held, |query, (job, fence)| query.bind(job.0).bind(fence.0)).await?;
    Ok(rows.iter().map(|row| queue_row_of_sqlite(row, 1)).collect::<Result<_, _>>()?)
}

pub(crate) async fn finish_leases(
    conn: &mut SqliteConnection,
    now: Timestamp,
    finished_at: Timestamp,
    worker_id: &str,
    jobs: &[JobId],
) -> Result<Vec<(JobId, Version)>, StoreError> {
    let sql = include_str!("sqlite/sql/finish_leases.sql");
    let (worker_id, now, finished_at) = (worker_id.to_owned(), now.as_micros(), finished_at.as_micros());
    let rows = fetch_rows_behind(
        conn,
        sql,
        |query| query.bind(finished_at).bind(worker_id.clone()).bind(now),
        jobs,
        |query, id| query.bind(id.0),
    )
    .await?;
    // The success comes right behind the lease, whose version is the fence.
    let finished = |row: &SqliteRow| Ok((JobId(row.try_get(0)?), Version(row.try_get::<u32, _>(1)? - 1)));
    let finished: Vec<(JobId, Version)> = rows.iter().map(finished).collect::<Result<_, sqlx::Error>>()?;
    let sql = include_str!("sqlite/sql/delete_queue_rows.sql");
    execute_rows(conn, sql, &finished, |query, (id, _)| query.bind(id.0)).await?;
    Ok(finished)
}

pub(crate) async fn expired_leases(
    conn: &mut SqliteConnection,
    now: Timestamp,
    jobs: &[JobId],
) -> Result<Vec<QueueRow>, StoreError> {
    let sql = include_str!("sqlite/sql/expired_leases.sql");
    let micros = now.as_micros();
    let rows =
        fetch_rows_behind(conn, sql, |query| query.bind(micros), jobs, |query, id| query.bind(id.0)).await?;
    Ok(rows.iter().map(|row| queue_row_of_sqlite(row, 1)).collect::<Result<_, _>>()?)
}

pub(crate) async fn running_jobs(
    conn: &mut SqliteConnection,
    jobs: &[JobId],
) -> Result<Vec<Running>, StoreError> {
    let sql = include_str!("sqlite/sql/running_jobs.sql");
    let rows = fetch_rows(conn, sql, jobs, |query, id| query.bind(id.0)).await?;
    Ok(rows.iter().map(sqlx::FromRow::from_row).collect::<Result<_, _>>()?)
}
