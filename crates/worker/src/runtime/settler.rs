//! Group commit: finished attempts are settled many at a time, whatever has gathered while the
//! transaction before was on its way.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bpc_core::job::Outcome;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::backoff::Backoff;
use crate::engine::{Attempt, Engine, Settled};
use crate::error::EngineError;

use super::shared::Shared;

const LINGER: Duration = Duration::from_millis(1);
/// Attempts that are worth settling while others are being settled.
const SECOND_BATCH: usize = 250;
/// How long fewer than that wait for those.
const PATIENCE: Duration = Duration::from_millis(50);

/// Settle what finishes, as many batches at a time as is useful, until every sender is gone and nothing waits.
pub(super) async fn settle_all(shared: Arc<Shared>, mut finished: mpsc::Receiver<Attempt>) {
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() >= shared.engines.at_once() {
            under_way.join_next().await.transpose().expect(NO_PANIC);
        }
        let mut batch = gather(&shared, &mut finished).await;
        if batch.is_empty() {
            break;
        }
        while under_way.try_join_next().transpose().expect(NO_PANIC).is_some() {}
        // Few are about as soon settled after the batch before as beside it, and take no connection from anybody; unless
        // that one waits for something.
        let until = tokio::time::Instant::now() + PATIENCE;
        while !under_way.is_empty() && batch.len() < SECOND_BATCH {
            let room = shared.options.batch - batch.len();
            tokio::select! {
                settled = under_way.join_next() => drop(settled.transpose().expect(NO_PANIC)),
                () = tokio::time::sleep_until(until) => break,
                count = finished.recv_many(&mut batch, room), if room > 0 && !finished.is_closed() => {
                    if count == 0 {
                        break;
                    }
                }
            }
        }
        under_way.spawn(settle_one_batch(Arc::clone(&shared), batch));
    }
    under_way.join_all().await;
}

const NO_PANIC: &str = "settling does not panic";

async fn settle_one_batch(shared: Arc<Shared>, batch: Vec<Attempt>) {
    let engine = shared.engines.take();
    let started = Instant::now();
    settle(&shared, &engine, &batch).await;
    let elapsed_ms = started.elapsed().as_millis();
    tracing::debug!(worker.id = shared.options.worker_id, jobs = batch.len(), elapsed_ms, "settled");
    shared.engines.put_back(engine);
}

/// What has finished, or nothing if nothing ever will.
async fn gather(shared: &Shared, finished: &mut mpsc::Receiver<Attempt>) -> Vec<Attempt> {
    let most = shared.options.batch;
    let mut batch = Vec::new();
    finished.recv_many(&mut batch, most).await;
    // Others are about to finish: a moment's wait makes one commit of many.
    if !batch.is_empty() && batch.len() < most && shared.held.len() > batch.len() {
        tokio::time::sleep(LINGER).await;
        while batch.len() < most
            && let Ok(attempt) = finished.try_recv()
        {
            batch.push(attempt);
        }
    }
    batch
}

/// Settle a batch, however long the database is away: the outcomes are here and nowhere else.
async fn settle(shared: &Shared, engine: &Engine, batch: &[Attempt]) {
    let mut backoff = Backoff::default();
    let mut conflicts = 0;
    // Whatever becomes of them: a lease that is not ended here is by the reaper, when its time comes.
    let leases = shared.held.leases_over();
    loop {
        match engine.settle_and_end(&shared.options.worker_id, batch, &leases).await {
            Ok(settled) => {
                if !backoff.is_first() {
                    tracing::info!(jobs = batch.len(), "the database is back, settled");
                }
                batch.iter().zip(settled).for_each(|(attempt, settled)| count(shared, attempt, settled));
                let is_finished = |attempt: &&Attempt| !matches!(attempt.outcome, Outcome::Released);
                return shared.let_go(batch, batch.iter().filter(is_finished).count());
            }
            Err(error) if error.is_unavailable() && is_too_late(shared, batch) => {
                return batch.iter().for_each(|attempt| given_up(shared, attempt, &error));
            }
            Err(error) if error.is_unavailable() => {
                if backoff.is_first() {
                    tracing::warn!(%error, jobs = batch.len(), "cannot settle yet");
                }
                backoff.wait().await;
            }
            // Somebody appended to a stream of one of these at the same moment.
            Err(error) if error.is_retryable() && conflicts < CONFLICTS_MAX => conflicts += 1,
            // One bad job must not fail its neighbours.
            Err(_) if batch.len() > 1 => {
                for attempt in batch {
                    Box::pin(settle(shared, engine, std::slice::from_ref(attempt))).await;
                }
                return;
            }
            Err(error) => return given_up(shared, &batch[0], &error),
        }
    }
}

/// A worker that stops waits for the database only as long as settling can still succeed.
fn is_too_late(shared: &Shared, batch: &[Attempt]) -> bool {
    let is_lost = |attempt: &Attempt| shared.held.is_lost(attempt.leased.job_id, attempt.fence());
    shared.winds_down.load(Ordering::Relaxed) && batch.iter().all(is_lost)
}

const CONFLICTS_MAX: u32 = 10;

fn count(shared: &Shared, attempt: &Attempt, settled: Settled) {
    match settled {
        Settled::Recorded(_) | Settled::Already => shared.counts.count(&attempt.outcome),
        Settled::Refused => {
            shared.counts.refused();
            tracing::warn!(
                job.id = %attempt.leased.job_id,
                job.r#type = attempt.leased.job_type,
                job.attempt = attempt.leased.attempts,
                "completion refused: the lease was lost"
            );
        }
    }
}

/// The database answers and says no, for this attempt alone. Its lease will end and it will be tried
/// again; nothing of it was written.
fn given_up(shared: &Shared, attempt: &Attempt, error: &EngineError) {
    tracing::error!(
        job.id = %attempt.leased.job_id,
        job.r#type = attempt.leased.job_type,
        job.attempt = attempt.leased.attempts,
        code = error.code(),
        "the outcome could not be recorded: {error}"
    );
    shared.let_go(std::slice::from_ref(attempt), 0);
}
