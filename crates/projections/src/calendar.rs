//! When leases end. One row names all jobs of one lease or renewal; the queue itself has no index on the
//! ends of leases, nor on what runs, so that leasing a job moves nothing but its row.
//!
//! Whatever runs is named by a row that ends when its lease does. The reverse need not hold: a row may
//! name jobs that are finished, or were renewed since. Such a row is deleted by the worker that let go of
//! its last job, or else by the reaper when its time comes.

use std::collections::{BTreeMap, HashSet};

use bpc_core::job::QueueRow;
use bpc_core::{EventId, JobId, Timestamp};
use bpc_eventstore::{Conn, StoreError, entropy, portable};
use uuid::Uuid;

/// One lease of many jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId(pub Uuid);

impl LeaseId {
    /// A new one.
    pub fn fresh(now: Timestamp) -> LeaseId {
        LeaseId(EventId::fresh(now, entropy()).0)
    }
}

/// A row of the calendar.
#[derive(Clone, Debug)]
pub(crate) struct LeaseRow {
    pub(crate) lease_id: LeaseId,
    pub(crate) expires_at: Timestamp,
    /// 16 bytes each.
    pub(crate) job_ids: Vec<u8>,
}

impl LeaseRow {
    pub(crate) fn new(lease_id: LeaseId, expires_at: Timestamp, jobs: impl Iterator<Item = JobId>) -> Self {
        LeaseRow { lease_id, expires_at, job_ids: jobs.flat_map(|job| job.0.into_bytes()).collect() }
    }
}

/// The rows for jobs that run when these are written: one for each time at which leases end.
pub(crate) fn rows_for<'a>(rows: impl Iterator<Item = &'a QueueRow>) -> Vec<LeaseRow> {
    let mut ends: BTreeMap<Timestamp, Vec<JobId>> = BTreeMap::new();
    for row in rows.filter(|row| row.running) {
        if let Some(end) = row.lease_expires_at {
            ends.entry(end).or_default().push(row.job_id);
        }
    }
    let row =
        |(end, jobs): (Timestamp, Vec<JobId>)| LeaseRow::new(LeaseId::fresh(end), end, jobs.into_iter());
    ends.into_iter().map(row).collect()
}

/// Leases that have ended, the first ones first, at most `limit`, with the jobs they name.
pub(crate) async fn ended_leases(
    conn: &mut Conn<'_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(LeaseId, Vec<JobId>)>, StoreError> {
    let sql = "SELECT lease_id, job_ids FROM leases WHERE lease_expires_at <= $1 \
        ORDER BY lease_expires_at LIMIT $2";
    let rows: Vec<(Uuid, Vec<u8>)> = portable!(conn, c => {
        sqlx::query_as(sql).bind(now.as_micros()).bind(limit).fetch_all(&mut **c).await
    })?;
    Ok(rows.into_iter().map(|(id, jobs)| (LeaseId(id), job_ids(&jobs))).collect())
}

/// Every job that may be running: all that do are among them.
pub(crate) async fn leased_jobs(conn: &mut Conn<'_>) -> Result<Vec<JobId>, StoreError> {
    let sql = "SELECT job_ids FROM leases";
    let rows: Vec<Vec<u8>> = portable!(conn, c => sqlx::query_scalar(sql).fetch_all(&mut **c).await)?;
    let mut jobs: Vec<JobId> = rows.iter().flat_map(|row| job_ids(row)).collect();
    jobs.sort_unstable();
    jobs.dedup();
    Ok(jobs)
}

/// Jobs that run although no lease that ends when theirs does names them: should their worker die, nobody
/// would ever take them back.
pub(crate) async fn unnamed_jobs(conn: &mut Conn<'_>) -> Result<Vec<JobId>, StoreError> {
    let sql = "SELECT lease_expires_at, job_ids FROM leases";
    let rows: Vec<(i64, Vec<u8>)> = portable!(conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await)?;
    let named: HashSet<(i64, JobId)> =
        rows.iter().flat_map(|(end, jobs)| job_ids(jobs).into_iter().map(|job| (*end, job))).collect();
    let running = running_rows(conn).await?.into_iter();
    Ok(running.filter(|it| !named.contains(it)).map(|(_, job)| job).collect())
}

/// Name everything that runs anew, inside the transaction that `conn` is in.
pub(crate) async fn rewrite(conn: &mut Conn<'_>) -> Result<(), StoreError> {
    let mut ends: BTreeMap<i64, Vec<JobId>> = BTreeMap::new();
    for (end, job) in running_rows(conn).await? {
        ends.entry(end).or_default().push(job);
    }
    conn.execute("DELETE FROM leases").await?;
    for (end, jobs) in ends {
        let end = Timestamp::from_micros(end);
        let row = LeaseRow::new(LeaseId::fresh(end), end, jobs.into_iter());
        let sql = "INSERT INTO leases (lease_id, lease_expires_at, job_ids) VALUES ($1, $2, $3)";
        portable!(&mut *conn, c => {
            let query = sqlx::query(sql).bind(row.lease_id.0).bind(row.expires_at.as_micros()).bind(&row.job_ids);
            query.execute(&mut **c).await.map(drop)
        })?;
    }
    Ok(())
}

async fn running_rows(conn: &mut Conn<'_>) -> Result<Vec<(i64, JobId)>, StoreError> {
    let sql = "SELECT lease_expires_at, job_id FROM job_queue WHERE running AND lease_expires_at IS NOT NULL";
    let rows: Vec<(i64, Uuid)> = portable!(conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await)?;
    Ok(rows.into_iter().map(|(end, job)| (end, JobId(job))).collect())
}

fn job_ids(bytes: &[u8]) -> Vec<JobId> {
    let id = |id: &[u8; 16]| JobId(Uuid::from_bytes(*id));
    bytes.as_chunks().0.iter().map(id).collect()
}
