//! What a running handler can ask of its surroundings.

use std::sync::{Arc, Mutex, MutexGuard};

use bpc_core::{StreamId, TenantId, Timestamp, Version};
use bpc_eventstore::{Store, StoreError, StoredEvent, read_stream, stream_heads};

use crate::effects::Effects;
use crate::flag::Flag;

/// Handed to every attempt. It can read, listen for a wish to stop, and say how far it is; it holds
/// no transaction and no connection.
#[derive(Clone, Debug)]
pub struct Context(Arc<Attempted>);

/// All that an attempt and its worker tell each other, in one piece: every job has one.
#[derive(Debug)]
struct Attempted {
    store: Store,
    leased_at: Timestamp,
    /// The handler should stop.
    stop: Flag,
    /// Nobody waits for the handler any more.
    abandon: Flag,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    stopping: Option<Stopping>,
    progress: Option<Said>,
    if_failed: Effects,
}

/// Progress said by a handler and not recorded yet.
pub(crate) type Said = (u8, Option<String>, Option<String>);

/// Why a handler should stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// Somebody cancelled the job: return [`HandlerError::Cancelled`](crate::HandlerError::Cancelled).
    Cancelled,
    /// The soft time limit is over: finish quickly or fail.
    SoftLimit,
    /// The lease is lost: whatever it returns will be refused.
    LeaseLost,
    /// The worker stops: finish within the grace period, or the job is given back.
    WorkerStops,
}

impl Context {
    pub(crate) fn new(store: Store, leased_at: Timestamp) -> Self {
        let (stop, abandon, told) = (Flag::default(), Flag::default(), Mutex::default());
        Context(Arc::new(Attempted { store, leased_at, stop, abandon, told }))
    }

    /// When the attempt began, by the database's clock. Handlers that need a time use this one.
    pub fn leased_at(&self) -> Timestamp {
        self.0.leased_at
    }

    /// Should the handler stop, and why? To be asked between steps.
    pub fn stopping(&self) -> Option<Stopping> {
        self.told().stopping
    }

    /// Wait until the handler should stop, for use in a `select!`.
    pub async fn stopped(&self) -> Option<Stopping> {
        self.0.stop.raised().await;
        self.stopping()
    }

    /// Say how far the handler is. Recorded at most every two seconds, the newest of what was said,
    /// and never backwards.
    pub fn progress(&self, percent: u8, step: Option<&str>, message: Option<&str>) {
        let said = (percent.min(100), step.map(str::to_owned), message.map(str::to_owned));
        self.told().progress = Some(said);
    }

    /// What to commit if this attempt fails, in the transaction that records the failure; it takes the
    /// place of what was said before. If it cannot be committed, the failure is recorded alone.
    pub fn if_failed(&self, effects: Effects) {
        self.told().if_failed = effects;
    }

    /// The version of a stream, to decide on. Zero if there is none yet.
    pub async fn stream_version(&self, stream: StreamId) -> Result<Version, StoreError> {
        let mut tx = self.0.store.begin_read().await?;
        let heads = stream_heads(&mut tx.conn(), &[stream]).await?;
        Ok(heads.get(&stream).map_or(Version::NONE, |head| head.head.version))
    }

    /// The events of a stream, to decide on.
    pub async fn read_stream(
        &self,
        tenant: TenantId,
        stream: StreamId,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut tx = self.0.store.begin_read().await?;
        read_stream(&mut tx.conn(), tenant, stream).await
    }

    /// The log, for handlers that read views of their pack.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn take_if_failed(&self) -> Effects {
        std::mem::take(&mut self.told().if_failed)
    }

    pub(crate) fn has_progress(&self) -> bool {
        self.told().progress.is_some()
    }

    pub(crate) fn take_progress(&self) -> Option<Said> {
        self.told().progress.take()
    }

    /// It was not recorded: try again later, unless something newer was said.
    pub(crate) fn put_progress_back(&self, said: Option<Said>) {
        let mut told = self.told();
        if told.progress.is_none() {
            told.progress = said;
        }
    }

    /// A reason that ends the job outweighs one that only asks it to hurry, whichever came first.
    pub(crate) fn ask_to_stop(&self, why: Stopping) {
        let mut told = self.told();
        if matches!(told.stopping, None | Some(Stopping::SoftLimit | Stopping::WorkerStops)) {
            told.stopping = Some(why);
        }
        drop(told);
        self.0.stop.raise();
    }

    /// End the attempt without waiting for its handler.
    pub(crate) fn abandon(&self) {
        self.0.abandon.raise();
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.0.abandon.is_raised()
    }

    pub(crate) async fn abandoned(&self) {
        self.0.abandon.raised().await;
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.told.lock().expect("no panic while held")
    }
}
