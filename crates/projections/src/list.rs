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
use crate::postgres::cohort::{leave_alone, running_members};
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
        let filter = &newest(conn, filter, &ENDED).await?;
        let sql = query(FINISHED_COLUMNS, "ended_jobs", filter, ENDED.status_of_row);
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
    let filter = &newest(conn, filter, &LIVE).await?;
    let sql = query(QUEUE_COLUMNS, "live_jobs", filter, LIVE.status_of_row);
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

/// The two tables that PostgreSQL keeps a view in: of jobs with rows of their own, and of cohorts.
struct Tables {
    rows: &'static str,
    cohorts: &'static str,
    /// What is true of a row of that status, and of a piece whose members have it.
    status_of_row: fn(Status) -> String,
    status_of_piece: fn(Status) -> String,
}

const LIVE: Tables = Tables {
    rows: "job_queue",
    cohorts: "queue_cohorts",
    status_of_row: |status| if status == Status::Running { "running" } else { "NOT running" }.to_owned(),
    status_of_piece: |status| {
        format!("worker_id IS {}NULL", if status == Status::Running { "NOT " } else { "" })
    },
};

const ENDED: Tables = Tables {
    rows: "finished_jobs",
    cohorts: "finished_cohorts",
    status_of_row: |status| format!("status = '{status}'"),
    status_of_piece: |status| (status == Status::Succeeded).to_string(),
};

/// The filter with a beginning behind which there are enough jobs already. On PostgreSQL the jobs of cohorts come from no
/// index, so all that the filter fits would be read and put in order for the first few.
async fn newest(conn: &mut Conn<'_>, filter: &JobFilter, tables: &Tables) -> Result<JobFilter, StoreError> {
    let Conn::Postgres(conn) = conn else {
        return Ok(filter.clone());
    };
    let limit = filter.limit.max(1);
    let rows = query("created_at, job_id", tables.rows, filter, tables.status_of_row);
    let pieces =
        query("created_at, members, cohort_id AS job_id", tables.cohorts, filter, tables.status_of_piece);
    let sql = format!(
        "SELECT max(at) FROM (\
            (SELECT created_at AS at FROM ({rows}) AS job ORDER BY created_at DESC OFFSET {limit} - 1 LIMIT 1) \
            UNION ALL (SELECT created_at FROM (\
                SELECT created_at, sum(bit_count(members::bit(64))) OVER (ORDER BY created_at DESC) AS jobs \
                FROM ({pieces}) AS piece) AS so_far \
            WHERE jobs >= {limit} ORDER BY created_at DESC LIMIT 1)) AS enough"
    );
    let at: Option<i64> =
        bind!(sqlx::query_scalar(AssertSqlSafe(sql)), filter).fetch_one(&mut **conn).await?;
    Ok(JobFilter { from: at.map(Timestamp::from_micros).or(filter.from), ..filter.clone() })
}

/// The statement for a filter; only what is filtered by stands in it, as parameters in this order.
fn query(columns: &str, table: &str, filter: &JobFilter, status_is: fn(Status) -> String) -> String {
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
    conditions.extend(filter.status.map(status_is));
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

/// Counted from the tables: members are counted, not looked up.
macro_rules! by_status {
    ($cohorts:literal) => {
        concat!(
            "SELECT status, job_type, queue, CAST(sum(jobs) AS BIGINT) FROM (\
                SELECT tenant_id, job_type, queue, CASE WHEN running THEN 'RUNNING' ELSE 'QUEUED' END AS status, 1 AS jobs \
                FROM job_queue \
                UNION ALL SELECT tenant_id, job_type, queue, status, 1 FROM finished_jobs",
            $cohorts,
            ") AS jobs WHERE tenant_id = $1 GROUP BY status, job_type, queue ORDER BY status, job_type, queue"
        )
    };
}
const BY_STATUS_SQLITE: &str = by_status!("");
const BY_STATUS_POSTGRES: &str = by_status!(
    " UNION ALL SELECT tenant_id, job_type, queue, CASE WHEN worker_id IS NULL THEN 'QUEUED' ELSE 'RUNNING' END, \
        bit_count(members::bit(64)) FROM queue_cohorts \
    UNION ALL SELECT tenant_id, job_type, queue, 'SUCCEEDED', bit_count(members::bit(64)) FROM finished_cohorts"
);

/// How many jobs of a tenant stand where.
pub async fn jobs_by_status(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Vec<StatusCount>, StoreError> {
    let rows: Vec<(String, String, String, i64)> = match conn {
        Conn::Postgres(c) => sqlx::query_as(BY_STATUS_POSTGRES).bind(tenant.0).fetch_all(&mut **c).await?,
        Conn::Sqlite(c) => sqlx::query_as(BY_STATUS_SQLITE).bind(tenant.0).fetch_all(&mut **c).await?,
    };
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
        Conn::Postgres(conn) => {
            let mut running = postgres::running_jobs(conn, &jobs).await?;
            running.extend(running_members(conn).await?);
            Ok(running)
        }
        Conn::Sqlite(conn) => sqlite::running_jobs(conn, &jobs).await,
    }
}

const LIVE_JOB: &str = "SELECT 1 FROM job_queue WHERE job_id = $1 FOR UPDATE";

/// Hold a live job's row until the transaction ends, so that its head cannot move; on SQLite the
/// transaction itself does that. A job of a cohort, live or finished, has a row of its own afterwards.
pub async fn lock_job(conn: &mut Conn<'_>, job: JobId) -> Result<(), StoreError> {
    if let Conn::Postgres(conn) = conn {
        // Somebody else may have it leave between the two: then its row is there the next time.
        for _ in 0..2 {
            let found = sqlx::query(LIVE_JOB).bind(job.0).execute(&mut **conn).await?;
            if found.rows_affected() > 0 || leave_alone(conn, job).await? {
                break;
            }
        }
    }
    Ok(())
}
