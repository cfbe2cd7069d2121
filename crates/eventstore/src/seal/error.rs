//! Why a log is not sealed, or a checkpoint not signed.

use std::path::PathBuf;

use bpc_core::{Hash, Timestamp};

use crate::error::StoreError;

/// A failed pass.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Reading or writing failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log has no key at all.
    #[error("the log has no key yet: run `bpc init`")]
    NoKey,
    /// The key at hand is not one of this log's.
    #[error("key {public_key} does not speak for this log, {current} does: use the key file of this log")]
    KeyUnknown {
        /// Lowercase hex of the key at hand.
        public_key: String,
        /// Of the key that speaks for it.
        current: String,
    },
    /// The key at hand has handed over to another.
    #[error("key {public_key} has handed over to {current}: use the new key file")]
    KeyRetired {
        /// Lowercase hex of the key at hand.
        public_key: String,
        /// Of the key that took over.
        current: String,
    },
    /// The log is shorter than one that was signed before.
    #[error(
        "the log has {size} sealed events, but a checkpoint over {signed} was signed already: an older copy of the \
         database was restored. It cannot go on as {origin}; restore a newer copy, or open a new origin with \
         `bpc keys reopen`, whose first event will name that checkpoint"
    )]
    RolledBack {
        /// The log's name.
        origin: String,
        /// Events that were signed for.
        signed: u64,
        /// Events that are there.
        size: u64,
    },
    /// The log has another beginning than one that was signed before.
    #[error(
        "the first {size} events hash to {found}, but {signed} was signed for them: the log was changed or another \
         one took its place. It cannot go on as {origin}; run `bpc verify`, restore a copy, or open a new origin with \
         `bpc keys reopen`"
    )]
    Forked {
        /// The log's name.
        origin: String,
        /// So many events.
        size: u64,
        /// The root that was signed.
        signed: Hash,
        /// The root of what is there.
        found: Hash,
    },
    /// Nothing that was published is missing.
    #[error(
        "the checkpoint over {size} events is the beginning of this log: nothing is lost, go on with its key"
    )]
    NothingLost {
        /// Events that it covers.
        size: u64,
    },
    /// The new origin is the old one.
    #[error("the log is called {0:?} already: a new origin needs a new name")]
    OriginInUse(String),
    /// The note is no checkpoint of this log.
    #[error("not a checkpoint of this log: {0}")]
    CheckpointForeign(String),
    /// The clock says it is earlier than when the last checkpoint was signed.
    #[error("the clock says {now}, but a checkpoint was signed at {signed_at}: set the clock right")]
    ClockWentBack {
        /// When the last one was signed.
        signed_at: Timestamp,
        /// What the clock says.
        now: Timestamp,
    },
    /// The file beside the key that says what was signed last cannot be used.
    #[error("{path}, which says what was signed last, {problem}")]
    KeyState {
        /// Which file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
}

impl SealError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            SealError::Store(error) => error.code(),
            SealError::NoKey => "LOG_KEY_MISSING",
            SealError::KeyUnknown { .. } => "LOG_KEY_UNKNOWN",
            SealError::KeyRetired { .. } => "LOG_KEY_RETIRED",
            SealError::RolledBack { .. } => "LOG_ROLLED_BACK",
            SealError::Forked { .. } => "LOG_FORKED",
            SealError::NothingLost { .. } => "LOG_NOTHING_LOST",
            SealError::OriginInUse(_) => "LOG_ORIGIN_IN_USE",
            SealError::CheckpointForeign(_) => "CHECKPOINT_FOREIGN",
            SealError::ClockWentBack { .. } => "CLOCK_WENT_BACK",
            SealError::KeyState { .. } => "KEY_STATE_INVALID",
        }
    }

    /// May the same call succeed later, without anybody doing anything?
    pub fn is_retryable(&self) -> bool {
        match self {
            SealError::Store(error) => error.is_retryable(),
            SealError::ClockWentBack { .. } => true,
            _ => false,
        }
    }
}
