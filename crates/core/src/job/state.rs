//! What a job is at one point of its life: the fold of its events so far.

use std::fmt;

use crate::envelope::Head;
use crate::id::{JobId, TenantId, Version};
use crate::time::Timestamp;

/// The state of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Its id and stream.
    pub job_id: JobId,
    /// Type of the job, which names its handler.
    pub job_type: String,
    /// Queue it waits in.
    pub queue: String,
    /// 0 to 3, lower first.
    pub priority: u8,
    /// Attempts in all.
    pub max_attempts: u32,
    /// Attempts so far, counted when leased.
    pub attempts: u32,
    /// When it was enqueued.
    pub created_at: Timestamp,
    /// When it is (or was last) due.
    pub scheduled_at: Timestamp,
    /// End of its stream.
    pub head: Head,
    /// Where in its life it is.
    pub phase: Phase,
    /// Why the last attempt failed; cleared by the next lease.
    pub last_error: Option<LastError>,
    /// Fence of the newest attempt whose worker recorded an outcome. A worker that asks again about
    /// this attempt (because its commit was answered by silence) learns that it is done.
    pub settled_fence: Version,
}

/// Where a job is in its life.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Waiting for its time or a worker.
    Queued,
    /// Leased by a worker.
    Running(Lease),
    /// An attempt ended in a retryable failure or an expired lease, and what follows (another try,
    /// the dead letters, cancellation) is not recorded yet. Both are written in one transaction, so
    /// only a log cut in between shows this; the reaper goes on from here.
    Failing {
        /// Since when.
        since: Timestamp,
        /// Was a cancel requested during the attempt?
        cancel_requested: bool,
    },
    /// Done.
    Succeeded {
        /// When.
        at: Timestamp,
    },
    /// A permanent error, or closed by a person.
    Failed {
        /// When.
        at: Timestamp,
        /// Closed by a person: cannot be replayed.
        resolved: bool,
    },
    /// Stopped by a person.
    Cancelled {
        /// When.
        at: Timestamp,
    },
    /// All attempts used up.
    DeadLetter {
        /// When.
        at: Timestamp,
    },
}

/// The right to run a job until a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    /// Who holds it.
    pub worker_id: String,
    /// Version of the `LEASED` event: constant for the attempt, and what a worker must show to settle.
    pub fence: Version,
    /// Until when.
    pub expires_at: Timestamp,
    /// Somebody asked it to stop.
    pub cancel_requested: bool,
    /// What the handler last said.
    pub progress: Option<Progress>,
}

/// How far a running job is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 100.
    pub percent: u8,
    /// When it said so.
    pub at: Timestamp,
}

/// Why the last attempt failed, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct LastError {
    /// Stable code.
    pub code: String,
    /// For people.
    pub message: String,
}

/// The statuses people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Waiting.
    Queued,
    /// Leased.
    Running,
    /// Done.
    Succeeded,
    /// Ended by a permanent error.
    Failed,
    /// Stopped by a person.
    Cancelled,
    /// All attempts used up.
    DeadLetter,
}

impl Status {
    /// Every status, in the order of the table in the docs.
    pub const ALL: [Status; 6] = [
        Status::Queued,
        Status::Running,
        Status::Succeeded,
        Status::Failed,
        Status::Cancelled,
        Status::DeadLetter,
    ];

    /// As it is written everywhere.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Queued => "QUEUED",
            Status::Running => "RUNNING",
            Status::Succeeded => "SUCCEEDED",
            Status::Failed => "FAILED",
            Status::Cancelled => "CANCELLED",
            Status::DeadLetter => "DEAD_LETTER",
        }
    }

    /// From its written form.
    pub fn parse(text: &str) -> Option<Self> {
        Status::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Will nothing but a person move it again?
    pub fn is_finished(self) -> bool {
        !matches!(self, Status::Queued | Status::Running)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Job {
    /// The status people see.
    pub fn status(&self) -> Status {
        match self.phase {
            Phase::Queued => Status::Queued,
            Phase::Running(_) | Phase::Failing { .. } => Status::Running,
            Phase::Succeeded { .. } => Status::Succeeded,
            Phase::Failed { .. } => Status::Failed,
            Phase::Cancelled { .. } => Status::Cancelled,
            Phase::DeadLetter { .. } => Status::DeadLetter,
        }
    }

    /// The lease, while it runs.
    pub fn lease(&self) -> Option<&Lease> {
        match &self.phase {
            Phase::Running(lease) => Some(lease),
            _ => None,
        }
    }
}
