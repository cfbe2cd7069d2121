//! What a running handler can ask of its surroundings.

use std::sync::{Arc, Mutex};

use bpc_core::{StreamId, TenantId, Timestamp, Version};
use bpc_eventstore::{Store, StoreError, StoredEvent, read_stream, stream_heads};
use tokio_util::sync::CancellationToken;

use crate::effects::Effects;

/// Handed to every attempt. It can read, listen for a wish to stop, and say how far it is; it holds
/// no transaction and no connection.
#[derive(Clone, Debug)]
pub struct Context {
    store: Store,
    leased_at: Timestamp,
    stop: CancellationToken,
    reason: Arc<Mutex<Option<Stopping>>>,
    progress: Arc<Mutex<Option<Said>>>,
    if_failed: Arc<Mutex<Effects>>,
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
        Context {
            store,
            leased_at,
            stop: CancellationToken::new(),
            reason: Arc::default(),
            progress: Arc::default(),
            if_failed: Arc::default(),
        }
    }

    /// When the attempt began, by the database's clock. Handlers that need a time use this one.
    pub fn leased_at(&self) -> Timestamp {
        self.leased_at
    }

    /// Should the handler stop, and why? To be asked between steps.
    pub fn stopping(&self) -> Option<Stopping> {
        *self.reason.lock().expect("no panic while held")
    }

    /// Wait until the handler should stop, for use in a `select!`.
    pub async fn stopped(&self) -> Option<Stopping> {
        self.stop.cancelled().await;
        self.stopping()
    }

    /// Say how far the handler is. Recorded at most every two seconds, the newest of what was said,
    /// and never backwards.
    pub fn progress(&self, percent: u8, step: Option<&str>, message: Option<&str>) {
        let said = (percent.min(100), step.map(str::to_owned), message.map(str::to_owned));
        *self.progress.lock().expect("no panic while held") = Some(said);
    }

    /// What to commit if this attempt fails, in the transaction that records the failure; it takes the
    /// place of what was said before. If it cannot be committed, the failure is recorded alone.
    pub fn if_failed(&self, effects: Effects) {
        *self.if_failed.lock().expect("no panic while held") = effects;
    }

    /// The version of a stream, to decide on. Zero if there is none yet.
    pub async fn stream_version(&self, stream: StreamId) -> Result<Version, StoreError> {
        let mut tx = self.store.begin_read().await?;
        let heads = stream_heads(&mut tx.conn(), &[stream]).await?;
        Ok(heads.get(&stream).map_or(Version::NONE, |head| head.head.version))
    }

    /// The events of a stream, to decide on.
    pub async fn read_stream(
        &self,
        tenant: TenantId,
        stream: StreamId,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut tx = self.store.begin_read().await?;
        read_stream(&mut tx.conn(), tenant, stream).await
    }

    /// The log, for handlers that read views of their pack.
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn take_if_failed(&self) -> Effects {
        std::mem::take(&mut *self.if_failed.lock().expect("no panic while held"))
    }

    pub(crate) fn has_progress(&self) -> bool {
        self.progress.lock().expect("no panic while held").is_some()
    }

    pub(crate) fn take_progress(&self) -> Option<Said> {
        self.progress.lock().expect("no panic while held").take()
    }

    /// It was not recorded: try again later, unless something newer was said.
    pub(crate) fn put_progress_back(&self, said: Option<Said>) {
        let mut progress = self.progress.lock().expect("no panic while held");
        if progress.is_none() {
            *progress = said;
        }
    }

    /// A reason that ends the job outweighs one that only asks it to hurry, whichever came first.
    pub(crate) fn ask_to_stop(&self, why: Stopping) {
        let mut reason = self.reason.lock().expect("no panic while held");
        if matches!(*reason, None | Some(Stopping::SoftLimit | Stopping::WorkerStops)) {
            *reason = Some(why);
        }
        self.stop.cancel();
    }
}
