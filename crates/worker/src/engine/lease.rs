//! Lease: many jobs per transaction.

use std::time::Duration;

use bpc_core::job::{Command, transition};
use bpc_core::{EventRecord, Job as JobState, Timestamp};
use bpc_eventstore::Database;
use bpc_projections::{
    JobWrites, LaneRoom, Leasable, LeaseId, Place, Taken, leasable_jobs, leasable_jobs_alone,
    lease_jobs_alone, take_jobs, write_jobs, write_jobs_alone, write_leases,
};

use crate::error::EngineError;

use super::limits::Limits;
use super::{Engine, source, stamp};

/// How long a lease by somebody else may take.
const LOCKED_PAUSES: [Duration; 3] =
    [Duration::from_millis(2), Duration::from_millis(5), Duration::from_millis(10)];

/// So few jobs that finding them and computing their events under the lock keeps nobody waiting.
const A_FEW: usize = 256;

/// A job that this worker may run until its lease ends.
#[derive(Clone, Debug)]
pub struct LeasedJob {
    /// Its state, RUNNING.
    pub job: JobState,
    /// What it carries.
    pub payload: Vec<u8>,
    /// When it was leased, by the database's clock.
    pub leased_at: Timestamp,
    /// The lease that it was taken with, along with others, if that has a row of its own.
    pub lease_id: Option<LeaseId>,
    /// Where it is in the queue.
    pub place: Place,
}

/// What a worker asks for.
#[derive(Clone, Copy)]
struct Request<'a> {
    worker_id: &'a str,
    lanes: &'a [LaneRoom],
    limit: usize,
    ttl: Duration,
}

impl Engine {
    /// Lease up to `limit` due jobs of these lanes for a worker, of types that it has a handler for;
    /// others stay in the queue for a worker that has. Durable when it returns; a crash just
    /// after leaves leases that expire.
    pub async fn lease(
        &self,
        worker_id: &str,
        lanes: &[LaneRoom],
        limit: usize,
        ttl: Duration,
    ) -> Result<Vec<LeasedJob>, EngineError> {
        let request = Request { worker_id, lanes, limit, ttl };
        if !lanes.is_empty() && !self.registry.has_limits() {
            let leased = match self.store.database {
                Database::Postgres(_) => self.lease_unlocked(request).await?,
                Database::Sqlite(_) => self.lease_alone(request).await?,
            };
            if let Some(leased) = leased {
                return Ok(leased);
            }
        }
        let mut tx = self.store.begin().await?;
        let limits = Limits::read(&mut tx.conn(), &self.registry).await?;
        let lanes = limits.lanes(lanes);
        let types = limits.open_types(&self.registry);
        let taken = leasable_jobs(&mut tx.conn(), &self.store.clock, &lanes, &types, limit).await?;
        if taken.rows.is_empty() {
            return Ok(Vec::new());
        }
        let (mut leased, writes) = lease_all(
            worker_id,
            ttl,
            taken.now,
            limits.within(taken.rows),
            JobWrites::default(),
            JobWrites::lease,
        )?;
        let mut places = write_leases(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        for leased in &mut leased {
            leased.place = places.remove(&leased.job.job_id).unwrap_or_default();
        }
        Ok(leased)
    }

    /// On SQLite only one transaction at a time can write. A few jobs are found, computed and written in one go,
    /// so that whoever waits for a single job waits for one thread only once. More are found and computed before the
    /// transaction begins: should somebody else take or cancel one of them meanwhile, nothing is written, and for a
    /// while jobs are found under the lock again. `None` then.
    async fn lease_alone(&self, request: Request<'_>) -> Result<Option<Vec<LeasedJob>>, EngineError> {
        let Request { worker_id, lanes, limit, ttl } = request;
        let types: Vec<&str> = self.registry.type_names().collect();
        if limit.saturating_mul(lanes.len()) <= A_FEW {
            let worker_id = worker_id.to_owned();
            let lease = move |Taken { now, rows }: Taken<Leasable>| {
                let writes = JobWrites::default();
                lease_all(&worker_id, ttl, now, rows.into_iter(), writes, JobWrites::lease).map_or_else(
                    |error| (Err(error), JobWrites::default()),
                    |(leased, writes)| (Ok(leased), writes),
                )
            };
            return lease_jobs_alone(&self.store, lanes, &types, limit, lease).await?.transpose();
        }
        if !self.short_way.is_open() {
            return Ok(None);
        }
        let Some(taken) = leasable_jobs_alone(&self.store, lanes, &types, limit).await? else {
            return Ok(None);
        };
        if taken.rows.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let rows = taken.rows.into_iter();
        let (leased, writes) =
            lease_all(worker_id, ttl, taken.now, rows, JobWrites::default(), JobWrites::lease)?;
        match write_jobs_alone(&self.store, writes).await {
            Ok(()) => Ok(Some(leased)),
            Err(error) if error.is_conflict() => {
                self.short_way.failed();
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What others have locked for a moment only may be all that there is: then ask again, a few times.
    async fn lease_unlocked(&self, request: Request<'_>) -> Result<Option<Vec<LeasedJob>>, EngineError> {
        for pause in LOCKED_PAUSES {
            let leased = self.lease_found(request).await?;
            if leased.as_ref().is_none_or(|leased| !leased.is_empty()) || !self.expect_cohorts.are_locked() {
                return Ok(leased);
            }
            tokio::time::sleep(pause).await;
        }
        self.lease_found(request).await
    }

    /// On PostgreSQL the statement that finds jobs leases them as well, as long as none of them could be one too
    /// many. `None` if one is damaged, which must not keep the others.
    async fn lease_found(&self, request: Request<'_>) -> Result<Option<Vec<LeasedJob>>, EngineError> {
        let Request { worker_id, lanes, limit, ttl } = request;
        if !self.short_way.is_open() {
            return Ok(None);
        }
        let types: Vec<&str> = self.registry.type_names().collect();
        let mut tx = self.store.begin().await?;
        let clock = &self.store.clock;
        let mut writes = JobWrites::default();
        let taken = take_jobs(
            &mut tx.conn(),
            clock,
            (lanes, &types, limit),
            (worker_id, ttl),
            &self.expect_cohorts,
            &mut writes,
        )
        .await?;
        let Some(taken) = taken else {
            self.short_way.failed();
            return Ok(None);
        };
        if taken.rows.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let taken_already = |writes: &mut JobWrites, lease, job: &JobState, place: Place, events| {
            writes.taken(lease, job, &place, events);
        };
        let rows = taken.rows.into_iter();
        let (leased, writes) = lease_all(worker_id, ttl, taken.now, rows, writes, taken_already)?;
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        Ok(Some(leased))
    }
}

/// The leases of these jobs, and what to write for them.
fn lease_all(
    worker_id: &str,
    ttl: Duration,
    now: Timestamp,
    jobs: impl Iterator<Item = Leasable>,
    mut writes: JobWrites,
    write: impl Fn(&mut JobWrites, LeaseId, &JobState, Place, Vec<EventRecord>),
) -> Result<(Vec<LeasedJob>, JobWrites), EngineError> {
    let lease_id = LeaseId::fresh(now);
    let actor = format!("worker:{worker_id}");
    let mut source = source();
    let mut stamp = stamp(&actor, now, None, &mut source);
    let mut leased = Vec::with_capacity(jobs.size_hint().0);
    for Leasable { job, payload, place } in jobs {
        let command = Command::Lease { worker_id: worker_id.to_owned(), ttl };
        let done = transition(job.tenant_id, job.job_id, Some(job), command, &mut stamp)?;
        write(&mut writes, lease_id, &done.job, place.clone(), done.records);
        let lease_id = (!place.is_shared()).then_some(lease_id);
        leased.push(LeasedJob { payload, leased_at: now, job: done.job, lease_id, place });
    }
    Ok((leased, writes))
}
