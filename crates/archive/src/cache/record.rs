//! What a cache holds: the part of each event that folding and linking need, grouped by stream.

use bpc_core::job::{Emitted, ErrorInfo};
use bpc_core::{CanonicalJson, JobEvent, Timestamp};
use rkyv::{Archive, Serialize};

/// The streams of a segment whose ids end with one byte.
#[derive(Debug, Default, Archive, Serialize)]
pub(crate) struct Part {
    /// Every text that is spoken of, once.
    pub(crate) names: Vec<String>,
    /// In the order of their first events.
    pub(crate) runs: Vec<Run>,
    /// Events whose bytes are no events, which belong to no stream: all of them in the first part.
    pub(crate) unreadable: Vec<Unreadable>,
}

impl Part {
    /// The parts of a segment without events.
    pub(crate) fn none() -> Vec<Part> {
        (0..super::PARTS).map(|_| Part::default()).collect()
    }
}

/// Events of one stream that stand in the segment one after the other, without a gap, of one owner.
#[derive(Debug, Archive, Serialize)]
pub(crate) struct Run {
    pub(crate) stream_id: [u8; 16],
    pub(crate) tenant_id: [u8; 16],
    /// A name.
    pub(crate) stream_type: u32,
    pub(crate) first_version: u32,
    /// The hash that the first event is chained to, as the segment says; zero before version 1. `None` if the
    /// segment does not say.
    pub(crate) previous: Option<[u8; 32]>,
    pub(crate) events: Vec<Entry>,
}

/// One event.
#[derive(Debug, Archive, Serialize)]
pub(crate) struct Entry {
    pub(crate) hash: [u8; 32],
    /// When it happened, in microseconds since 1970.
    pub(crate) at: i64,
    /// Its place in the segment.
    pub(crate) index: u16,
    pub(crate) step: Step,
}

/// Bytes that are no event.
#[derive(Debug, Archive, Serialize)]
pub(crate) struct Unreadable {
    pub(crate) index: u16,
    pub(crate) code: String,
    pub(crate) reason: String,
}

/// What happened, as far as the fold of a job reads it. Numbers of names stand for texts.
#[derive(Debug, Archive, Serialize)]
pub(crate) enum Step {
    Enqueued {
        job_type: u32,
        queue: u32,
        priority: u8,
        max_attempts: u32,
        scheduled_at: i64,
    },
    Leased {
        worker_id: u32,
        attempt: u32,
        lease_expires_at: i64,
    },
    Renewed {
        worker_id: u32,
        lease_expires_at: i64,
    },
    Progressed {
        percent: u8,
    },
    Succeeded,
    Failed {
        attempt: u32,
        code: u32,
        message: u32,
        retryable: bool,
    },
    RetryScheduled {
        scheduled_at: i64,
    },
    DeadLettered {
        attempts: u32,
    },
    LeaseExpired {
        worker_id: u32,
    },
    Released {
        worker_id: u32,
    },
    Snoozed {
        until: i64,
    },
    CancelRequested,
    Cancelled,
    Replayed,
    Resolved,
    StaleCompletionRefused,
    /// The payload of a job's event that is not one; why.
    Unfit {
        reason: u32,
    },
    /// An event of a stream that is no job.
    Other,
}

impl Step {
    /// Keep what the fold reads.
    pub(crate) fn of(event: &JobEvent, mut name: impl FnMut(&str) -> u32) -> Step {
        match event {
            JobEvent::Enqueued { job_type, queue, priority, max_attempts, scheduled_at, .. } => {
                Step::Enqueued {
                    job_type: name(job_type),
                    queue: name(queue),
                    priority: *priority,
                    max_attempts: *max_attempts,
                    scheduled_at: scheduled_at.as_micros(),
                }
            }
            JobEvent::Leased { worker_id, attempt, lease_expires_at } => Step::Leased {
                worker_id: name(worker_id),
                attempt: *attempt,
                lease_expires_at: lease_expires_at.as_micros(),
            },
            JobEvent::Renewed { worker_id, lease_expires_at } => {
                Step::Renewed { worker_id: name(worker_id), lease_expires_at: lease_expires_at.as_micros() }
            }
            JobEvent::Progressed { percent, .. } => Step::Progressed { percent: *percent },
            JobEvent::Succeeded { .. } => Step::Succeeded,
            JobEvent::Failed { attempt, error } => Step::Failed {
                attempt: *attempt,
                code: name(&error.code),
                message: name(&error.message),
                retryable: error.retryable,
            },
            JobEvent::RetryScheduled { scheduled_at, .. } => {
                Step::RetryScheduled { scheduled_at: scheduled_at.as_micros() }
            }
            JobEvent::DeadLettered { attempts } => Step::DeadLettered { attempts: *attempts },
            JobEvent::LeaseExpired { worker_id } => Step::LeaseExpired { worker_id: name(worker_id) },
            JobEvent::Released { worker_id } => Step::Released { worker_id: name(worker_id) },
            JobEvent::Snoozed { until } => Step::Snoozed { until: until.as_micros() },
            JobEvent::CancelRequested { .. } => Step::CancelRequested,
            JobEvent::Cancelled { .. } => Step::Cancelled,
            JobEvent::Replayed { .. } => Step::Replayed,
            JobEvent::Resolved { .. } => Step::Resolved,
            JobEvent::StaleCompletionRefused { .. } => Step::StaleCompletionRefused,
        }
    }
}

/// What an archived step says.
pub(crate) enum Said<'a> {
    /// To a job: an event that folds like the one that was written. What the fold does not read is left out.
    Job(JobEvent),
    /// To a job, but not in the words of the rule book.
    Unfit(&'a str),
    /// To another stream.
    Other,
}

impl ArchivedStep {
    pub(crate) fn said<'a>(&self, part: &'a ArchivedPart) -> Said<'a> {
        use ArchivedStep as Kept;
        let name = |number: &rkyv::rend::u32_le| part.name(number.to_native());
        let text = |number: &rkyv::rend::u32_le| name(number).to_owned();
        let time = |micros: &rkyv::rend::i64_le| Timestamp::from_micros(micros.to_native());
        Said::Job(match self {
            Kept::Enqueued { job_type, queue, priority, max_attempts, scheduled_at } => JobEvent::Enqueued {
                job_type: text(job_type),
                queue: text(queue),
                priority: *priority,
                max_attempts: max_attempts.to_native(),
                scheduled_at: time(scheduled_at),
                idempotency_key: None,
                payload: CanonicalJson::from_trusted(b"{}".to_vec()),
            },
            Kept::Leased { worker_id, attempt, lease_expires_at } => JobEvent::Leased {
                worker_id: text(worker_id),
                attempt: attempt.to_native(),
                lease_expires_at: time(lease_expires_at),
            },
            Kept::Renewed { worker_id, lease_expires_at } => {
                JobEvent::Renewed { worker_id: text(worker_id), lease_expires_at: time(lease_expires_at) }
            }
            Kept::Progressed { percent } => {
                JobEvent::Progressed { percent: *percent, step: None, message: None }
            }
            Kept::Succeeded => {
                JobEvent::Succeeded { duration_ms: 0, result: None, emitted: Vec::<Emitted>::new() }
            }
            Kept::Failed { attempt, code, message, retryable } => JobEvent::Failed {
                attempt: attempt.to_native(),
                error: ErrorInfo {
                    code: text(code),
                    message: text(message),
                    retryable: *retryable,
                    detail: None,
                },
            },
            Kept::RetryScheduled { scheduled_at } => {
                JobEvent::RetryScheduled { scheduled_at: time(scheduled_at), delay_ms: 0 }
            }
            Kept::DeadLettered { attempts } => JobEvent::DeadLettered { attempts: attempts.to_native() },
            Kept::LeaseExpired { worker_id } => JobEvent::LeaseExpired { worker_id: text(worker_id) },
            Kept::Released { worker_id } => JobEvent::Released { worker_id: text(worker_id) },
            Kept::Snoozed { until } => JobEvent::Snoozed { until: time(until) },
            Kept::CancelRequested => JobEvent::CancelRequested { reason: None },
            Kept::Cancelled => JobEvent::Cancelled { reason: None },
            Kept::Replayed => JobEvent::Replayed { actor: String::new(), justification: String::new() },
            Kept::Resolved => JobEvent::Resolved { actor: String::new(), notes: String::new() },
            Kept::StaleCompletionRefused => {
                JobEvent::StaleCompletionRefused { worker_id: String::new(), attempt: 0 }
            }
            Kept::Unfit { reason } => return Said::Unfit(name(reason)),
            Kept::Other => return Said::Other,
        })
    }
}

impl ArchivedPart {
    /// A text by its number. The bytes were made here, so there is one; an empty text is no panic.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name.as_str())
    }
}
