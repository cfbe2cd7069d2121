//! Why is this job not running? Answered from the log and the limits.

use bpc_core::job::{Phase, Placement};
use bpc_core::{JobId, TenantId, Timestamp};
use bpc_eventstore::now_on;
use bpc_projections::{JobFilter, list_jobs, running_jobs};

use crate::error::EngineError;

use super::Engine;
use super::history::history_on;

/// The rule that holds a job back, or what moves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// Stable code of the rule.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// Until when, if that is known.
    pub until: Option<Timestamp>,
}

impl Engine {
    /// Which rule holds this job back, and until when. `None` if the tenant has no such job.
    pub async fn why(&self, tenant: TenantId, job: JobId) -> Result<Option<Why>, EngineError> {
        let mut tx = self.store.begin_read().await?;
        let Some(history) = history_on(&mut tx.conn(), tenant, job).await? else {
            return Ok(None);
        };
        let now = now_on(&mut tx.conn(), &self.store.clock).await?;
        let job = history.job;
        let why = |code, message: String, until| Some(Why { code, message, until });
        Ok(match &job.phase {
            Phase::Queued if job.scheduled_at > now => match &job.last_error {
                Some(error) => why(
                    "RETRY_WAIT",
                    format!(
                        "attempt {} of {} failed with {}; the next is due at {}",
                        job.attempts, job.max_attempts, error.code, job.scheduled_at
                    ),
                    Some(job.scheduled_at),
                ),
                None => why("NOT_DUE", format!("it is due at {}", job.scheduled_at), Some(job.scheduled_at)),
            },
            Phase::Queued => {
                let running = running_jobs(&mut tx.conn()).await?;
                let count = |is_meant: &dyn Fn(&str, &str) -> bool| -> u64 {
                    running
                        .iter()
                        .filter(|(queue, name, _)| is_meant(queue, name))
                        .map(|(.., jobs)| jobs)
                        .sum()
                };
                let in_queue = count(&|queue, _| queue == job.queue);
                let of_type = count(&|_, name| name == job.job_type);
                let filter = JobFilter {
                    tenant: Some(tenant),
                    status: Some(bpc_core::Status::Queued),
                    queue: Some(job.queue.clone()),
                    limit: 10_000,
                    ..JobFilter::default()
                };
                let ahead = list_jobs(&mut tx.conn(), &filter).await?;
                let is_ahead = |line: &Placement| match line {
                    Placement::Queue(row) => {
                        row.scheduled_at <= now
                            && (row.priority, row.scheduled_at) < (job.priority, job.scheduled_at)
                    }
                    Placement::Finished(_) => false,
                };
                let ahead = ahead.iter().filter(|line| is_ahead(line)).count();
                match (self.registry.queue_limit(&job.queue), self.registry.type_limit(&job.job_type)) {
                    _ if self.registry.job_type(&job.job_type).is_none() => why(
                        "UNSUPPORTED_JOB_TYPE",
                        format!(
                            "this program has no handler for {}; a worker that has one must run",
                            job.job_type
                        ),
                        None,
                    ),
                    (Some(most), _) if in_queue >= most.into() => why(
                        "QUEUE_LIMIT",
                        format!("queue {} is at its limit of {most} running jobs", job.queue),
                        None,
                    ),
                    (_, Some(most)) if of_type >= most.into() => why(
                        "TYPE_LIMIT",
                        format!("{} is at its limit of {most} running jobs", job.job_type),
                        None,
                    ),
                    _ if ahead > 0 => why(
                        "JOBS_AHEAD",
                        format!("{ahead} due jobs of queue {} come first, {in_queue} are running", job.queue),
                        None,
                    ),
                    _ => why(
                        "WAITS_FOR_WORKER",
                        format!(
                            "it is due and next in queue {}: it waits for a worker of that queue",
                            job.queue
                        ),
                        None,
                    ),
                }
            }
            Phase::Running(lease) if lease.expires_at <= now => why(
                "LEASE_EXPIRED",
                format!("worker {} was not heard of; any running worker will take it back", lease.worker_id),
                Some(lease.expires_at),
            ),
            Phase::Running(lease) => {
                let cancel = if lease.cancel_requested { "; a cancel was requested" } else { "" };
                why(
                    "RUNNING",
                    format!(
                        "worker {} runs attempt {} of {}{cancel}",
                        lease.worker_id, job.attempts, job.max_attempts
                    ),
                    Some(lease.expires_at),
                )
            }
            Phase::Failing { since, .. } => why(
                "FAILING",
                format!("an attempt failed at {since}; a worker will decide what follows"),
                None,
            ),
            Phase::Succeeded { at } => why("SUCCEEDED", format!("it succeeded at {at}"), None),
            Phase::Cancelled { at } => why("CANCELLED", format!("it was cancelled at {at}"), None),
            Phase::Failed { at, resolved: true } => {
                why("RESOLVED", format!("a person closed it at {at}"), None)
            }
            Phase::Failed { at, .. } | Phase::DeadLetter { at } => {
                let error = job.last_error.as_ref().map_or("", |error| &error.code);
                why(
                    job.status().as_str(),
                    format!(
                        "it failed at {at} with {error} after {} attempts; `bpc jobs replay` sends it back",
                        job.attempts
                    ),
                    None,
                )
            }
        })
    }
}
