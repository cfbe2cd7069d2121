//! The job list: live and finished jobs together, newest first.

use bpc_core::job::{Placement, QueueRow};
use bpc_core::{JobId, Status, TenantId, Timestamp};
use bpc_eventstore::{Conn, StoreError, portable};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::calendar::leased_jobs;
use crate::columns::{
    FINISHED_COLUMNS, FinishedColumns, QUEUE_COLUMNS, finished_row, queue_row_of_postgres,
    queue_row_of_sqlite,
};
use crate::lanes::Lane;
use crate::{postgres, sqlite};

/// Which jobs to list. Every `None` means "any", except that a tenant is left out only on purpose.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Of this tenant; `None` crosses tenants.
    pub tenant: Option<TenantId>,
    /// With this status.
    pub status: Option<Status>,
    /// Of this type.
    pub job_type: Option<String>,
    /// In this queue.
    pub queue: Option<String>,
    /// Enqueued at or after.
    pub from: Option<Timestamp>,
    /// Enqueued before.
    pub to: Option<Timestamp>,
    /// At most so many.
    pub limit: u32,
}

/// One line of the list: a row of either view.
pub type JobLine = Placement;

/// How many jobs of a type and queue have a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCount {
    /// The status.
    pub status: Status,
    /// The type.
    pub job_type: String,
    /// The queue.
    pub queue: String,
    /// So many.
    pub jobs: u64,
}

/// Bind what [`query`] numbered.
macro_rules! bind {
    ($query:expr, $filter:expr) => {{
        let mut query = $query;
        if let Some(tenant) = $filter.tenant {
            query = query.bind(tenant.0);
        }
        if let Some(job_type) = &$filter.job_type {
            query = query.bind(job_type);
        }
        if let Some(queue) = &$filter.queue {
            query = query.bind(queue);
        }
        if let Some(from) = $filter.from {
            query = query.bind(from.as_micros());
        }
        if let Some(to) = $filter.to {
            query = query.bind(to.as_micros());
        }
        query
    }};
}

/// The jobs that fit the filter, newest first.
pub async fn list_jobs(conn: &mut Conn<'_>, filter: &JobFilter) -> Result<Vec<JobLine>, StoreError> {
    let mut lines: Vec<JobLine> = Vec::new();
    if filter.status.is_none_or(|status| !status.is_finished()) {
        lines.extend(live_jobs(conn, filter).await?.into_iter().map(Placement::Queue));
    }
    if filter.status.is_none_or(Status::is_finished) {
        let sql =
            query(FINISHED_COLUMNS, "finished_jobs", filter, "status = ", |status| format!("'{status}'"));
        let rows: Vec<FinishedColumns> = portable!(conn, c => {
            bind!(sqlx::query_as(AssertSqlSafe(sql)), filter).fetch_all(&mut **c).await
        })?;
        for row in rows {
            lines.push(Placement::Finished(finished_row(row)?));
        }
    }
    lines.sort_by_key(|line| std::cmp::Reverse(created(line)));
    lines.truncate(filter.limit as usize);
    Ok(lines)
}

async fn live_jobs(conn: &mut Conn<'_>, filter: &JobFilter) -> Result<Vec<QueueRow>, StoreError> {
    let running = |status| if status == Status::Running { "true" } else { "false" }.to_owned();
    let sql = query(QUEUE_COLUMNS, "job_queue", filter, "running = ", running);
    let rows = match conn {
        Conn::Postgres(c) => {
            let rows = bind!(sqlx::query(AssertSqlSafe(sql)), filter).fetch_all(&mut **c).await?;
            rows.iter().map(|row| queue_row_of_postgres(row, 0)).collect::<Result<_, _>>()
        }
        Conn::Sqlite(c) => {
            let rows = bind!(sqlx::query(AssertSqlSafe(sql)), filter).fetch_all(&mut **c).await?;
            rows.iter().map(|row| queue_row_of_sqlite(row, 0)).collect::<Result<_, _>>()
        }
    };
    Ok(rows?)
}

/// The statement for a filter; only what is filtered by stands in it, as parameters in this order.
fn query(
    columns: &str,
    table: &str,
    filter: &JobFilter,
    status_is: &str,
    status_value: impl Fn(Status) -> String,
) -> String {
    let mut parameters = 0;
    let mut parameter = |present: bool, condition: &str| {
        parameters += usize::from(present);
        present.then(|| format!("{condition} ${parameters}"))
    };
    let mut conditions: Vec<String> = [
        parameter(filter.tenant.is_some(), "tenant_id ="),
        parameter(filter.job_type.is_some(), "job_type ="),
        parameter(filter.queue.is_some(), "queue ="),
        parameter(filter.from.is_some(), "created_at >="),
        parameter(filter.to.is_some(), "created_at <"),
    ]
    .into_iter()
    .flatten()
    .collect();
    conditions.extend(filter.status.map(|status| format!("{status_is}{}", status_value(status))));
    let condition = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
    format!(
        "SELECT {columns} FROM {table} WHERE {condition} ORDER BY created_at DESC, job_id DESC LIMIT {}",
        filter.limit
    )
}

fn created(line: &JobLine) -> (Timestamp, JobId) {
    match line {
        Placement::Queue(row) => (row.created_at, row.job_id),
        Placement::Finished(row) => (row.created_at, row.job_id),
    }
}

const BY_STATUS: &str = "SELECT status, job_type, queue, count(*) FROM (\
        SELECT tenant_id, job_type, queue, CASE WHEN running THEN 'RUNNING' ELSE 'QUEUED' END AS status FROM job_queue \
        UNION ALL SELECT tenant_id, job_type, queue, status FROM finished_jobs\
    ) AS jobs WHERE tenant_id = $1 GROUP BY status, job_type, queue ORDER BY status, job_type, queue";

/// How many jobs of a tenant stand where.
pub async fn jobs_by_status(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<StatusCount>, StoreError> {
    let rows: Vec<(String, String, String, i64)> =
        portable!(conn, c => sqlx::query_as(BY_STATUS).bind(tenant.0).fetch_all(&mut **c).await)?;
    let count = |(status, job_type, queue, jobs): (String, String, String, i64)| {
        let status =
            Status::parse(&status).ok_or_else(|| StoreError::Damaged(format!("status {status:?}")))?;
        Ok(StatusCount { status, job_type, queue, jobs: jobs as u64 })
    };
    rows.into_iter().map(count).collect()
}

/// Tenant, queue and type of running jobs, and how many there are of each.
pub(crate) type Running = (Uuid, String, String, i64);

/// How many jobs of each queue and type are running, over all tenants: what limits are held against.
pub async fn running_jobs(conn: &mut Conn<'_>) -> Result<Vec<(String, String, u64)>, StoreError> {
    let rows = running(conn).await?;
    Ok(rows.into_iter().map(|(_, queue, job_type, jobs)| (queue, job_type, jobs as u64)).collect())
}

/// Is a job of one of these lanes running, at any worker? `is_meant` says which lanes.
pub async fn is_any_running(
    conn: &mut Conn<'_>,
    is_meant: impl Fn(&Lane) -> bool,
) -> Result<bool, StoreError> {
    let is_meant = |(tenant, queue, ..): Running| is_meant(&Lane { tenant_id: TenantId(tenant), queue });
    Ok(running(conn).await?.into_iter().any(is_meant))
}

async fn running(conn: &mut Conn<'_>) -> Result<Vec<Running>, StoreError> {
    let jobs = leased_jobs(conn).await?;
    match conn {
        Conn::Postgres(conn) => postgres::running_jobs(conn, &jobs).await,
        Conn::Sqlite(conn) => sqlite::running_jobs(conn, &jobs).await,
    }
}

const LIVE_JOB: &str = "SELECT 1 FROM job_queue WHERE job_id = $1 FOR UPDATE";

/// Hold a live job's row until the transaction ends, so that its head cannot move; on SQLite the
/// transaction itself does that.
pub async fn lock_job(conn: &mut Conn<'_>, job: JobId) -> Result<(), StoreError> {
    if let Conn::Postgres(conn) = conn {
        sqlx::query(LIVE_JOB).bind(job.0).execute(&mut **conn).await?;
    }
    Ok(())
}
