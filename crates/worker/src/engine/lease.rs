//! Lease: many jobs per transaction.

use std::time::Duration;

use bpc_core::job::{Command, payload_of_enqueued, transition};
use bpc_core::{Job as JobState, JobId, Timestamp};
use bpc_eventstore::StoreError;
use bpc_projections::{JobWrites, LaneRoom, leasable_jobs, write_jobs};

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
        let taken = leasable_jobs(&mut tx.conn(), &self.store.clock, &lanes, &types, limit).await?;
        if taken.rows.is_empty() {
            return Ok(Vec::new());
        }
        let actor = format!("worker:{worker_id}");
        let mut source = source();
        let mut stamp = stamp(&actor, taken.now, None, &mut source);
        let mut writes = JobWrites::default();
        let mut leased = Vec::with_capacity(taken.rows.len());
        for row in limits.within(taken.rows) {
            let (tenant, id) = (row.job.tenant_id, row.job.job_id);
            let payload = match payload(id, &row.enqueued_bytes) {
                Ok(payload) => payload,
                // It stays where it is; the others must not wait for it.
                Err(error) => {
                    tracing::error!(job.id = %id, %error, "cannot lease");
                    continue;
                }
            };
            let command = Command::Lease { worker_id: worker_id.to_owned(), ttl };
            let done = transition(tenant, id, Some(row.job), command, &mut stamp)?;
            leased.push(LeasedJob { payload, leased_at: taken.now, job: done.job.clone() });
            writes.lease(&done.job, done.records);
        }
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        Ok(leased)
    }
}

fn payload(id: JobId, enqueued_bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    let payload = payload_of_enqueued(enqueued_bytes);
    payload.map(<[u8]>::to_vec).map_err(|_| StoreError::Damaged(format!("first event of job {id}")))
}
