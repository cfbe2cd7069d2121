//! The loop that leases: wakes on a hint, a freed place or the time, and does the same thing either
//! way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bpc_projections::{LaneRoom, is_any_running, waiting_lanes};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::engine::LeasedJob;
use crate::error::EngineError;
use crate::wake::Hint;

use super::lanes::ReadyLanes;
use super::shared::Shared;

const ROOM_PAUSE: Duration = Duration::from_millis(20);

/// Leases jobs and starts them.
pub(super) struct Leaser<'a, F: Fn(LeasedJob, Instant)> {
    pub(super) shared: Arc<Shared>,
    pub(super) hints: Receiver<Hint>,
    /// What becomes of a leased job; the moment is one at which its lease had not begun.
    pub(super) start: F,
    pub(super) stop: &'a CancellationToken,
}

impl<F: Fn(LeasedJob, Instant)> Leaser<'_, F> {
    /// Lease until `stop`, or, if so asked, until nothing is due or running. An error that waiting
    /// does not mend ends it.
    pub(super) async fn lease_all(mut self) -> Result<(), EngineError> {
        let mut lanes = ReadyLanes::new(Instant::now());
        let mut backoff = Backoff::default();
        while !self.stop.is_cancelled() {
            match self.turn(&mut lanes).await {
                Ok(Turn::GoOn) => {}
                Ok(Turn::Idle) => return Ok(()),
                Err(error) if error.is_retryable() => {
                    if backoff.is_first() {
                        tracing::warn!(%error, "cannot lease, trying again");
                    }
                    lanes.look_now(Instant::now());
                    tokio::select! {
                        () = self.stop.cancelled() => return Ok(()),
                        () = backoff.wait() => {}
                    }
                    continue;
                }
                Err(error) => return Err(error),
            }
            if !backoff.is_first() {
                tracing::info!("the database is back");
                backoff.reset();
            }
        }
        Ok(())
    }

    async fn turn(&mut self, lanes: &mut ReadyLanes) -> Result<Turn, EngineError> {
        let options = Arc::clone(&self.shared.options);
        // Before the hints are read, so that what a settled job leaves behind is seen.
        let is_empty_handed = self.shared.held.len() == 0;
        self.read_hints(lanes);
        let now = Instant::now();
        let has_looked =
            now >= lanes.look_at() || (options.until_idle && is_empty_handed && lanes.is_empty());
        let mut is_quiet = false;
        if has_looked {
            let store = &self.shared.engine.store;
            let mut tx = store.begin_read().await?;
            lanes.looked(waiting_lanes(&mut tx.conn(), &store.clock).await?, now, &options);
            // At the same moment: a job taken back between two looks would be seen by neither.
            is_quiet = options.until_idle
                && is_empty_handed
                && !is_any_running(&mut tx.conn(), |lane| options.is_mine(lane)).await?;
        }
        let room = self.shared.room();
        if !lanes.is_empty() && room.is_worth_a_lease && self.lease(lanes, room.jobs).await? {
            return Ok(Turn::GoOn);
        }
        // Once more, for what others leased since.
        if is_quiet && lanes.is_empty() && !self.is_work_elsewhere().await? {
            return Ok(Turn::Idle);
        }
        self.wait(lanes).await;
        Ok(Turn::GoOn)
    }

    async fn lease(&mut self, lanes: &mut ReadyLanes, room: usize) -> Result<bool, EngineError> {
        let options = &self.shared.options;
        let plan: Vec<LaneRoom> = lanes.plan(room);
        let asked_at = Instant::now();
        let leased = self.shared.leasing.lease(&options.worker_id, &plan, room, options.lease_ttl).await?;
        let elapsed_ms = asked_at.elapsed().as_millis();
        tracing::debug!(worker.id = options.worker_id, jobs = leased.len(), room, elapsed_ms, "leased");
        let is_any = !leased.is_empty();
        if leased.len() < room {
            lanes.exhausted(&plan, is_any, Instant::now());
        }
        // A type that is full is passed over, and may have places again.
        if !self.shared.engine.registry.has_limits() {
            lanes.leased(leased.iter().map(|leased| &leased.job));
        }
        self.shared.counts.leased(leased.len());
        for job in leased {
            (self.start)(job, asked_at);
        }
        Ok(is_any)
    }

    fn read_hints(&mut self, lanes: &mut ReadyLanes) {
        use tokio::sync::broadcast::error::TryRecvError;
        loop {
            match self.hints.try_recv() {
                Ok(hint) => take(hint, lanes, &self.shared),
                Err(TryRecvError::Lagged(_)) => lanes.look_now(Instant::now()),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    async fn wait(&mut self, lanes: &mut ReadyLanes) {
        // Room that was not worth a lease may be, once the jobs before are slower.
        let again_at = if lanes.is_empty() { lanes.look_at() } else { Instant::now() + ROOM_PAUSE };
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = self.shared.freed.notified() => {}
            () = tokio::time::sleep_until(again_at.min(lanes.look_at()).into()) => {}
            hint = self.hints.recv() => match hint {
                Ok(hint) => take(hint, lanes, &self.shared),
                Err(RecvError::Lagged(_)) => lanes.look_now(Instant::now()),
                // The engine holds a sender, so this does not happen; the timer goes on anyway.
                Err(RecvError::Closed) => {}
            },
        }
    }

    /// Does any worker run a job of these lanes? It may leave more work behind.
    async fn is_work_elsewhere(&self) -> Result<bool, EngineError> {
        let mut tx = self.shared.engine.store.begin_read().await?;
        Ok(is_any_running(&mut tx.conn(), |lane| self.shared.options.is_mine(lane)).await?)
    }
}

enum Turn {
    GoOn,
    Idle,
}

fn take(hint: Hint, lanes: &mut ReadyLanes, shared: &Shared) {
    match hint {
        Hint::Lane(lane) => lanes.hint(lane, &shared.options),
        Hint::Anything => lanes.look_now(Instant::now()),
        Hint::Cancel => {}
    }
}
