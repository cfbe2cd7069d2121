//! Keeping leases: renewal and progress of many running jobs in one transaction.

use std::collections::HashMap;
use std::time::Duration;

use bpc_core::job::{Command, Refusal, TransitionError, transition};
use bpc_core::{JobId, Version};
use bpc_projections::{JobWrites, held_leases, write_jobs};

use crate::error::EngineError;

use super::{Engine, source, stamp};

/// What a worker has to say about one of its running jobs.
#[derive(Clone, Debug)]
pub struct Keep {
    /// The job.
    pub job_id: JobId,
    /// Its attempt.
    pub fence: Version,
    /// Renew the lease?
    pub renew: bool,
    /// Progress to record, if any.
    pub progress: Option<(u8, Option<String>, Option<String>)>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The lease holds (renewed, if that was asked).
    Held {
        /// Is the progress dealt with? It is not when the last was less than two seconds ago; what is less
        /// than before, or can never be recorded, is dropped.
        progressed: bool,
    },
    /// The lease is gone: whatever the handler brings will be refused.
    Lost,
}

impl Engine {
    /// Renew leases and record progress, all in one transaction.
    pub async fn keep(
        &self,
        worker_id: &str,
        keeps: &[Keep],
        ttl: Duration,
    ) -> Result<HashMap<JobId, Kept>, EngineError> {
        let mut tx = self.store.begin().await?;
        let held: Vec<_> = keeps.iter().map(|keep| (keep.job_id, keep.fence)).collect();
        let taken = held_leases(&mut tx.conn(), &self.store.clock, &held).await?;
        let mut jobs: HashMap<_, _> = taken.rows.into_iter().map(|job| (job.job_id, job)).collect();
        let actor = format!("worker:{worker_id}");
        let mut source = source();
        let mut stamp = stamp(&actor, taken.now, None, &mut source);
        let mut writes = JobWrites::default();
        let mut kept = HashMap::with_capacity(keeps.len());
        for keep in keeps {
            let Some(mut job) = jobs.remove(&keep.job_id) else {
                kept.insert(keep.job_id, Kept::Lost);
                continue;
            };
            let mut records = Vec::new();
            let mut outcome = Kept::Held { progressed: false };
            let renew = keep.renew.then_some(Command::Renew { fence: keep.fence, ttl });
            let progress = keep.progress.clone().map(|(percent, step, message)| Command::Progress {
                fence: keep.fence,
                percent,
                step,
                message,
            });
            for command in [renew, progress].into_iter().flatten() {
                let is_progress = matches!(command, Command::Progress { .. });
                match transition(job.tenant_id, job.job_id, Some(job.clone()), command, &mut stamp) {
                    Ok(done) => {
                        job = done.job;
                        records.extend(done.records);
                        if is_progress {
                            outcome = Kept::Held { progressed: true };
                        }
                    }
                    // Too early is worth another try; less than before never will be.
                    Err(TransitionError::Refused(Refusal::Unchanged)) => {
                        let last = job.lease().and_then(|lease| lease.progress);
                        let said = keep.progress.as_ref().map_or(0, |(percent, ..)| *percent);
                        if last.is_some_and(|last| said < last.percent) {
                            outcome = Kept::Held { progressed: true };
                        }
                    }
                    Err(TransitionError::Refused(Refusal::LeaseLost)) => outcome = Kept::Lost,
                    // What one handler says must not cost the others their leases.
                    Err(TransitionError::Envelope(error)) if is_progress => {
                        tracing::warn!(job.id = %keep.job_id, %error, "progress cannot be recorded");
                        outcome = Kept::Held { progressed: true };
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            kept.insert(keep.job_id, outcome);
            if !records.is_empty() {
                writes.change_live(job, records);
            }
        }
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        Ok(kept)
    }
}
