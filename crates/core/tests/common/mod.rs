//! One job of one tenant, and words for where it stands.

use std::time::Duration;

use bpc_core::job::Phase;
use bpc_core::{Job, JobId, TenantId, Timestamp};
use uuid::Uuid;

/// Whose job it is.
pub const TENANT: TenantId = TenantId(Uuid::from_u128(0x7e));
/// The job.
pub const JOB: JobId = JobId(Uuid::from_u128(0x70b));

/// So many seconds into the story.
pub fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(1_794_858_511_000_000).plus(Duration::from_secs(seconds))
}

/// Where a job stands, in the words of the table of its life.
pub fn state_name(job: Option<&Job>) -> &'static str {
    match job.map(|job| &job.phase) {
        None => "none",
        Some(Phase::Queued) => "QUEUED",
        Some(Phase::Running(lease)) if lease.cancel_requested => "RUNNING, cancel requested",
        Some(Phase::Running(_)) => "RUNNING",
        Some(Phase::Failing { .. }) => "FAILING",
        Some(Phase::Succeeded { .. }) => "SUCCEEDED",
        Some(Phase::Failed { resolved: false, .. }) => "FAILED",
        Some(Phase::Failed { resolved: true, .. }) => "FAILED, resolved",
        Some(Phase::Cancelled { .. }) => "CANCELLED",
        Some(Phase::DeadLetter { .. }) => "DEAD_LETTER",
    }
}
