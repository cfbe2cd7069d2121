//! The job views in PostgreSQL's tongue.

/// One column of many rows.
macro_rules! column {
    ($rows:expr, $row:ident => $value:expr) => {
        $rows.iter().map(|$row| $value).collect::<Vec<_>>()
    };
}

pub(crate) mod alone;
pub(crate) mod cohort;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use bpc_core::job::QueueRow;
use bpc_core::{JobId, Timestamp, Version};
use bpc_eventstore::StoreError;
use bpc_eventstore::postgres::{Composed, append_cohorts, append_events};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row};
use uuid::Uuid;

use crate::cohort::NewCohorts;
use crate::columns::{head_hash, queue_row_of_postgres};
use crate::lanes::LaneRoom;
use crate::leasing::{Leasable, Place, WaitingRow};
use crate::list::Running;
use crate::write::JobWrites;

use cohort::write_pieces;

/// All of `writes` as one statement.
pub(crate) fn compose(writes: &JobWrites) -> Result<Composed, StoreError> {
    let mut statement = Composed::default();
    let new = NewCohorts::of(&writes.insert_queue, &writes.events);
    append_cohorts(
        new.events.iter().map(|events| events.iter().collect()).chain(writes.cohorts.events()),
        &mut statement,
    )?;
    append_events(&new.other_events, &mut statement)?;
    write_pieces(&writes.cohorts, &new.pieces, &mut statement)?;
    insert_queue_rows(&new.other_rows, &mut statement)?;
    update_queue_rows(writes, &mut statement)?;
    delete_queue_rows(writes, &mut statement)?;
    insert_finished_jobs(writes, &mut statement)?;
    delete_finished_jobs(writes, &mut statement)?;
    insert_leases(writes, &mut statement)?;
    delete_leases(writes, &mut statement)?;
    if !writes.wake.is_empty() {
        let wake = "SELECT pg_notify('bpc_jobs', lane) FROM unnest($1::text[]) AS lane";
        statement.select(wake, |args| args.add(&writes.wake))?;
    }
    Ok(statement)
}

fn insert_queue_rows(rows: &[&QueueRow], statement: &mut Composed) -> Result<(), StoreError> {
    queue_rows(include_str!("postgres/sql/insert_queue_rows.sql"), rows, statement)
}

fn update_queue_rows(writes: &JobWrites, statement: &mut Composed) -> Result<(), StoreError> {
    let rows: Vec<&QueueRow> = writes.update_queue.iter().collect();
    queue_rows(include_str!("postgres/sql/update_queue_rows.sql"), &rows, statement)
}

/// A statement that takes every column of some queue rows.
fn queue_rows(sql: &'static str, rows: &[&QueueRow], statement: &mut Composed) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(sql, |args| {
        args.add(column!(rows, row => row.job_id.0))?;
        args.add(column!(rows, row => row.tenant_id.0))?;
        args.add(column!(rows, row => row.created_at.as_micros()))?;
        args.add(column!(rows, row => row.scheduled_at.as_micros()))?;
        args.add(column!(rows, row => row.lease_expires_at.map(Timestamp::as_micros)))?;
        args.add(column!(rows, row => row.progressed_at.map(Timestamp::as_micros)))?;
        args.add(column!(rows, row => row.version.0 as i32))?;
        args.add(column!(rows, row => row.fence.map(|fence| fence.0 as i32)))?;
        args.add(column!(rows, row => row.max_attempts as i32))?;
        args.add(column!(rows, row => row.attempts as i32))?;
        args.add(column!(rows, row => i16::from(row.priority)))?;
        args.add(column!(rows, row => row.progress_percent.map(i16::from)))?;
        args.add(column!(rows, row => row.running))?;
        args.add(column!(rows, row => row.cancel_requested))?;
        args.add(column!(rows, row => &*row.job_type))?;
        args.add(column!(rows, row => &*row.queue))?;
        args.add(column!(rows, row => row.head_hash.as_ref().map(|hash| &hash.0[..])))?;
        args.add(column!(rows, row => row.worker_id.as_deref()))?;
        args.add(column!(rows, row => row.error_code.as_deref()))?;
        args.add(column!(rows, row => row.error_message.as_deref()))
    })
}

fn delete_queue_rows(writes: &JobWrites, statement: &mut Composed) -> Result<(), StoreError> {
    let rows = &writes.delete_queue;
    if rows.is_empty() {
        return Ok(());
    }
    statement
        .part(include_str!("postgres/sql/delete_queue_rows.sql"), |args| args.add(column!(rows, id => id.0)))
}

fn insert_finished_jobs(writes: &JobWrites, statement: &mut Composed) -> Result<(), StoreError> {
    let rows = &writes.insert_finished;
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("postgres/sql/insert_finished_jobs.sql"), |args| {
        args.add(column!(rows, row => row.created_at.as_micros()))?;
        args.add(column!(rows, row => row.scheduled_at.as_micros()))?;
        args.add(column!(rows, row => row.finished_at.as_micros()))?;
        args.add(column!(rows, row => row.tenant_id.0))?;
        args.add(column!(rows, row => row.job_id.0))?;
        args.add(column!(rows, row => row.version.0 as i32))?;
        args.add(column!(rows, row => row.attempts as i32))?;
        args.add(column!(rows, row => row.max_attempts as i32))?;
        args.add(column!(rows, row => i16::from(row.priority)))?;
        args.add(column!(rows, row => row.resolved))?;
        args.add(column!(rows, row => row.status.as_str()))?;
        args.add(column!(rows, row => &*row.job_type))?;
        args.add(column!(rows, row => &*row.queue))?;
        args.add(column!(rows, row => row.error_code.as_deref()))?;
        args.add(column!(rows, row => row.error_message.as_deref()))
    })
}

fn delete_finished_jobs(writes: &JobWrites, statement: &mut Composed) -> Result<(), StoreError> {
    let rows = &writes.delete_finished;
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("postgres/sql/delete_finished_jobs.sql"), |args| {
        args.add(column!(rows, key => key.0.0))?;
        args.add(column!(rows, key => key.1.as_micros()))?;
        args.add(column!(rows, key => key.2.0))
    })
}

fn insert_leases(writes: &JobWrites, statement: &mut Composed) -> Result<(), StoreError> {
    let rows = writes.insert_leases();
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("postgres/sql/insert_leases.sql"), |args| {
        args.add(column!(rows, row => row.lease_id.0))?;
        args.add(column!(rows, row => row.expires_at.as_micros()))?;
        args.add(column!(rows, row => &row.job_ids[..]))
    })
}

pub(crate) fn delete_leases(writes: &JobWrites, statement: &mut Composed) -> Result<(), StoreError> {
    let rows = &writes.delete_leases;
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("postgres/sql/delete_leases.sql"), |args| args.add(column!(rows, id => id.0)))
}

pub(crate) async fn leasable_jobs(
    conn: &mut PgConnection,
    due: Due<'_>,
) -> Result<(Option<Timestamp>, Vec<Leasable>), StoreError> {
    let sql = concat!(
        include_str!("postgres/due/due_jobs.sql"),
        include_str!("postgres/due/leasable_jobs.sql"),
        include_str!("postgres/due/found_jobs.sql")
    );
    let (now, jobs) = found_jobs(&due.bind(sql).bind(false).fetch_one(conn).await?)?;
    Ok((now, jobs.into_iter().flatten().collect()))
}

/// The rows of jobs that were found leasable say now that they are leased. Answers with their new places.
pub(crate) async fn lease_jobs(
    conn: &mut PgConnection,
    writes: &JobWrites,
) -> Result<HashMap<JobId, Place>, StoreError> {
    let Some((_, lease)) = &writes.lease else {
        return Ok(HashMap::new());
    };
    let rows: Vec<(Uuid, String)> = sqlx::query_as(include_str!("postgres/sql/lease_jobs.sql"))
        .bind(column!(writes.lease_queue, it => it.1.row()))
        .bind(&*lease.worker_id)
        .bind(lease.expires_at.as_micros())
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|(job, place)| (JobId(job), Place::Row(place))).collect())
}

/// Due jobs as they were before this leased them, but for their places.
#[derive(Default)]
pub(crate) struct TakenRows {
    pub(crate) now: Timestamp,
    pub(crate) jobs: Vec<Leasable>,
    /// How many were leased: more, if some are damaged.
    pub(crate) leased: usize,
    /// Nothing was, because cohorts are due as well.
    pub(crate) is_cohort_due: bool,
}

/// Lease due jobs that have rows of their own; `if_alone` only if no cohort is due.
pub(crate) async fn take_jobs(
    conn: &mut PgConnection,
    due: Due<'_>,
    worker_id: &str,
    ttl: Duration,
    if_alone: bool,
) -> Result<TakenRows, StoreError> {
    let sql = concat!(
        include_str!("postgres/due/due_jobs.sql"),
        include_str!("postgres/due/take_jobs.sql"),
        include_str!("postgres/due/found_jobs.sql")
    );
    let take = due.bind(sql).bind(if_alone).bind(worker_id).bind(ttl.as_micros() as i64);
    let found = take.fetch_one(conn).await?;
    let (now, jobs) = found_jobs(&found)?;
    let (leased, jobs) = (jobs.len(), jobs.into_iter().flatten().collect());
    Ok(TakenRows { now: now.unwrap_or_default(), jobs, leased, is_cohort_due: found.try_get(8)? })
}

/// Which due jobs are meant: the parameters of `due_jobs.sql` and `due_pieces.sql`.
#[derive(Clone, Copy)]
pub(crate) struct Due<'a> {
    pub(crate) now: Option<Timestamp>,
    pub(crate) lanes: &'a [LaneRoom],
    pub(crate) types: &'a [&'a str],
    pub(crate) limit: usize,
}

impl<'a> Due<'a> {
    pub(crate) fn bind(self, sql: &'static str) -> Query<'a, Postgres, PgArguments> {
        let Due { now, lanes, types, limit } = self;
        let limit = limit.min(lanes.iter().fold(0, |sum, lane| lane.room.saturating_add(sum)));
        let since = lanes.first().map(|lane| lane.since.map(Timestamp::as_micros)).unwrap_or_default();
        sqlx::query(sql)
            .bind(now.map(Timestamp::as_micros))
            .bind(column!(lanes, lane => lane.lane.tenant_id.0))
            .bind(column!(lanes, lane => &*lane.lane.queue))
            .bind(column!(lanes, lane => lane.room.min(i32::MAX as usize) as i32))
            .bind(limit as i64)
            .bind(types)
            .bind(since.to_vec())
    }
}

/// The time, and the jobs of `found_jobs.sql`; nothing in the place of one that is damaged.
fn found_jobs(found: &PgRow) -> Result<(Option<Timestamp>, Vec<Option<Leasable>>), StoreError> {
    let Some(now) = found.try_get::<Option<i64>, _>(0)? else {
        return Ok((None, Vec::new()));
    };
    let enqueued: Vec<Option<Vec<u8>>> = found.try_get(1)?;
    let ids: Vec<Uuid> = found.try_get(2)?;
    let versions: Vec<i32> = found.try_get(3)?;
    let hashes: Vec<Option<Vec<u8>>> = found.try_get(4)?;
    let attempts: Vec<i32> = found.try_get(5)?;
    let scheduled: Vec<i64> = found.try_get(6)?;
    let places: Vec<String> = found.try_get(7)?;
    let job = |(n, place): (usize, String)| {
        let row = WaitingRow {
            enqueued_bytes: enqueued[n].as_deref().unwrap_or_default(),
            job_id: JobId(ids[n]),
            version: Version(versions[n] as u32),
            head_hash: head_hash(hashes[n].as_deref())?,
            attempts: attempts[n] as u32,
            scheduled_at: Timestamp::from_micros(scheduled[n]),
            place: Place::Row(place),
        };
        Ok(row.into_leasable())
    };
    let jobs = places.into_iter().enumerate().map(job).collect::<Result<_, StoreError>>()?;
    Ok((Some(Timestamp::from_micros(now)), jobs))
}

pub(crate) async fn held_leases(
    conn: &mut PgConnection,
    now: Option<Timestamp>,
    held: &[(JobId, Version)],
) -> Result<(Option<Timestamp>, Vec<QueueRow>), StoreError> {
    let rows = sqlx::query(include_str!("postgres/sql/held_leases.sql"))
        .bind(now.map(Timestamp::as_micros))
        .bind(column!(held, it => it.0.0))
        .fetch_all(conn)
        .await?;
    let (now, mut rows) = taken_rows(&rows)?;
    let fences: HashSet<(JobId, Version)> = held.iter().copied().collect();
    rows.retain(|row| row.fence.is_some_and(|fence| fences.contains(&(row.job_id, fence))));
    Ok((now, rows))
}

pub(crate) async fn finish_leases(
    conn: &mut PgConnection,
    now: Option<Timestamp>,
    worker_id: &str,
    jobs: &[(JobId, &Place)],
) -> Result<(Timestamp, Vec<(JobId, Version)>), StoreError> {
    let (now, jobs, fences): (i64, Option<Vec<Uuid>>, Option<Vec<i32>>) =
        sqlx::query_as(include_str!("postgres/sql/finish_leases.sql"))
            .bind(now.map(Timestamp::as_micros))
            .bind(column!(jobs, it => it.1.row()))
            .bind(worker_id)
            .fetch_one(conn)
            .await?;
    let fences = fences.unwrap_or_default().into_iter().map(|fence| Version(fence as u32));
    let moved = jobs.unwrap_or_default().into_iter().map(JobId).zip(fences).collect();
    Ok((Timestamp::from_micros(now), moved))
}

/// The rows that could be locked, and how many there are.
pub(crate) async fn expired_leases(
    conn: &mut PgConnection,
    now: Timestamp,
    jobs: &[JobId],
) -> Result<(Vec<QueueRow>, usize), StoreError> {
    let ids = column!(jobs, id => id.0);
    let rows = sqlx::query(include_str!("postgres/sql/expired_leases.sql"))
        .bind(now.as_micros())
        .bind(&ids)
        .fetch_all(&mut *conn)
        .await?;
    let count = "SELECT count(*) FROM job_queue WHERE job_id = ANY($2::uuid[]) AND running AND lease_expires_at <= $1";
    let all: i64 = sqlx::query_scalar(count).bind(now.as_micros()).bind(&ids).fetch_one(conn).await?;
    Ok((taken_rows(&rows)?.1, all as usize))
}

pub(crate) async fn running_jobs(
    conn: &mut PgConnection,
    jobs: &[JobId],
) -> Result<Vec<Running>, StoreError> {
    let sql = include_str!("postgres/sql/running_jobs.sql");
    Ok(sqlx::query_as(sql).bind(column!(jobs, id => id.0)).fetch_all(conn).await?)
}

/// Queue rows behind a column with the time.
fn taken_rows(rows: &[PgRow]) -> Result<(Option<Timestamp>, Vec<QueueRow>), StoreError> {
    let now = first_now(rows)?;
    Ok((now, rows.iter().map(|row| queue_row_of_postgres(row, 1)).collect::<Result<_, _>>()?))
}

fn first_now(rows: &[PgRow]) -> Result<Option<Timestamp>, sqlx::Error> {
    rows.first().map(|row| row.try_get(0).map(Timestamp::from_micros)).transpose()
}
