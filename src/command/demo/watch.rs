//! Looking on while a worker works.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use bpc_core::{Status, TenantId};
use bpc_eventstore::Store;
use bpc_projections::{JobFilter, list_jobs};

use crate::call::Call;
use crate::command::jobs::JobLine;
use crate::error::Failure;
use crate::progress;

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(50);
/// Nothing on the tour takes this long, not even the gate of the rules in a build without optimisation.
const PATIENCE: Duration = Duration::from_secs(600);

/// Looks on, and tells of every failed attempt once.
#[derive(Default)]
pub struct Watch {
    told: HashSet<(String, String, Status)>,
}

impl Watch {
    /// Wait until no job of the tenant waits or runs.
    pub async fn until_finished(
        &mut self,
        call: &Call<'_>,
        store: &Store,
        tenant: TenantId,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let bar = progress::tally(call.output, "jobs");
        let is_terminal = std::io::stderr().is_terminal();
        let mut finished_before = None;
        loop {
            let jobs = jobs_of(store, tenant).await?;
            let finished = jobs.iter().filter(|job| job.status.is_finished()).count();
            bar.set_length(jobs.len() as u64);
            bar.set_position(finished as u64);
            for job in &jobs {
                // Every retry and every replay has a due time of its own.
                if self.told.insert((job.job_id.clone(), job.scheduled_at.clone(), job.status)) {
                    tell(job, |line| bar.suspend(|| call.output.line(line)));
                }
            }
            if !is_terminal && finished_before.replace(finished) != Some(finished) {
                call.output.remark(format_args!("  {finished} of {} jobs finished", jobs.len()));
            }
            if finished == jobs.len() || start.elapsed() > PATIENCE {
                bar.finish_and_clear();
                return if finished == jobs.len() { Ok(()) } else { Err(stuck(jobs.len() - finished)) };
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}

fn stuck(jobs: usize) -> Failure {
    Failure::refused("DEMO_STUCK", format!("{jobs} jobs are not finished after {PATIENCE:?}"))
}

/// Failures are what a tour is for; successes are counted.
fn tell(job: &JobLine, say: impl Fn(String)) {
    let Some(code) = job.error_code.as_ref().filter(|_| job.attempts > 0) else { return };
    let attempt =
        format!("{} failed with {code} at attempt {} of {}", job.job_type, job.attempts, job.max_attempts);
    match job.status {
        Status::Queued => say(format!("{attempt}; the next is due at {}", &job.scheduled_at[11..23])),
        Status::DeadLetter => say(format!("{attempt}; it is a dead letter now")),
        Status::Failed if !job.resolved => say(format!("{attempt}, for good")),
        _ => {}
    }
}

async fn jobs_of(store: &Store, tenant: TenantId) -> Result<Vec<JobLine>, Failure> {
    let filter = JobFilter { tenant: Some(tenant), limit: 1000, ..JobFilter::default() };
    let mut tx = store.begin_read().await?;
    Ok(list_jobs(&mut tx.conn(), &filter).await?.into_iter().map(JobLine::from).collect())
}
