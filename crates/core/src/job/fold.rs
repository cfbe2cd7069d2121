//! The state machine: one match, used for loading, recovery, verification, tests and display alike.

use crate::envelope::{Envelope, Head};
use crate::id::{JobId, TenantId, Version};
use crate::time::Timestamp;

use super::event::{JobEvent, JobEventError};
use super::state::{Job, LastError, Lease, Phase, Progress};

/// Why events do not make a legal history.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// That cannot happen to a job in this state.
    #[error("{event} cannot follow: the job is {state}")]
    Illegal {
        /// The event.
        event: &'static str,
        /// The state it met.
        state: String,
    },
    /// A field contradicts the history before it.
    #[error("{event} says {said}, the history before it says {known}")]
    Contradiction {
        /// The event.
        event: &'static str,
        /// What it says.
        said: String,
        /// What is known.
        known: String,
    },
    /// The payload cannot be read.
    #[error(transparent)]
    Event(#[from] JobEventError),
}

/// Whose event it is, where it stands and when it happened.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence {
    /// Whose.
    pub tenant_id: TenantId,
    /// Of which job.
    pub job_id: JobId,
    /// End of the stream once this event is part of it.
    pub head: Head,
    /// When.
    pub at: Timestamp,
}

/// The state after one more event. `None` is a job that does not exist yet.
pub fn fold(job: Option<Job>, event: &JobEvent, occurrence: Occurrence) -> Result<Job, FoldError> {
    let Some(mut job) = job else {
        return begin(event, occurrence);
    };
    fold_on(&mut job, event, occurrence)?;
    Ok(job)
}

/// The same for a job that exists, where it is: a state is large, and moving it about takes longer than the step. After
/// an error it means nothing any more.
pub fn fold_on(job: &mut Job, event: &JobEvent, occurrence: Occurrence) -> Result<(), FoldError> {
    let at = occurrence.at;
    let illegal =
        |job: &Job| FoldError::Illegal { event: event.event_type(), state: job.status().to_string() };

    let phase = std::mem::replace(&mut job.phase, Phase::Queued);
    job.phase = match (phase, event) {
        (Phase::Queued, JobEvent::Leased { worker_id, attempt, lease_expires_at }) => {
            agree(event, "attempt", *attempt, job.attempts + 1)?;
            job.attempts = *attempt;
            job.last_error = None;
            Phase::Running(Lease {
                worker_id: worker_id.clone(),
                fence: occurrence.head.version,
                expires_at: *lease_expires_at,
                cancel_requested: false,
                progress: None,
            })
        }
        (Phase::Queued, JobEvent::Cancelled { .. }) => {
            job.last_error = None;
            Phase::Cancelled { at }
        }

        (Phase::Running(lease), JobEvent::Renewed { worker_id, lease_expires_at }) => {
            agree(event, "worker", worker_id, &lease.worker_id)?;
            Phase::Running(Lease { expires_at: *lease_expires_at, ..lease })
        }
        (Phase::Running(lease), JobEvent::Progressed { percent, .. }) => {
            Phase::Running(Lease { progress: Some(Progress { percent: *percent, at }), ..lease })
        }
        (Phase::Running(lease), JobEvent::CancelRequested { .. }) => {
            Phase::Running(Lease { cancel_requested: true, ..lease })
        }
        (Phase::Running(lease), JobEvent::Succeeded { .. }) => {
            job.settled_fence = lease.fence;
            Phase::Succeeded { at }
        }
        (Phase::Running(lease), JobEvent::Failed { attempt, error }) => {
            agree(event, "attempt", *attempt, job.attempts)?;
            job.settled_fence = lease.fence;
            job.last_error = Some(LastError { code: error.code.clone(), message: error.message.clone() });
            if error.retryable {
                Phase::Failing { since: at, cancel_requested: lease.cancel_requested }
            } else {
                Phase::Failed { at, resolved: false }
            }
        }
        (Phase::Running(lease), JobEvent::LeaseExpired { worker_id }) => {
            agree(event, "worker", worker_id, &lease.worker_id)?;
            job.last_error = Some(LastError {
                code: "LEASE_EXPIRED".to_owned(),
                message: format!("worker {worker_id} was not heard of before its lease ended"),
            });
            if job.attempts < job.max_attempts && !lease.cancel_requested {
                job.scheduled_at = at;
                Phase::Queued
            } else {
                Phase::Failing { since: at, cancel_requested: lease.cancel_requested }
            }
        }
        (Phase::Running(lease), JobEvent::Released { worker_id }) => {
            agree(event, "worker", worker_id, &lease.worker_id)?;
            job.settled_fence = lease.fence;
            job.attempts -= 1;
            job.scheduled_at = at;
            Phase::Queued
        }
        (Phase::Running(lease), JobEvent::Snoozed { until }) => {
            job.settled_fence = lease.fence;
            job.attempts -= 1;
            job.scheduled_at = *until;
            Phase::Queued
        }
        (Phase::Running(lease), JobEvent::Cancelled { .. }) => {
            job.settled_fence = lease.fence;
            Phase::Cancelled { at }
        }

        (Phase::Failing { .. }, JobEvent::RetryScheduled { scheduled_at, .. }) => {
            job.scheduled_at = *scheduled_at;
            Phase::Queued
        }
        (Phase::Failing { .. }, JobEvent::DeadLettered { attempts }) => {
            agree(event, "attempts", *attempts, job.attempts)?;
            Phase::DeadLetter { at }
        }
        (Phase::Failing { .. }, JobEvent::Cancelled { .. }) => {
            job.last_error = None;
            Phase::Cancelled { at }
        }

        (Phase::Failed { resolved: false, .. } | Phase::DeadLetter { .. }, JobEvent::Replayed { .. }) => {
            job.attempts = 0;
            job.scheduled_at = at;
            Phase::Queued
        }
        (Phase::Failed { resolved: false, .. } | Phase::DeadLetter { .. }, JobEvent::Resolved { .. }) => {
            Phase::Failed { at, resolved: true }
        }

        (phase, JobEvent::StaleCompletionRefused { .. }) => phase,

        (phase, _) => {
            job.phase = phase;
            return Err(illegal(job));
        }
    };
    job.head = occurrence.head;
    Ok(())
}

/// Fold a stream of stored envelopes, with the hash of each. `None` for an empty stream.
pub fn fold_stream<'a>(
    events: impl IntoIterator<Item = (&'a Envelope<'a>, crate::chain::Hash)>,
) -> Result<Option<Job>, FoldError> {
    let mut job = None;
    for (envelope, hash) in events {
        let event = JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload)?;
        let occurrence = Occurrence {
            tenant_id: envelope.tenant_id,
            job_id: JobId(envelope.stream_id.0),
            head: Head { version: envelope.version, hash },
            at: envelope.occurred_at,
        };
        job = Some(fold(job, &event, occurrence)?);
    }
    Ok(job)
}

fn begin(event: &JobEvent, occurrence: Occurrence) -> Result<Job, FoldError> {
    match event {
        JobEvent::Enqueued { job_type, queue, priority, max_attempts, scheduled_at, .. } => Ok(Job {
            tenant_id: occurrence.tenant_id,
            job_id: occurrence.job_id,
            job_type: job_type.clone(),
            queue: queue.clone(),
            priority: *priority,
            max_attempts: *max_attempts,
            attempts: 0,
            created_at: occurrence.at,
            scheduled_at: *scheduled_at,
            head: occurrence.head,
            phase: Phase::Queued,
            last_error: None,
            settled_fence: Version::NONE,
        }),
        _ => Err(FoldError::Illegal { event: event.event_type(), state: "not enqueued".to_owned() }),
    }
}

fn agree<T: PartialEq + ToString>(event: &JobEvent, what: &str, said: T, known: T) -> Result<(), FoldError> {
    if said == known {
        return Ok(());
    }
    let (said, known) = (format!("{what} {}", said.to_string()), known.to_string());
    Err(FoldError::Contradiction { event: event.event_type(), said, known })
}
