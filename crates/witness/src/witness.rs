//! The witness itself: one decision at a time, remembered before it is told.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bpc_core::note::VerifierKey;
use bpc_core::witness::{Known, Refusal, decide};

use crate::key::WitnessKey;
use crate::state::{StateError, StateFile};

/// A witness of some logs.
#[derive(Debug)]
pub struct Witness {
    key: WitnessKey,
    /// By origin.
    logs: Vec<(String, Vec<VerifierKey>)>,
    state: Mutex<StateFile>,
}

/// What is answered.
#[derive(Debug)]
pub(crate) enum Decided {
    /// The signature line with its line feed.
    Signed(String),
    /// No, and why.
    Refused(Refusal),
    /// It would be signed, if it could be remembered.
    Forgetful(StateError),
}

impl Witness {
    /// A witness with that key and memory, of the logs that have these keys.
    pub fn new(key: WitnessKey, state: StateFile, logs: Vec<VerifierKey>) -> Self {
        let mut by_origin: Vec<(String, Vec<VerifierKey>)> = Vec::new();
        for log in logs {
            match by_origin.iter_mut().find(|(name, _)| name == log.name()) {
                Some((_, keys)) => keys.push(log),
                None => by_origin.push((log.name().to_owned(), vec![log])),
            }
        }
        Witness { key, logs: by_origin, state: Mutex::new(state) }
    }

    /// Decide about the body of a request. Blocks for the disk; requests wait for each other, so that what
    /// is compared is what is remembered.
    pub(crate) fn add_checkpoint(&self, body: &[u8]) -> Decided {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |origin: &str| {
            let (_, keys) = self.logs.iter().find(|(name, _)| name == origin)?;
            Some(Known { keys, seen: state.seen(origin) })
        };
        let cosigned = match decide(body, known) {
            Ok(cosigned) => cosigned,
            Err(refusal) => return Decided::Refused(refusal),
        };
        if let Err(error) = state.remember(&cosigned.origin, cosigned.seen) {
            return Decided::Forgetful(error);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Decided::Signed(format!("{}\n", cosigned.sign(&self.key.cosigner, now)))
    }
}
