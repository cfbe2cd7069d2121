//! Housekeeping that any worker with the log's key does for all: seals what is committed.

use std::sync::Arc;
use std::time::Duration;

use bpc_eventstore::seal::{KeyFile, KeyState, SealError, SealOptions, Sealed, Sealer};
use tokio_util::sync::CancellationToken;

use super::shared::Shared;

/// Between two passes over a busy log. A pass over ten thousand events takes a fifth of it.
const INTERVAL: Duration = Duration::from_millis(250);
/// Events in a pass over a busy log.
const BUSY: usize = 1_000;
/// Between two passes over any other. A pass writes to disk four times, and whoever enqueues or leases just then waits
/// for that; with the pass itself this is still within the second that an event may wait for its seal.
const INTERVAL_OF_A_FEW: Duration = Duration::from_millis(700);
/// To a pass that was left something because of a transaction under way: those take milliseconds.
const INTERVAL_WAITING: Duration = Duration::from_millis(100);
/// While another process seals: twice that, and it is known to have ended and taken over from within a second.
const INTERVAL_BEHIND_OTHERS: Duration = Duration::from_millis(400);
/// Passes at the end of a worker; a larger backlog is left to the next.
const LAST_PASSES_MAX: usize = 64;

/// Seal until `stop`, and once more then: a worker that ends leaves nothing of its own unsealed.
pub(super) async fn seal_all(shared: Arc<Shared>, key_file: KeyFile, stop: CancellationToken) {
    let mut sealing = Sealing { shared, key_file, sealer: None, told: None };
    // The leaser looks first, and then its connection serves the sealer, too.
    let _ = tokio::time::timeout(INTERVAL, stop.cancelled()).await;
    while !stop.is_cancelled() {
        let pause = sealing.pass().await.map_or(INTERVAL, |sealed| pause_after(&sealed));
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    sealing.leave_nothing();
    for _ in 0..LAST_PASSES_MAX {
        if !sealing.pass().await.is_some_and(|sealed| sealed.has_more) {
            break;
        }
    }
}

fn pause_after(sealed: &Sealed) -> Duration {
    match sealed {
        Sealed { has_more: true, .. } => Duration::ZERO,
        Sealed { others_seal: true, .. } => INTERVAL_BEHIND_OTHERS,
        Sealed { is_waiting: true, .. } => INTERVAL_WAITING,
        Sealed { events: BUSY.., .. } => INTERVAL,
        _ => INTERVAL_OF_A_FEW,
    }
}

struct Sealing {
    shared: Arc<Shared>,
    key_file: KeyFile,
    sealer: Option<Sealer>,
    /// What was said last, so that it is said once.
    told: Option<&'static str>,
}

impl Sealing {
    /// One pass, if the key is here. What went wrong is tried again with the next.
    async fn pass(&mut self) -> Option<Sealed> {
        if self.sealer.is_none() {
            self.sealer = self.open();
        }
        match self.sealer.as_mut()?.pass().await {
            Ok(sealed) => {
                self.told = None;
                Some(sealed)
            }
            Err(error) => {
                self.report(&error);
                if !error.is_retryable() {
                    // With a key that took over meanwhile, or a log that somebody put right.
                    self.sealer = None;
                }
                None
            }
        }
    }

    /// For the last passes, also of a worker that ends before its first.
    fn leave_nothing(&mut self) {
        if self.sealer.is_none() {
            self.sealer = self.open();
        }
        if let Some(sealer) = &mut self.sealer {
            sealer.leave_nothing();
        }
    }

    fn open(&mut self) -> Option<Sealer> {
        let secret = match self.key_file.read() {
            Ok(Some(secret)) => secret,
            Ok(None) => {
                let file = self.key_file.name();
                self.tell("KEY_FILE_MISSING", || {
                    tracing::warn!("the log's key is not in {file}: this worker does not seal");
                });
                return None;
            }
            Err(error) => {
                self.tell(error.code(), || tracing::error!(code = error.code(), "cannot seal: {error}"));
                return None;
            }
        };
        let store = self.shared.engine.store.clone();
        let state = KeyState::File(self.key_file.state_path());
        let options = SealOptions { is_patient: true, ..SealOptions::default() };
        Some(Sealer::new(store, secret, state, options))
    }

    fn report(&mut self, error: &SealError) {
        if error.is_retryable() {
            tracing::debug!(code = error.code(), "cannot seal now: {error}");
        } else {
            self.tell(error.code(), || tracing::error!(code = error.code(), "cannot seal: {error}"));
        }
    }

    fn tell(&mut self, what: &'static str, say: impl FnOnce()) {
        if self.told.replace(what) != Some(what) {
            say();
        }
    }
}
