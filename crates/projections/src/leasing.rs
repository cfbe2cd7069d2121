//! Taking rows of the queue view: to lease them, to settle them, to reap them.
//!
//! Each returns the time by the clock that counts, read in the same statement as the rows.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bpc_core::job::{Lease, QueueRow, read_enqueued};
use bpc_core::{COHORT_MAX, Hash, Head, Job, JobId, StreamId, Timestamp, Version, chain_hash};
use bpc_eventstore::sqlite::fetch_rows;
use bpc_eventstore::{Clock, Conn, Database, Store, StoreError, now_on, stream_heads};
use rusqlite::Connection;
use sqlx::Row;
use uuid::Uuid;

use crate::calendar::{LeaseId, ended_leases};
use crate::cohort::{LEASED, Member};
use crate::lanes::LaneRoom;
use crate::postgres::cohort::{
    DueMembers, due_members, held_pieces, leave_cohorts, leave_due, leave_expired,
};
use crate::postgres::{Due, TakenRows};
use crate::write::JobWrites;
use crate::{postgres, sqlite};

/// A job that may be leased.
#[derive(Clone, Debug)]
pub struct Leasable {
    /// Its state, but for why its last attempt failed, which a lease forgets.
    pub job: Job,
    /// What it carries.
    pub payload: Vec<u8>,
    /// Where its row is.
    pub place: Place,
}

/// Where a job is in the queue, if the database has words for that.
#[derive(Clone, Debug, Default)]
pub enum Place {
    /// It has a row, which is found by the job's id.
    #[default]
    ById,
    /// It has a row, which is there.
    Row(String),
    /// It is one of several that share a row.
    Member(Member),
}

impl Place {
    /// Where its row is, as the database spells it.
    pub(crate) fn row(&self) -> &str {
        match self {
            Place::Row(row) => row,
            Place::ById | Place::Member(_) => "",
        }
    }

    /// Is it one of several that share a row?
    pub fn is_shared(&self) -> bool {
        matches!(self, Place::Member(_))
    }
}

/// What the row of a waiting job says; the event that made the job says the rest.
pub(crate) struct WaitingRow<'r> {
    pub(crate) enqueued_bytes: &'r [u8],
    pub(crate) job_id: JobId,
    pub(crate) version: Version,
    pub(crate) head_hash: Option<Hash>,
    pub(crate) attempts: u32,
    pub(crate) scheduled_at: Timestamp,
    pub(crate) place: Place,
}

impl WaitingRow<'_> {
    /// `None` if the event is damaged. The job then stays where it is; the others must not wait for it.
    pub(crate) fn into_leasable(self) -> Option<Leasable> {
        match (read_enqueued(self.enqueued_bytes), self.head()) {
            (Ok((job, payload)), Some(head)) if job.job_id == self.job_id => {
                let WaitingRow { attempts, scheduled_at, place, .. } = self;
                let job = Job { head, attempts, scheduled_at, ..job };
                Some(Leasable { job, payload: payload.to_vec(), place })
            }
            _ => {
                tracing::error!(job.id = %self.job_id, "cannot lease: its first event or its row is damaged");
                None
            }
        }
    }

    /// The head of a job that is as it was enqueued is that event.
    fn head(&self) -> Option<Head> {
        let of_enqueued = || chain_hash(&Hash::ZERO, self.enqueued_bytes);
        let hash = self.head_hash.or_else(|| (self.version == Version(1)).then(of_enqueued))?;
        Some(Head { version: self.version, hash })
    }
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
    leave_due_cohorts(conn, clock, lanes, types, limit).await?;
    let (now, mut rows) = match conn {
        Conn::Postgres(conn) => {
            let due = Due { now: clock.fixed(), lanes, types, limit };
            let (now, rows) = postgres::leasable_jobs(conn, due).await?;
            (now.unwrap_or_default(), rows)
        }
        Conn::Sqlite(conn) => {
            let now = clock.host();
            (now, sqlite::leasable_jobs(conn, now, lanes, types, limit).await?)
        }
    };
    merge(&mut rows, limit);
    Ok(Taken { now, rows })
}

/// The same without a transaction: by the time that they are to be leased they may not be there any more. `None`
/// if the database has no short way for this.
pub async fn leasable_jobs_alone(
    store: &Store,
    lanes: &[LaneRoom],
    types: &[&str],
    limit: usize,
) -> Result<Option<Taken<Leasable>>, StoreError> {
    let Database::Sqlite(pools) = &store.database else {
        return Ok(None);
    };
    pools.read(find_alone(store, lanes, types, limit)).await.transpose()
}

/// What finds due jobs on the thread that keeps a connection.
fn find_alone(
    store: &Store,
    lanes: &[LaneRoom],
    types: &[&str],
    limit: usize,
) -> impl FnOnce(&Connection) -> Result<Taken<Leasable>, StoreError> + Send + use<> {
    let types = serde_json::to_string(types).expect("strings are JSON");
    let (lanes, clock) = (lanes.to_vec(), store.clock.clone());
    move |conn| {
        let now = clock.host();
        let mut rows = sqlite::alone::leasable_jobs(conn, now, &lanes, &types, limit)?;
        merge(&mut rows, limit);
        Ok(Taken { now, rows })
    }
}

/// Find due jobs and write what `lease` makes of them, in a transaction of its own and one hand-over; durable when
/// it returns. `None` if the database has no short way for this.
pub async fn lease_jobs_alone<R: Send + 'static>(
    store: &Store,
    lanes: &[LaneRoom],
    types: &[&str],
    limit: usize,
    lease: impl FnOnce(Taken<Leasable>) -> (R, JobWrites) + Send + 'static,
) -> Result<Option<R>, StoreError> {
    let Database::Sqlite(pools) = &store.database else {
        return Ok(None);
    };
    if !store.fault.is_spent() {
        return Ok(None);
    }
    let find = find_alone(store, lanes, types, limit);
    let write = move |conn: &Connection| {
        let (leased, writes) = lease(find(conn)?);
        sqlite::alone::write_jobs(conn, &writes)?;
        Ok(leased)
    };
    pools.write(write).await.transpose()
}

/// What was known of cohorts when somebody last looked.
#[derive(Clone, Debug, Default)]
pub struct ExpectCohorts(Arc<Expected>);

#[derive(Debug, Default)]
struct Expected {
    /// Some were due: they are asked for first.
    are_due: AtomicBool,
    /// Others had locked all of them.
    are_locked: AtomicBool,
}

impl ExpectCohorts {
    /// Had others locked all that were due? One row may hold all jobs that there are, so it is worth asking again.
    pub fn are_locked(&self) -> bool {
        self.0.are_locked.load(Ordering::Relaxed)
    }

    fn seen(&self, members: &DueMembers) {
        self.0.are_due.store(members.is_any_due, Ordering::Relaxed);
        self.0.are_locked.store(members.is_any_due && members.pieces.is_empty(), Ordering::Relaxed);
    }
}

/// The same, leased by the statement that finds them: what is left to write are their events, and the lease.
/// Members of cohorts are found, too: what is left to write for those is in `writes` already. `None` if
/// the database has no such statement, or if one of the jobs is damaged: then the transaction must
/// not be committed.
pub async fn take_jobs(
    conn: &mut Conn<'_>,
    clock: &Clock,
    due: (&[LaneRoom], &[&str], usize),
    (worker_id, ttl): (&str, Duration),
    expected: &ExpectCohorts,
    writes: &mut JobWrites,
) -> Result<Option<Taken<Leasable>>, StoreError> {
    let Conn::Postgres(conn) = conn else {
        return Ok(None);
    };
    let (lanes, types, limit) = due;
    let due = Due { now: clock.fixed(), lanes, types, limit };
    let whole = |mut taken: TakenRows| {
        merge(&mut taken.jobs, limit);
        (taken.jobs.len() == taken.leased).then_some(Taken { now: taken.now, rows: taken.jobs })
    };
    if !expected.0.are_due.load(Ordering::Relaxed) {
        let taken = postgres::take_jobs(conn, due, worker_id, ttl, true).await?;
        if !taken.is_cohort_due {
            return Ok(whole(taken));
        }
    }
    let members = due_members(conn, due).await?;
    expected.seen(&members);
    if members.pieces.is_empty() {
        return Ok(whole(postgres::take_jobs(conn, due, worker_id, ttl, false).await?));
    }
    // All of them are leased at the moment at which the first were found.
    let now = members.now;
    let mut rows = Vec::with_capacity(limit);
    if members.singles > 0 {
        let due = Due { now: Some(now), limit: members.singles.min(limit), ..due };
        let singles = postgres::take_jobs(conn, due, worker_id, ttl, false).await?;
        if singles.jobs.len() != singles.leased {
            return Ok(None);
        }
        rows = singles.jobs;
    }
    let lease = first_lease(worker_id, now.plus(ttl));
    for piece in members.pieces {
        let (tenant, queue) = (piece.piece.tenant_id, &*piece.piece.queue);
        let of_lane = rows.iter().filter(|row| row.job.tenant_id == tenant && row.job.queue == queue).count();
        let lane = lanes.iter().find(|it| it.lane.tenant_id == tenant && it.lane.queue == queue);
        let room = lane.map_or(0, |lane| lane.room.saturating_sub(of_lane)).min(limit - rows.len());
        if room == 0 {
            continue;
        }
        let Some((taking, jobs)) = piece.take(room) else {
            return Ok(None);
        };
        writes.cohorts.take(taking, &lease);
        rows.extend(jobs);
    }
    merge(&mut rows, limit);
    Ok(Some(Taken { now, rows }))
}

/// Jobs of attempts that share rows, locked.
#[derive(Debug, Default)]
pub struct HeldMembers {
    /// The moment; `None` if no attempt was of a job that shares a row.
    pub now: Option<Timestamp>,
    /// Those that are held as they were leased.
    pub held: HashSet<JobId>,
}

/// Of these jobs, those that share rows and that this worker still holds, unmoved since it leased them.
pub async fn held_members(
    conn: &mut Conn<'_>,
    clock: &Clock,
    worker_id: &str,
    jobs: &[(JobId, &Place)],
    writes: &mut JobWrites,
) -> Result<HeldMembers, StoreError> {
    let members = || {
        jobs.iter().filter_map(|(job, place)| match place {
            Place::Member(member) => Some((*job, member)),
            Place::ById | Place::Row(_) => None,
        })
    };
    let Conn::Postgres(conn) = conn else {
        return Ok(HeldMembers::default());
    };
    if members().next().is_none() {
        return Ok(HeldMembers::default());
    }
    let (now, pieces) = held_pieces(conn, clock.fixed(), worker_id, members().map(|it| it.1)).await?;
    let mut held = HashSet::with_capacity(jobs.len());
    for (job, member) in members() {
        if let Some(there) = pieces.get(&member.piece.piece_id).filter(|there| there.contains(member.place()))
        {
            writes.cohorts.hold(Arc::clone(&member.piece), *there);
            held.insert(job);
        }
    }
    Ok(HeldMembers { now: Some(now), held })
}

/// Let the members of cohorts that are due be jobs with rows of their own, so that limits can be held against each.
async fn leave_due_cohorts(
    conn: &mut Conn<'_>,
    clock: &Clock,
    lanes: &[LaneRoom],
    types: &[&str],
    limit: usize,
) -> Result<(), StoreError> {
    match conn {
        Conn::Postgres(conn) => leave_due(conn, Due { now: clock.fixed(), lanes, types, limit }).await,
        Conn::Sqlite(_) => Ok(()),
    }
}

/// The lease of a member's first attempt.
fn first_lease(worker_id: &str, expires_at: Timestamp) -> Lease {
    Lease {
        worker_id: worker_id.to_owned(),
        fence: LEASED,
        expires_at,
        cancel_requested: false,
        progress: None,
    }
}

/// Each lane comes in order; only here do they become one.
fn merge(rows: &mut Vec<Leasable>, limit: usize) {
    rows.sort_by_key(|row| (row.job.priority, row.job.scheduled_at));
    rows.truncate(limit);
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
            let (mut now, mut rows) = postgres::held_leases(conn, clock.fixed(), held).await?;
            if rows.len() < held.len() {
                let found: HashSet<JobId> = rows.iter().map(|row| row.job_id).collect();
                let others: Vec<JobId> =
                    held.iter().map(|it| it.0).filter(|job| !found.contains(job)).collect();
                if leave_cohorts(conn, &others).await? > 0 {
                    (now, rows) = postgres::held_leases(conn, clock.fixed(), held).await?;
                }
            }
            (now.unwrap_or_default(), rows)
        }
        Conn::Sqlite(conn) => (clock.host(), sqlite::held_leases(conn, held).await?),
    };
    Ok(Taken { now, rows: with_heads(conn, rows).await? })
}

/// Of these jobs, move those whose attempt this worker still holds, unmoved since it was leased, to the
/// finished ones as succeeded. Answers with jobs and fences; if there is one among them that was not asked
/// for, the transaction must not be committed. On SQLite, whose clock is this host's, they may
/// have succeeded `at` a moment before.
pub async fn finish_leases(
    conn: &mut Conn<'_>,
    clock: &Clock,
    at: Option<Timestamp>,
    worker_id: &str,
    jobs: &[(JobId, &Place)],
) -> Result<Taken<(JobId, Version)>, StoreError> {
    match conn {
        Conn::Postgres(conn) => {
            let (now, rows) = postgres::finish_leases(conn, clock.fixed(), worker_id, jobs).await?;
            Ok(Taken { now, rows })
        }
        Conn::Sqlite(conn) => {
            let now = clock.host();
            let jobs: Vec<JobId> = jobs.iter().map(|it| it.0).collect();
            let rows = sqlite::finish_leases(conn, now, at.unwrap_or(now), worker_id, &jobs).await?;
            Ok(Taken { now, rows })
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

/// Jobs whose lease has run out.
#[derive(Clone, Debug)]
pub struct Expired {
    /// The moment, and the jobs, each locked; rows that others hold are skipped.
    pub taken: Taken<Job>,
    /// Leases that name no job that still runs, once these are dealt with.
    pub over: Vec<LeaseId>,
}

/// Has any lease run out? The jobs of some may be over by now. A statement alone, and nothing is locked.
pub async fn is_any_lease_over(conn: &mut Conn<'_>, clock: &Clock) -> Result<bool, StoreError> {
    match conn {
        Conn::Postgres(conn) => {
            let sql = include_str!("postgres/sql/is_any_lease_over.sql");
            let fixed = clock.fixed().map(Timestamp::as_micros);
            Ok(sqlx::query_scalar(sql).bind(fixed).fetch_one(&mut **conn).await?)
        }
        Conn::Sqlite(conn) => {
            let sql = include_str!("sqlite/sql/is_any_lease_over.sql");
            Ok(sqlx::query_scalar(sql).bind(clock.host().as_micros()).fetch_one(&mut **conn).await?)
        }
    }
}

/// The jobs of up to `limit` leases that have run out.
pub async fn expired_leases(conn: &mut Conn<'_>, clock: &Clock, limit: u32) -> Result<Expired, StoreError> {
    let now = now_on(conn, clock).await?;
    if let Conn::Postgres(conn) = conn {
        // At most so many jobs, about.
        leave_expired(conn, now, i64::from(limit) / COHORT_MAX as i64 + 1).await?;
    }
    let ended = ended_leases(conn, now, i64::from(limit)).await?;
    let mut jobs: Vec<JobId> = ended.iter().flat_map(|(_, jobs)| jobs).copied().collect();
    jobs.sort_unstable();
    jobs.dedup();
    if jobs.is_empty() {
        return Ok(Expired { taken: Taken { now, rows: Vec::new() }, over: Vec::new() });
    }
    let (rows, still_running) = match conn {
        Conn::Postgres(conn) => postgres::expired_leases(conn, now, &jobs).await?,
        Conn::Sqlite(conn) => {
            let rows = sqlite::expired_leases(conn, now, &jobs).await?;
            let running = rows.len();
            (rows, running)
        }
    };
    // Somebody else holds the others: they are looked at again, so their lease must be found again.
    let is_all = rows.len() == still_running;
    let over = ended.into_iter().map(|(lease, _)| lease).filter(|_| is_all).collect();
    Ok(Expired { taken: Taken { now, rows: with_heads(conn, rows).await? }, over })
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
