//! The reaper: jobs whose worker was not heard of in time.

use bpc_core::job::{Command, transition};
use bpc_projections::{JobWrites, Lane, expired_leases, is_any_lease_over, write_jobs};

use crate::error::EngineError;

use super::{Engine, source, stamp};

impl Engine {
    /// Take back up to `limit` leases that have run out, of all tenants: each job goes back into the
    /// queue, or to the dead letters when its attempts are used up. Returns how many.
    pub async fn expire(&self, limit: u32) -> Result<usize, EngineError> {
        // Nearly always there is none, and every worker asks.
        let mut tx = self.store.glance().await?;
        let is_any = is_any_lease_over(&mut tx.conn(), &self.store.clock).await?;
        tx.commit().await?;
        if !is_any {
            return Ok(0);
        }
        let mut tx = self.store.begin().await?;
        let expired = expired_leases(&mut tx.conn(), &self.store.clock, limit).await?;
        if expired.taken.rows.is_empty() && expired.over.is_empty() {
            return Ok(0);
        }
        let mut source = source();
        let mut stamp = stamp("system", expired.taken.now, None, &mut source);
        let mut writes = JobWrites::default();
        let mut lanes = Vec::new();
        let count = expired.taken.rows.len();
        for job in expired.taken.rows {
            tracing::warn!(
                job.id = %job.job_id,
                job.r#type = job.job_type,
                job.attempt = job.attempts,
                worker.id = job.lease().map(|lease| lease.worker_id.as_str()),
                "lease expired"
            );
            let (tenant, id) = (job.tenant_id, job.job_id);
            let lane = Lane { tenant_id: tenant, queue: job.queue.clone() };
            let done = transition(tenant, id, Some(job), Command::Expire, &mut stamp)?;
            writes.change_live(done.job, done.records);
            writes.wake(lane.hint());
            lanes.push(lane);
        }
        writes.end_leases(expired.over);
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        lanes.into_iter().for_each(|lane| self.hints.lane(lane));
        Ok(count)
    }
}
