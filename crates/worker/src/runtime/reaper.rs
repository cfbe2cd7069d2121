//! Housekeeping that any worker does for all: takes back leases that ran out, and enqueues what is
//! scheduled.

use std::collections::HashSet;
use std::sync::Arc;

use bpc_eventstore::tenants;
use tokio_util::sync::CancellationToken;

use crate::error::EngineError;

use super::shared::Shared;

const BATCH: u32 = 1000;

/// Reap and schedule until `stop`.
pub(super) async fn reap_all(shared: Arc<Shared>, stop: CancellationToken) {
    let mut ticks_done = HashSet::new();
    // Leases are looked for half an interval after the leaser looks for work: one connection then serves both.
    let pause = || tokio::time::timeout(shared.options.poll_interval / 2, stop.cancelled());
    loop {
        if let Err(error) = schedule(&shared, &mut ticks_done).await {
            report(&error, "cannot enqueue what is scheduled");
        }
        if pause().await.is_ok() {
            return;
        }
        if let Err(error) = reap(&shared).await {
            report(&error, "cannot take expired leases back");
        }
        if pause().await.is_ok() {
            return;
        }
    }
}

/// What mends itself is no news here: the leaser tells of a database that is away.
fn report(error: &EngineError, what: &str) {
    if error.is_retryable() {
        tracing::debug!(%error, "{what}");
    } else {
        tracing::error!(code = error.code(), "{what}: {error}");
    }
}

async fn reap(shared: &Shared) -> Result<(), EngineError> {
    while shared.engine.expire(BATCH).await? >= BATCH as usize {}
    Ok(())
}

/// Enqueue the job of every schedule's present tick, for every tenant of this worker. The key makes
/// it one job however many workers do so; remembering the tick only saves asking.
async fn schedule(shared: &Shared, ticks_done: &mut HashSet<String>) -> Result<(), EngineError> {
    let engine = &shared.engine;
    if engine.registry.schedules().is_empty() {
        return Ok(());
    }
    let now = engine.store.now().await?;
    let mut ticks = HashSet::new();
    for tenant in tenants(&engine.store).await? {
        if shared.options.tenants.as_ref().is_some_and(|mine| !mine.contains(&tenant.tenant_id)) {
            continue;
        }
        for schedule in engine.registry.schedules() {
            let job = schedule.job_at(now);
            let tick = format!("{}/{}", tenant.tenant_id, job.key.as_deref().unwrap_or_default());
            if !ticks_done.contains(&tick)
                && let Err(error) = engine.enqueue(tenant.tenant_id, "system", job).await
            {
                if error.is_retryable() {
                    return Err(error);
                }
                tracing::error!(code = error.code(), "schedule {} is broken: {error}", schedule.name);
            }
            ticks.insert(tick);
        }
    }
    *ticks_done = ticks;
    Ok(())
}
