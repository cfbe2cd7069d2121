//! One job as JSON.

use bpc_core::Status;
use bpc_core::job::Placement;
use serde::Serialize;

/// The names are part of the contract. What does not apply is left out.
#[derive(Debug, Serialize)]
pub struct JobLine {
    pub job_id: String,
    pub tenant_id: String,
    #[serde(rename = "type")]
    pub job_type: String,
    pub queue: String,
    #[serde(serialize_with = "as_text")]
    pub status: Status,
    pub priority: u8,
    pub attempts: u32,
    pub max_attempts: u32,
    pub scheduled_at: String,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress_percent: Option<u8>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cancel_requested: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resolved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

impl From<Placement> for JobLine {
    fn from(placement: Placement) -> Self {
        match placement {
            Placement::Queue(row) => JobLine {
                job_id: row.job_id.to_string(),
                tenant_id: row.tenant_id.to_string(),
                job_type: row.job_type,
                queue: row.queue,
                status: if row.running { Status::Running } else { Status::Queued },
                priority: row.priority,
                attempts: row.attempts,
                max_attempts: row.max_attempts,
                scheduled_at: row.scheduled_at.to_string(),
                created_at: row.created_at.to_string(),
                finished_at: None,
                worker_id: row.worker_id,
                lease_expires_at: row.lease_expires_at.map(|at| at.to_string()),
                progress_percent: row.progress_percent,
                cancel_requested: row.cancel_requested,
                resolved: false,
                error_code: row.error_code,
                error_message: row.error_message,
            },
            Placement::Finished(row) => JobLine {
                job_id: row.job_id.to_string(),
                tenant_id: row.tenant_id.to_string(),
                job_type: row.job_type,
                queue: row.queue,
                status: row.status,
                priority: row.priority,
                attempts: row.attempts,
                max_attempts: row.max_attempts,
                scheduled_at: row.scheduled_at.to_string(),
                created_at: row.created_at.to_string(),
                finished_at: Some(row.finished_at.to_string()),
                worker_id: None,
                lease_expires_at: None,
                progress_percent: None,
                cancel_requested: false,
                resolved: row.resolved,
                error_code: row.error_code,
                error_message: row.error_message,
            },
        }
    }
}

fn as_text<S: serde::Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.as_str())
}
