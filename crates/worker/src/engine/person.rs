//! What people ask of a job: cancel, replay, resolve.

use bpc_core::job::{Command, Refusal, transition};
use bpc_core::{Job as JobState, JobId, TenantId};
use bpc_eventstore::now_on;
use bpc_projections::{JobWrites, Lane, lock_job, write_jobs};

use crate::error::EngineError;

use super::history::history_on;
use super::{CONFLICT_TRIES, Engine, source, stamp};

/// What workers are told when a running job should stop.
pub(crate) const CANCEL_HINT: &str = "cancel";

impl Engine {
    /// Stop a job: at once while it waits, as soon as its handler looks while it runs.
    pub async fn cancel(
        &self,
        tenant: TenantId,
        actor: &str,
        job: JobId,
        reason: Option<String>,
    ) -> Result<JobState, EngineError> {
        self.command(tenant, actor, job, Command::Cancel { reason }).await
    }

    /// Send a failed or dead-lettered job back into the queue. Its history stays.
    pub async fn replay(
        &self,
        tenant: TenantId,
        actor: &str,
        job: JobId,
        justification: String,
    ) -> Result<JobState, EngineError> {
        self.command(tenant, actor, job, Command::Replay { actor: actor.to_owned(), justification }).await
    }

    /// Close a failed or dead-lettered job for good.
    pub async fn resolve(
        &self,
        tenant: TenantId,
        actor: &str,
        job: JobId,
        notes: String,
    ) -> Result<JobState, EngineError> {
        self.command(tenant, actor, job, Command::Resolve { actor: actor.to_owned(), notes }).await
    }

    async fn command(
        &self,
        tenant: TenantId,
        actor: &str,
        job: JobId,
        command: Command,
    ) -> Result<JobState, EngineError> {
        for tries in 1.. {
            match self.try_command(tenant, actor, job, command.clone()).await {
                Err(EngineError::Store(error)) if error.is_conflict() && tries < CONFLICT_TRIES => {}
                outcome => return outcome,
            }
        }
        unreachable!("the loop returns")
    }

    async fn try_command(
        &self,
        tenant: TenantId,
        actor: &str,
        job_id: JobId,
        command: Command,
    ) -> Result<JobState, EngineError> {
        let mut tx = self.store.begin().await?;
        lock_job(&mut tx.conn(), job_id).await?;
        let history = history_on(&mut tx.conn(), tenant, job_id).await?.ok_or(Refusal::NotFound)?;
        let was_finished = history.job.status().is_finished();
        let now = now_on(&mut tx.conn(), &self.store.clock).await?;
        let mut source = source();
        let mut stamp = stamp(actor, now, None, &mut source);
        let done = match transition(tenant, job_id, Some(history.job.clone()), command, &mut stamp) {
            // Asking twice for the same is no error; there is just nothing new to say.
            Err(bpc_core::job::TransitionError::Refused(Refusal::Unchanged)) => return Ok(history.job),
            done => done?,
        };
        let mut writes = JobWrites::default();
        if was_finished {
            writes.change_finished(done.job.clone(), done.records);
        } else {
            writes.change_live(done.job.clone(), done.records);
        }
        let lane = Lane { tenant_id: tenant, queue: done.job.queue.clone() };
        writes.wake(if done.job.lease().is_some() { CANCEL_HINT.to_owned() } else { lane.hint() });
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        if done.job.lease().is_some() {
            self.hints.cancel()
        } else {
            self.hints.lane(lane)
        }
        Ok(done.job)
    }
}
