//! Checking that a log still begins with what an auditor saw of it.
//!
//! The document is the one that witnesses are asked with (C2SP tlog-witness): the size of the
//! older tree, the hashes of the proof, a blank line, the newer signed checkpoint. The older checkpoint
//! is not in it: the auditor's own copy is what makes the proof worth something.

use crate::merkle::{BadProof, verify_consistency};
use crate::note::{Checkpoint, OpenError, VerifierKey, open_checkpoint};
use crate::witness::{AddCheckpoint, BadRequest};

/// What a consistency proof that holds says: `older` is the beginning of `newer`. Nothing that was sealed
/// then has been changed, removed, reordered or put in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continued {
    /// What was seen.
    pub older: Checkpoint,
    /// What is said now.
    pub newer: Checkpoint,
}

/// Why a log was not shown to continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConsistencyError {
    /// The kept checkpoint does not hold.
    #[error("the older checkpoint does not hold")]
    Older(#[source] OpenError),
    /// The document is not one.
    #[error("not a consistency proof")]
    Document(#[from] BadRequest),
    /// The newer checkpoint does not hold.
    #[error("the newer checkpoint does not hold")]
    Newer(#[source] OpenError),
    /// The checkpoints are of two logs.
    #[error("the older checkpoint is of the log {older:?}, the newer of {newer:?}")]
    OtherLog {
        /// The kept one's origin.
        older: String,
        /// The new one's origin.
        newer: String,
    },
    /// The proof begins at another size than the checkpoint that was kept.
    #[error("the proof is from size {proof}, the older checkpoint has size {kept}: ask for one from there")]
    OtherSize {
        /// Where the proof begins.
        proof: u64,
        /// Size of the kept checkpoint.
        kept: u64,
    },
    /// The newer log does not begin with the older one: history was changed, or the proof was.
    #[error("the newer log was not shown to begin with the older one")]
    NotContinued(#[from] BadProof),
}

impl ConsistencyError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            ConsistencyError::Older(error) | ConsistencyError::Newer(error) => error.code(),
            ConsistencyError::Document(_) => "CONSISTENCY_MALFORMED",
            ConsistencyError::OtherLog { .. } => "CONSISTENCY_OTHER_LOG",
            ConsistencyError::OtherSize { .. } => "CONSISTENCY_OTHER_SIZE",
            ConsistencyError::NotContinued(_) => "CONSISTENCY_NOT_CONTINUED",
        }
    }
}

/// Check a consistency document against the checkpoint that was kept. Both must be signed by keys of
/// the same log.
pub fn check_consistency(
    document: &[u8],
    kept: &[u8],
    keys: &[VerifierKey],
) -> Result<Continued, ConsistencyError> {
    let older = open_checkpoint(kept, keys).map_err(ConsistencyError::Older)?.checkpoint;
    let asked = AddCheckpoint::parse(document)?;
    let note = asked.note.to_string();
    let newer = open_checkpoint(note.as_bytes(), keys).map_err(ConsistencyError::Newer)?.checkpoint;
    if older.origin != newer.origin {
        return Err(ConsistencyError::OtherLog { older: older.origin, newer: newer.origin });
    }
    if asked.old_size != older.size {
        return Err(ConsistencyError::OtherSize { proof: asked.old_size, kept: older.size });
    }
    verify_consistency(older.size, &older.root, newer.size, &newer.root, &asked.proof)?;
    Ok(Continued { older, newer })
}
