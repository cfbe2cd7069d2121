//! What follows from a command: events, or a refusal with a name.

use std::time::Duration;

use crate::canonical::MAX_INTEGER;
use crate::id::Version;
use crate::time::Timestamp;

use super::PRIORITY_MAX;
use super::command::{Command, Failure, NewJob, Outcome, Settlement};
use super::event::JobEvent;
use super::state::{Job, Lease, Phase, Status};

/// Progress is recorded at most this often.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// Why a command is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such job.
    #[error("there is no such job")]
    NotFound,
    /// The stream of this job exists already.
    #[error("the job exists already")]
    Exists,
    /// A field of the new job is out of bounds.
    #[error("{0}")]
    Invalid(String),
    /// Only jobs in certain states can do that.
    #[error("the job is {status}; only {allowed} jobs can be {verb}")]
    WrongStatus {
        /// What it is.
        status: Status,
        /// What it must be.
        allowed: &'static str,
        /// What was wanted.
        verb: &'static str,
    },
    /// It is closed for good.
    #[error("the job was resolved by a person and is closed; enqueue a new one instead")]
    Resolved,
    /// Its time has not come.
    #[error("the job is not due before {0}")]
    NotDue(Timestamp),
    /// Somebody else holds, or has held, the lease.
    #[error("the lease of attempt {attempt} was lost before worker {worker_id} came to settle it")]
    Stale {
        /// Who came.
        worker_id: String,
        /// With which attempt.
        attempt: u32,
    },
    /// A lease to be renewed or reported on is gone.
    #[error("the lease is gone")]
    LeaseLost,
    /// This very attempt is recorded already.
    #[error("the attempt is recorded already")]
    AlreadySettled,
    /// The lease still holds.
    #[error("the lease holds until {0}")]
    NotExpired(Timestamp),
    /// Nothing new is to be recorded.
    #[error("nothing to record")]
    Unchanged,
}

impl Refusal {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::NotFound => "JOB_NOT_FOUND",
            Refusal::Exists => "JOB_EXISTS",
            Refusal::Invalid(_) => "VALIDATION_ERROR",
            Refusal::WrongStatus { .. } => "INVALID_JOB_STATUS",
            Refusal::Resolved => "JOB_RESOLVED",
            Refusal::NotDue(_) => "JOB_NOT_DUE",
            Refusal::Stale { .. } => "STALE_COMPLETION",
            Refusal::LeaseLost => "LEASE_LOST",
            Refusal::AlreadySettled => "ALREADY_SETTLED",
            Refusal::NotExpired(_) => "LEASE_NOT_EXPIRED",
            Refusal::Unchanged => "UNCHANGED",
        }
    }

    /// The event that keeps this refusal, for those that are kept: "did this run twice?" must be a
    /// query, not a guess.
    pub fn record(&self) -> Option<JobEvent> {
        match self {
            Refusal::Stale { worker_id, attempt } => {
                Some(JobEvent::StaleCompletionRefused { worker_id: worker_id.clone(), attempt: *attempt })
            }
            _ => None,
        }
    }
}

/// The events that a command adds to a job.
pub fn decide(job: Option<&Job>, command: Command, now: Timestamp) -> Result<Vec<JobEvent>, Refusal> {
    let command = match (job, command) {
        (None, Command::Enqueue(new)) => return enqueue(new, now),
        (Some(_), Command::Enqueue(_)) => return Err(Refusal::Exists),
        (None, _) => return Err(Refusal::NotFound),
        (Some(job), command) => (job, command),
    };
    match command {
        (job, Command::Lease { worker_id, ttl }) => lease(job, worker_id, ttl, now),
        (job, Command::Renew { fence, ttl }) => {
            let lease = held(job, fence, now)?;
            let lease_expires_at = now.plus(ttl);
            Ok(vec![JobEvent::Renewed { worker_id: lease.worker_id.clone(), lease_expires_at }])
        }
        (job, Command::Progress { fence, percent, step, message }) => {
            progress(held(job, fence, now)?, percent, step, message, now)
        }
        (job, Command::Settle(settlement)) => settle(job, settlement, now),
        (job, Command::Expire) => expire(job, now),
        (job, Command::Cancel { reason }) => cancel(job, reason),
        (job, Command::Replay { actor, justification }) => {
            failed(job, "replayed")?;
            Ok(vec![JobEvent::Replayed { actor, justification }])
        }
        (job, Command::Resolve { actor, notes }) => {
            failed(job, "resolved")?;
            Ok(vec![JobEvent::Resolved { actor, notes }])
        }
        (_, Command::Enqueue(_)) => Err(Refusal::Exists),
    }
}

fn enqueue(new: NewJob, now: Timestamp) -> Result<Vec<JobEvent>, Refusal> {
    let invalid = |message: String| Err(Refusal::Invalid(message));
    if new.priority > PRIORITY_MAX {
        return invalid(format!(
            "priority {} is out of range: use 0 (most urgent) to {PRIORITY_MAX}",
            new.priority
        ));
    }
    if new.max_attempts == 0 || new.max_attempts > 1000 {
        return invalid(format!("max attempts {} is out of range: use 1 to 1000", new.max_attempts));
    }
    for (what, name) in [("job type", &new.job_type), ("queue", &new.queue)] {
        if name.is_empty() || name.len() > 128 || !name.bytes().all(|c| c.is_ascii_graphic() && c != b',') {
            return invalid(format!(
                "{what} {name:?} is not allowed: use 1 to 128 printable ASCII characters without spaces or commas"
            ));
        }
    }
    if let Some(key) = &new.idempotency_key
        && (key.is_empty() || key.len() > 512)
    {
        return invalid("the idempotency key must have 1 to 512 bytes".to_owned());
    }
    Ok(vec![JobEvent::Enqueued {
        job_type: new.job_type,
        queue: new.queue,
        priority: new.priority,
        max_attempts: new.max_attempts,
        scheduled_at: new.scheduled_at.unwrap_or(now),
        idempotency_key: new.idempotency_key,
        payload: new.payload,
    }])
}

fn lease(job: &Job, worker_id: String, ttl: Duration, now: Timestamp) -> Result<Vec<JobEvent>, Refusal> {
    if job.phase != Phase::Queued {
        return Err(Refusal::WrongStatus { status: job.status(), allowed: "QUEUED", verb: "leased" });
    }
    if job.scheduled_at > now {
        return Err(Refusal::NotDue(job.scheduled_at));
    }
    Ok(vec![JobEvent::Leased { worker_id, attempt: job.attempts + 1, lease_expires_at: now.plus(ttl) }])
}

fn progress(
    lease: &Lease,
    percent: u8,
    step: Option<String>,
    message: Option<String>,
    now: Timestamp,
) -> Result<Vec<JobEvent>, Refusal> {
    let percent = percent.min(100);
    match lease.progress {
        Some(last) if percent < last.percent || now.since(last.at) < PROGRESS_INTERVAL => {
            Err(Refusal::Unchanged)
        }
        _ => Ok(vec![JobEvent::Progressed { percent, step, message }]),
    }
}

fn settle(job: &Job, settlement: Settlement, now: Timestamp) -> Result<Vec<JobEvent>, Refusal> {
    let Settlement { fence, attempt, worker_id, outcome } = settlement;
    if fence != Version::NONE && job.settled_fence == fence {
        return Err(Refusal::AlreadySettled);
    }
    // Whoever shows the right fence but not its worker and attempt mixes two attempts up.
    let lease = match held(job, fence, now) {
        Ok(lease) if lease.worker_id == worker_id && job.attempts == attempt => lease,
        _ => return Err(Refusal::Stale { worker_id, attempt }),
    };
    Ok(match outcome {
        Outcome::Succeeded { duration_ms, result, emitted } => {
            vec![JobEvent::Succeeded { duration_ms: writable(duration_ms.into()), result, emitted }]
        }
        Outcome::Failed(Failure { error, policy, chance }) => {
            let retryable = error.retryable;
            let mut events = vec![JobEvent::Failed { attempt, error }];
            if retryable {
                events.push(after_failure(job, lease.cancel_requested, policy.delay(attempt, chance), now));
            }
            events
        }
        Outcome::Cancelled => vec![JobEvent::Cancelled { reason: None }],
        Outcome::Released if lease.cancel_requested => vec![JobEvent::Cancelled { reason: None }],
        Outcome::Released => vec![JobEvent::Released { worker_id }],
        Outcome::Snoozed { .. } if lease.cancel_requested => vec![JobEvent::Cancelled { reason: None }],
        Outcome::Snoozed { delay } => vec![JobEvent::Snoozed { until: now.plus(delay) }],
    })
}

fn expire(job: &Job, now: Timestamp) -> Result<Vec<JobEvent>, Refusal> {
    match &job.phase {
        Phase::Running(lease) if lease.expires_at > now => Err(Refusal::NotExpired(lease.expires_at)),
        Phase::Running(lease) => {
            let mut events = vec![JobEvent::LeaseExpired { worker_id: lease.worker_id.clone() }];
            if lease.cancel_requested || job.attempts >= job.max_attempts {
                events.push(after_failure(job, lease.cancel_requested, Duration::ZERO, now));
            }
            Ok(events)
        }
        // The policy of the type is not known here; a job that was cut off while failing may be
        // tried again at once.
        Phase::Failing { cancel_requested, .. } => {
            Ok(vec![after_failure(job, *cancel_requested, Duration::ZERO, now)])
        }
        _ => Err(Refusal::WrongStatus { status: job.status(), allowed: "RUNNING", verb: "expired" }),
    }
}

/// A failed attempt is never stranded: exactly one of these follows.
fn after_failure(job: &Job, cancel_requested: bool, delay: Duration, now: Timestamp) -> JobEvent {
    if cancel_requested {
        JobEvent::Cancelled { reason: None }
    } else if job.attempts >= job.max_attempts {
        JobEvent::DeadLettered { attempts: job.attempts }
    } else {
        JobEvent::RetryScheduled { scheduled_at: now.plus(delay), delay_ms: writable(delay.as_millis()) }
    }
}

/// The nearest number of milliseconds that canonical JSON can hold.
fn writable(millis: u128) -> u64 {
    u64::try_from(millis).unwrap_or(u64::MAX).min(MAX_INTEGER.unsigned_abs())
}

fn cancel(job: &Job, reason: Option<String>) -> Result<Vec<JobEvent>, Refusal> {
    match &job.phase {
        Phase::Queued | Phase::Failing { .. } => Ok(vec![JobEvent::Cancelled { reason }]),
        Phase::Running(lease) if lease.cancel_requested => Err(Refusal::Unchanged),
        Phase::Running(_) => Ok(vec![JobEvent::CancelRequested { reason }]),
        _ => Err(Refusal::WrongStatus {
            status: job.status(),
            allowed: "QUEUED and RUNNING",
            verb: "cancelled",
        }),
    }
}

fn failed(job: &Job, verb: &'static str) -> Result<(), Refusal> {
    match job.phase {
        Phase::Failed { resolved: false, .. } | Phase::DeadLetter { .. } => Ok(()),
        Phase::Failed { resolved: true, .. } => Err(Refusal::Resolved),
        _ => Err(Refusal::WrongStatus { status: job.status(), allowed: "FAILED and DEAD_LETTER", verb }),
    }
}

/// The lease, if it is this one and has not run out.
fn held(job: &Job, fence: Version, now: Timestamp) -> Result<&Lease, Refusal> {
    job.lease().filter(|lease| lease.fence == fence && lease.expires_at > now).ok_or(Refusal::LeaseLost)
}
