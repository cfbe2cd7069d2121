//! Lease: many jobs per transaction.

use std::time::Duration;

use bpc_core::job::{Command, transition};
use bpc_core::{Job as JobState, Timestamp};
use bpc_projections::{
    JobWrites, LaneRoom, Leasable, LeaseId, leasable_jobs, leasable_jobs_alone, write_jobs, write_jobs_alone,
};

use crate::error::EngineError;

use super::limits::Limits;
use super::{Engine, source, stamp};

/// A job that this worker may run until its lease ends.
#[derive(Clone, Debug)]
pub struct LeasedJob {
    /// Its state, RUNNING.
    pub job: JobState,
    /// What it carries.
    pub payload: Vec<u8>,
    /// When it was leased, by the database's clock.
    pub leased_at: Timestamp,
    /// The lease that it was taken with, along with others.
    pub lease_id: LeaseId,
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
        if let Some(leased) = self.lease_early(worker_id, lanes, limit, ttl).await? {
            return Ok(leased);
        }
        let mut tx = self.store.begin().await?;
        let limits = Limits::read(&mut tx.conn(), &self.registry).await?;
        let lanes = limits.lanes(lanes);
        let types = limits.open_types(&self.registry);
        let taken = leasable_jobs(&mut tx.conn(), &self.store.clock, &lanes, &types, limit).await?;
        if taken.rows.is_empty() {
            return Ok(Vec::new());
        }
        let (leased, writes) = lease_all(worker_id, ttl, taken.now, limits.within(taken.rows))?;
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        Ok(leased)
    }

    /// On SQLite only one transaction at a time can write, so a worker that is alone finds its jobs and
    /// computes their events before it begins one. Should somebody
    /// else take or cancel one of them meanwhile, nothing is written, and for a while jobs are found under
    /// the lock again: `None`.
    async fn lease_early(
        &self,
        worker_id: &str,
        lanes: &[LaneRoom],
        limit: usize,
        ttl: Duration,
    ) -> Result<Option<Vec<LeasedJob>>, EngineError> {
        if self.registry.has_limits() || self.crowd.is_about() {
            return Ok(None);
        }
        let types: Vec<&str> = self.registry.type_names().collect();
        let Some(taken) = leasable_jobs_alone(&self.store, lanes, &types, limit).await? else {
            return Ok(None);
        };
        if taken.rows.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let (leased, writes) = lease_all(worker_id, ttl, taken.now, taken.rows.into_iter())?;
        match write_jobs_alone(&self.store, writes).await {
            Ok(()) => Ok(Some(leased)),
            Err(error) if error.is_conflict() => {
                self.crowd.met();
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The leases of these jobs, and what to write for them.
fn lease_all(
    worker_id: &str,
    ttl: Duration,
    now: Timestamp,
    jobs: impl Iterator<Item = Leasable>,
) -> Result<(Vec<LeasedJob>, JobWrites), EngineError> {
    let lease_id = LeaseId::fresh(now);
    let actor = format!("worker:{worker_id}");
    let mut source = source();
    let mut stamp = stamp(&actor, now, None, &mut source);
    let mut writes = JobWrites::default();
    let mut leased = Vec::new();
    for Leasable { job, payload, place } in jobs {
        let command = Command::Lease { worker_id: worker_id.to_owned(), ttl };
        let done = transition(job.tenant_id, job.job_id, Some(job), command, &mut stamp)?;
        writes.lease(lease_id, &done.job, place, done.records);
        leased.push(LeasedJob { payload, leased_at: now, job: done.job, lease_id });
    }
    Ok((leased, writes))
}
