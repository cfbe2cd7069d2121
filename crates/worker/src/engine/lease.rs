//! Lease: many jobs per transaction.

use std::time::Duration;

use bpc_core::job::{Command, transition};
use bpc_core::{Job as JobState, Timestamp};
use bpc_projections::{JobWrites, LaneRoom, Leasable, LeaseId, leasable_jobs, write_jobs};

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
        let mut tx = self.store.begin().await?;
        let limits = Limits::read(&mut tx.conn(), &self.registry).await?;
        let lanes = limits.lanes(lanes);
        let types = limits.open_types(&self.registry);
        let clock = &self.store.clock;
        let taken = leasable_jobs(&mut tx.conn(), clock, &lanes, &types, limit).await?;
        if taken.rows.is_empty() {
            return Ok(Vec::new());
        }
        let lease_id = LeaseId::fresh(taken.now);
        let actor = format!("worker:{worker_id}");
        let mut source = source();
        let mut stamp = stamp(&actor, taken.now, None, &mut source);
        let mut writes = JobWrites::default();
        let mut leased = Vec::with_capacity(taken.rows.len());
        for Leasable { job, payload, place } in limits.within(taken.rows) {
            let command = Command::Lease { worker_id: worker_id.to_owned(), ttl };
            let done = transition(job.tenant_id, job.job_id, Some(job), command, &mut stamp)?;
            writes.lease(lease_id, &done.job, place, done.records);
            leased.push(LeasedJob { payload, leased_at: taken.now, job: done.job, lease_id });
        }
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        Ok(leased)
    }
}
