//! The loop that leases: wakes on a hint, a freed place or the time, and does the same thing either
//! way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bpc_projections::{is_any_running, waiting_lanes};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::engine::{Engine, LeasedJob};
use crate::error::EngineError;
use crate::wake::Hint;

use super::WorkerOptions;
use super::lanes::{Plan, ReadyLanes};
use super::places::Places;
use super::shared::Shared;

const ROOM_PAUSE: Duration = Duration::from_millis(20);
const NO_PANIC: &str = "leasing does not panic";

/// Leases jobs and starts them.
pub(super) struct Leaser<'a> {
    pub(super) shared: Arc<Shared>,
    pub(super) hints: Receiver<Hint>,
    /// Where leased jobs run.
    pub(super) places: &'a mut Places,
    pub(super) stop: &'a CancellationToken,
    /// Leases under way.
    pub(super) under_way: JoinSet<Lease>,
    /// How many jobs those may bring.
    pub(super) asked: usize,
    /// How many leases were begun.
    pub(super) begun: u64,
}

/// What a lease asks for, and as which of all; the first of those under way, or not.
struct Asking {
    plan: Plan,
    room: usize,
    begun: u64,
    is_first: bool,
}

/// A lease, tried.
pub(super) struct Lease {
    engine: Engine,
    asking: Asking,
    asked_at: Instant,
    leased: Result<Vec<LeasedJob>, EngineError>,
}

impl Leaser<'_> {
    /// Lease until `stop`, or, if so asked, until nothing is due or running. An error that waiting
    /// does not mend ends it.
    pub(super) async fn lease_all(mut self) -> Result<(), EngineError> {
        let mut lanes = ReadyLanes::new(Instant::now());
        let ended = self.lease_until_stopped(&mut lanes).await;
        // What they lease is held by nobody else.
        while let Some(lease) = self.under_way.join_next().await {
            let _ = self.leased(&mut lanes, lease.expect(NO_PANIC));
        }
        ended
    }

    async fn lease_until_stopped(&mut self, lanes: &mut ReadyLanes) -> Result<(), EngineError> {
        let mut backoff = Backoff::default();
        while !self.stop.is_cancelled() {
            match self.turn(lanes).await {
                // A lease that is under way has not said yet whether it can be.
                Ok(Turn::GoOn) if !self.under_way.is_empty() => continue,
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
                        // Its jobs are held by nobody else.
                        Some(lease) = self.under_way.join_next() => {
                            let _ = self.leased(lanes, lease.expect(NO_PANIC));
                        }
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
        while let Some(lease) = self.under_way.try_join_next() {
            self.leased(lanes, lease.expect(NO_PANIC))?;
        }
        // Before the hints are read, so that what a settled job leaves behind is seen.
        let is_empty_handed = self.under_way.is_empty() && self.shared.held.len() == 0;
        self.read_hints(lanes);
        let now = Instant::now();
        let has_looked =
            now >= lanes.look_at() || (options.until_idle && is_empty_handed && lanes.is_empty());
        let mut is_quiet = false;
        if has_looked {
            let store = &self.shared.engine.store;
            // At the same moment: a job taken back between two looks would be seen by neither.
            let looks_twice = options.until_idle && is_empty_handed;
            let mut tx = if looks_twice { store.begin_read().await? } else { store.glance().await? };
            let asked_at = Instant::now();
            let found = waiting_lanes(&mut tx.conn(), &store.clock).await?;
            lanes.looked(found, asked_at.elapsed(), now, &options);
            is_quiet = looks_twice && !is_any_running(&mut tx.conn(), |lane| options.is_mine(lane)).await?;
            tx.commit().await?;
        }
        let room = self.shared.room(self.asked);
        let is_worth_it = room.is_worth_a_lease && (self.under_way.is_empty() || room.is_worth_a_second);
        if !lanes.is_empty() && is_worth_it && self.under_way.len() < self.shared.engines.at_once() {
            let engine = self.shared.engines.take();
            self.asked += room.jobs;
            self.begun += 1;
            let is_first = self.under_way.is_empty();
            let asking = Asking { plan: lanes.plan(room.jobs), room: room.jobs, begun: self.begun, is_first };
            let lease = lease(options, engine, asking);
            if room.is_worth_a_second && !is_empty_handed {
                self.under_way.spawn(lease);
                return Ok(Turn::GoOn);
            }
            // No other would be begun meanwhile, and without a task it comes sooner.
            let lease = lease.await;
            if self.leased(lanes, lease)? {
                return Ok(Turn::GoOn);
            }
        }
        // Once more, for what others leased since.
        if is_quiet && lanes.is_empty() && !self.is_work_elsewhere().await? {
            return Ok(Turn::Idle);
        }
        self.wait(lanes).await?;
        Ok(Turn::GoOn)
    }

    /// A lease came back. Did it bring anything?
    fn leased(&mut self, lanes: &mut ReadyLanes, lease: Lease) -> Result<bool, EngineError> {
        let Lease { engine, asking: Asking { plan, room, begun, is_first }, asked_at, leased } = lease;
        self.shared.engines.put_back(engine);
        self.asked -= room;
        let leased = leased?;
        let elapsed_ms = asked_at.elapsed().as_millis();
        let worker_id = &*self.shared.options.worker_id;
        tracing::debug!(worker.id = worker_id, jobs = leased.len(), room, elapsed_ms, "leased");
        let is_any = !leased.is_empty();
        if leased.len() < room {
            // What another lease had locked meanwhile was counted and not found: only a look tells what else there is.
            let was_alone = is_first && begun == self.begun;
            lanes.exhausted(&plan, is_any || !was_alone, Instant::now());
        }
        if is_any && self.shared.held.len() == 0 {
            self.shared.begins(asked_at);
        }
        // A type that is full is passed over, and may have places again.
        if !self.shared.engine.registry.has_limits() {
            lanes.leased(&plan, leased.iter().map(|it| (it.job.priority, it.job.scheduled_at)));
        }
        self.shared.counts.leased(leased.len());
        self.places.start(leased, asked_at);
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

    async fn wait(&mut self, lanes: &mut ReadyLanes) -> Result<(), EngineError> {
        // Room that was not worth a lease may be, once the jobs before are slower.
        let again_at = if lanes.is_empty() { lanes.look_at() } else { Instant::now() + ROOM_PAUSE };
        tokio::select! {
            Some(lease) = self.under_way.join_next() => {
                self.leased(lanes, lease.expect(NO_PANIC))?;
            }
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
        Ok(())
    }

    /// Does any worker run a job of these lanes? It may leave more work behind.
    async fn is_work_elsewhere(&self) -> Result<bool, EngineError> {
        let mut tx = self.shared.engine.store.begin_read().await?;
        Ok(is_any_running(&mut tx.conn(), |lane| self.shared.options.is_mine(lane)).await?)
    }
}

/// Try a lease. As a task of its own the jobs of one are made ready while those of another are written.
async fn lease(options: Arc<WorkerOptions>, engine: Engine, asking: Asking) -> Lease {
    let asked_at = Instant::now();
    let leased = engine.lease(&options.worker_id, &asking.plan.lanes, asking.room, options.lease_ttl).await;
    Lease { engine, asking, asked_at, leased }
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
