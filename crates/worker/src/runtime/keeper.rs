//! Keeps the leases of running jobs: one batched renewal for all, progress, cancel requests; and ends
//! attempts whose lease cannot be kept before somebody else may take them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bpc_core::JobId;
use bpc_eventstore::StoreError;
use bpc_projections::cancel_requests;
use tokio_util::sync::CancellationToken;

use crate::context::Stopping;
use crate::engine::{Keep, Kept};
use crate::error::EngineError;
use crate::wake::Hint;

use super::WorkerOptions;
use super::held::Held;
use super::shared::Shared;

/// Keep until `stop`, which comes only when nothing is held any more.
pub(super) async fn keep_all(shared: Arc<Shared>, stop: CancellationToken) {
    let mut hints = shared.engine.hints.subscribe();
    let mut asked_at = Instant::now();
    let tick = tick(&shared.options);
    // Stands outside the loop: hints may come faster than ticks, and leases must be kept all the same.
    let mut next = Instant::now() + tick;
    loop {
        let is_cancel_hinted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = tokio::time::sleep_until(next.into()) => false,
            // A hint that is not about cancelling costs one turn of this loop; one that was missed, a look.
            hint = hints.recv() => match hint {
                Ok(Hint::Cancel) | Err(_) => true,
                Ok(_) => continue,
            },
        };
        keep(&shared).await;
        next = Instant::now() + tick;
        if is_cancel_hinted || asked_at.elapsed() >= shared.options.poll_interval {
            asked_at = Instant::now();
            pass_cancel_requests_on(&shared, is_cancel_hinted).await;
        }
    }
}

fn tick(options: &WorkerOptions) -> Duration {
    let fine = (options.renew_interval / 4).min(options.lease_ttl / 10).min(options.poll_interval);
    fine.clamp(Duration::from_millis(10), Duration::from_millis(500))
}

/// How much of a lease must be left for its job to go on.
fn margin(options: &WorkerOptions) -> Duration {
    options.lease_ttl / 10
}

/// What to do about one job held.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// Its lease is about to end: nobody may be running it then.
    Lose,
    Renew,
    Leave,
}

/// By what is left of the lease: renewed once less than this is left than when it was new.
fn plan(left: Duration, options: &WorkerOptions) -> Plan {
    if left <= margin(options) {
        Plan::Lose
    } else if left + options.renew_interval <= options.lease_ttl {
        Plan::Renew
    } else {
        Plan::Leave
    }
}

async fn keep(shared: &Shared) {
    let options = &*shared.options;
    let now = Instant::now();
    let mut keeps = Vec::new();
    for (job_id, held) in shared.held.all(|held| is_worth_a_look(held, now, options)) {
        let plan = plan(held.deadline.saturating_duration_since(now), options);
        if plan == Plan::Lose {
            held.lose();
            continue;
        }
        let progress = held.cx.take_progress();
        if plan == Plan::Renew || progress.is_some() {
            keeps.push((Keep { job_id, fence: held.fence, renew: plan == Plan::Renew, progress }, held));
        }
    }
    let until = next_loss(shared);
    for batch in keeps.chunks(options.batch) {
        if let Err(error) = keep_batch(shared, batch, now, until).await {
            // Tried again at the next tick; leases that end meanwhile are lost, not stretched.
            tracing::warn!(%error, jobs = batch.len(), "cannot renew leases");
        }
    }
}

/// Most jobs are over long before anything has to be done about them.
fn is_worth_a_look(held: &Held, now: Instant, options: &WorkerOptions) -> bool {
    let is_due = plan(held.deadline.saturating_duration_since(now), options) != Plan::Leave;
    // One that was lost while it stood in line is held until its turn comes.
    (held.cx.has_progress() || is_due) && !held.cx.is_abandoned()
}

/// When this loop must be back, whatever the database does: a lease that cannot be renewed in time is lost
/// then, and one that waits for an answer cannot see to it.
fn next_loss(shared: &Shared) -> Instant {
    let deadline = shared.held.first_deadline();
    deadline.map_or_else(|| Instant::now() + shared.options.lease_ttl, |it| it - margin(&shared.options))
}

async fn keep_batch(
    shared: &Shared,
    batch: &[(Keep, Held)],
    asked_at: Instant,
    until: Instant,
) -> Result<(), EngineError> {
    let options = &*shared.options;
    let keeps: Vec<Keep> = batch.iter().map(|(keep, _)| keep.clone()).collect();
    let keep = shared.engine.keep(&options.worker_id, &keeps, options.lease_ttl);
    let kept = in_time(until, keep).await.inspect_err(|_| {
        batch.iter().for_each(|(keep, held)| held.cx.put_progress_back(keep.progress.clone()));
    })?;
    for (keep, held) in batch {
        match kept.get(&keep.job_id) {
            Some(Kept::Held { progressed }) => {
                if keep.renew {
                    shared.held.extend(keep.job_id, keep.fence, asked_at + options.lease_ttl);
                }
                if !progressed {
                    held.cx.put_progress_back(keep.progress.clone());
                }
            }
            Some(Kept::Lost) | None => held.lose(),
        }
    }
    Ok(())
}

async fn pass_cancel_requests_on(shared: &Shared, is_hinted: bool) {
    let long = |held: &Held| is_hinted || held.since.elapsed() >= shared.options.poll_interval;
    let held = shared.held.all(long);
    if held.is_empty() {
        return;
    }
    let asked = asked_to_cancel(shared, held.iter().map(|(id, _)| *id).collect());
    match in_time(next_loss(shared), asked).await {
        Ok(asked) => {
            for (_, held) in held.iter().filter(|(id, _)| asked.contains(id)) {
                held.cx.ask_to_stop(Stopping::Cancelled);
            }
        }
        Err(error) => tracing::debug!(%error, "cannot look for cancel requests"),
    }
}

async fn in_time<T>(
    until: Instant,
    answer: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    let silent = |_| StoreError::Unavailable(sqlx::Error::PoolTimedOut);
    tokio::time::timeout_at(until.into(), answer).await.map_err(silent)?
}

async fn asked_to_cancel(shared: &Shared, jobs: Vec<JobId>) -> Result<Vec<JobId>, EngineError> {
    let mut tx = shared.engine.store.glance().await?;
    let asked = cancel_requests(&mut tx.conn(), &jobs).await?;
    tx.commit().await?;
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_renewed_after_the_interval_and_lost_before_it_ends() {
        let options = WorkerOptions::named("w");
        for (left_s, expected) in [
            (60, Plan::Leave),
            (31, Plan::Leave),
            (30, Plan::Renew),
            (7, Plan::Renew),
            (6, Plan::Lose),
            (0, Plan::Lose),
        ] {
            assert_eq!(plan(Duration::from_secs(left_s), &options), expected, "{left_s} s left");
        }
    }
}
