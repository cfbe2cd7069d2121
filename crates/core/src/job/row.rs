//! The views' rows as pure functions of the state, and back.
//!
//! A live job's queue row carries its whole state, so leasing and settling never re-read history.
//! A finished job leaves the queue and stands in the list of finished jobs.

use crate::chain::Hash;
use crate::envelope::Head;
use crate::id::{JobId, TenantId, Version};
use crate::time::Timestamp;

use super::state::{Job, LastError, Lease, Phase, Progress, Status};

/// Where a job stands in the views: exactly one of the two.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// Live: in the queue.
    Queue(QueueRow),
    /// Finished: in the list of finished jobs.
    Finished(FinishedRow),
}

/// A row of the queue view.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is the field of `Job` or `Lease` of that name")]
pub struct QueueRow {
    pub job_id: JobId,
    pub tenant_id: TenantId,
    pub job_type: String,
    pub queue: String,
    pub priority: u8,
    pub max_attempts: u32,
    pub attempts: u32,
    pub created_at: Timestamp,
    pub scheduled_at: Timestamp,
    pub version: Version,
    /// Absent while it runs: the worker that holds it knows the hash of its `LEASED` event, and whoever
    /// else needs the head reads it from the log. So leasing need not write it back. Absent also as long as the
    /// job is as it was enqueued: whoever leases it reads that event anyway.
    pub head_hash: Option<Hash>,
    /// Leased, or failing: no worker may lease it.
    pub running: bool,
    pub worker_id: Option<String>,
    pub fence: Option<Version>,
    /// While running: when the reaper may take it.
    pub lease_expires_at: Option<Timestamp>,
    pub cancel_requested: bool,
    pub progress_percent: Option<u8>,
    pub progressed_at: Option<Timestamp>,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
}

/// A row of the view of finished jobs.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is the field of `Job` of that name")]
pub struct FinishedRow {
    pub tenant_id: TenantId,
    pub created_at: Timestamp,
    pub job_id: JobId,
    pub job_type: String,
    pub queue: String,
    pub status: Status,
    pub priority: u8,
    pub attempts: u32,
    pub max_attempts: u32,
    pub scheduled_at: Timestamp,
    pub finished_at: Timestamp,
    pub version: Version,
    /// Closed by a person.
    pub resolved: bool,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
}

impl Placement {
    /// The row of a state.
    pub fn of(job: Job) -> Placement {
        match finished(&job.phase) {
            None => Placement::Queue(queue_row(job)),
            Some((finished_at, resolved)) => {
                let status = job.status();
                let (error_code, error_message) = split(job.last_error);
                Placement::Finished(FinishedRow {
                    tenant_id: job.tenant_id,
                    created_at: job.created_at,
                    job_id: job.job_id,
                    job_type: job.job_type,
                    queue: job.queue,
                    status,
                    priority: job.priority,
                    attempts: job.attempts,
                    max_attempts: job.max_attempts,
                    scheduled_at: job.scheduled_at,
                    finished_at,
                    version: job.head.version,
                    resolved,
                    error_code,
                    error_message,
                })
            }
        }
    }
}

impl QueueRow {
    /// The state that the row stands for, given the hash of the event at its version. Only
    /// `settled_fence` is not kept: it speaks of attempts that are over, and whoever asks about one of
    /// those reads the log.
    pub fn into_job(self, head_hash: Hash) -> Job {
        let row = self;
        let phase = match (row.running, row.worker_id, row.fence, row.lease_expires_at) {
            (true, Some(worker_id), Some(fence), Some(expires_at)) => Phase::Running(Lease {
                worker_id,
                fence,
                expires_at,
                cancel_requested: row.cancel_requested,
                progress: row
                    .progress_percent
                    .zip(row.progressed_at)
                    .map(|(percent, at)| Progress { percent, at }),
            }),
            (true, _, _, since) => {
                Phase::Failing { since: since.unwrap_or_default(), cancel_requested: row.cancel_requested }
            }
            (false, ..) => Phase::Queued,
        };
        Job {
            tenant_id: row.tenant_id,
            job_id: row.job_id,
            job_type: row.job_type,
            queue: row.queue,
            priority: row.priority,
            max_attempts: row.max_attempts,
            attempts: row.attempts,
            created_at: row.created_at,
            scheduled_at: row.scheduled_at,
            head: Head { version: row.version, hash: head_hash },
            phase,
            last_error: row
                .error_code
                .map(|code| LastError { code, message: row.error_message.unwrap_or_default() }),
            settled_fence: Version::NONE,
        }
    }
}

fn queue_row(job: Job) -> QueueRow {
    let (error_code, error_message) = split(job.last_error);
    let mut row = QueueRow {
        job_id: job.job_id,
        tenant_id: job.tenant_id,
        job_type: job.job_type,
        queue: job.queue,
        priority: job.priority,
        max_attempts: job.max_attempts,
        attempts: job.attempts,
        created_at: job.created_at,
        scheduled_at: job.scheduled_at,
        version: job.head.version,
        head_hash: (job.head.version > Version(1)).then_some(job.head.hash),
        running: false,
        worker_id: None,
        fence: None,
        lease_expires_at: None,
        cancel_requested: false,
        progress_percent: None,
        progressed_at: None,
        error_code,
        error_message,
    };
    match job.phase {
        Phase::Running(lease) => {
            row.running = true;
            row.head_hash = None;
            row.worker_id = Some(lease.worker_id);
            row.fence = Some(lease.fence);
            row.lease_expires_at = Some(lease.expires_at);
            row.cancel_requested = lease.cancel_requested;
            row.progress_percent = lease.progress.map(|progress| progress.percent);
            row.progressed_at = lease.progress.map(|progress| progress.at);
        }
        Phase::Failing { since, cancel_requested } => {
            row.running = true;
            row.lease_expires_at = Some(since);
            row.cancel_requested = cancel_requested;
        }
        _ => {}
    }
    row
}

fn finished(phase: &Phase) -> Option<(Timestamp, bool)> {
    match *phase {
        Phase::Queued | Phase::Running(_) | Phase::Failing { .. } => None,
        Phase::Succeeded { at } | Phase::Cancelled { at } | Phase::DeadLetter { at } => Some((at, false)),
        Phase::Failed { at, resolved } => Some((at, resolved)),
    }
}

fn split(error: Option<LastError>) -> (Option<String>, Option<String>) {
    error.map(|error| (error.code, error.message)).unzip()
}
