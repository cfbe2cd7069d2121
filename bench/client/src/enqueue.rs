//! One client that enqueues.

use std::time::{Duration, Instant};

use bpc_worker::{Engine, Enqueue, Handler};
use serde_json::json;

use crate::error::ClientError;
use crate::log::{ACTOR, Place, tenant};
use crate::noop::Noop;
use crate::options::Options;
use crate::payload::{Payload, now};

/// So many jobs, `batch` in one transaction, one transaction after another, for at most that long. Says how many it
/// were and how long they took.
pub async fn timed(
    place: &Place,
    options: &Options,
    jobs: u64,
    batch: u64,
    limit: Duration,
) -> Result<(), ClientError> {
    let engine = place.open(options).await?;
    let (start, mut done) = (Instant::now(), 0);
    while done < jobs && start.elapsed() < limit {
        let share = batch.min(jobs - done);
        enqueue(&engine, (done..done + share).map(|id| Payload::new(id, 0))).await?;
        done += share;
    }
    println!("{}", json!({"n": done, "secs": start.elapsed().as_secs_f64()}));
    Ok(())
}

/// So many jobs, one at a time with a pause between them, each carrying the time of its call.
pub async fn spaced(
    place: &Place,
    options: &Options,
    jobs: u64,
    spacing: Duration,
) -> Result<(), ClientError> {
    let engine = place.open(options).await?;
    for id in 0..jobs {
        enqueue(&engine, [Payload::new(id, now())]).await?;
        tokio::time::sleep(spacing).await;
    }
    Ok(())
}

async fn enqueue(engine: &Engine, payloads: impl IntoIterator<Item = Payload>) -> Result<(), ClientError> {
    let jobs = payloads
        .into_iter()
        .map(|payload| Enqueue::new(Noop::TYPE, &payload))
        .collect::<Result<Vec<_>, _>>()?;
    for outcome in engine.enqueue_all(tenant(), ACTOR, jobs).await? {
        outcome?;
    }
    Ok(())
}
