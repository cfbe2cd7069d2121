//! The decision: sign or refuse.

use crate::chain::Hash;
use crate::merkle::{BadProof, EMPTY_ROOT, verify_consistency};
use crate::note::{Cosigner, NoteError, NoteSignature, VerifierKey};

use super::{AddCheckpoint, BadRequest};

/// The last checkpoint of a log that the witness signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its size.
    pub size: u64,
    /// Its root.
    pub root: Hash,
}

/// A log that the witness knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known<'a> {
    /// Keys that speak for it.
    pub keys: &'a [VerifierKey],
    /// What was signed of it last.
    pub seen: Seen,
}

/// A checkpoint to sign. First make `seen` durable, in one step with the check that what was seen
/// before is still what [`decide`] was told; then [`sign`](Cosigned::sign) and answer. A witness that
/// answers first and forgets can be led to sign two histories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigned {
    /// The log.
    pub origin: String,
    /// What to remember of it.
    pub seen: Seen,
    /// The text to sign.
    text: String,
}

/// Why a checkpoint is not signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request makes no sense.
    #[error(transparent)]
    BadRequest(#[from] BadRequest),
    /// The witness does not know the log.
    #[error("this witness does not know the log {0:?}")]
    UnknownLog(String),
    /// No key of the log signed it, or a signature does not hold.
    #[error("no known key of the log signed this checkpoint")]
    NotSigned(#[source] NoteError),
    /// The proof does not begin where the witness stands, or the same size has another root.
    #[error("this witness has signed size {seen} of the log, the request continues from size {old}")]
    Conflict {
        /// The size the witness signed last.
        seen: u64,
        /// The size the request continues from.
        old: u64,
    },
    /// The checkpoint does not continue what was signed: evidence against the log, if it signed it.
    #[error("the checkpoint was not shown to continue what this witness signed of the log")]
    NotContinued(#[source] BadProof),
}

impl Seen {
    /// Nothing yet.
    pub const NOTHING: Seen = Seen { size: 0, root: EMPTY_ROOT };
}

impl Cosigned {
    /// The signature, as of `at`, in seconds since 1970. Its line with a line feed is the answer.
    pub fn sign(&self, cosigner: &Cosigner, at: u64) -> NoteSignature {
        cosigner.cosign(&self.text, at)
    }
}

impl Refusal {
    /// Status of the HTTP answer.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::BadRequest(_) => 400,
            Refusal::NotSigned(_) => 403,
            Refusal::UnknownLog(_) => 404,
            Refusal::Conflict { .. } => 409,
            Refusal::NotContinued(_) => 422,
        }
    }

    /// Body of the HTTP answer: for a conflict the size that was signed last, which is what the log needs to
    /// ask again; else words.
    pub fn body(&self) -> String {
        match self {
            Refusal::Conflict { seen, .. } => format!("{seen}\n"),
            other => format!("{other}\n"),
        }
    }

    /// Content type of the HTTP answer.
    pub fn content_type(&self) -> &'static str {
        match self {
            Refusal::Conflict { .. } => "text/x.tlog.size",
            _ => "text/plain; charset=utf-8",
        }
    }

    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::BadRequest(error) => error.code(),
            Refusal::UnknownLog(_) => "WITNESS_LOG_UNKNOWN",
            Refusal::NotSigned(_) => "WITNESS_NOT_SIGNED",
            Refusal::Conflict { .. } => "WITNESS_CONFLICT",
            Refusal::NotContinued(_) => "WITNESS_NOT_CONTINUED",
        }
    }
}

/// Decide about the body of a request. `known` looks up a log by its origin.
pub fn decide<'a>(body: &[u8], known: impl FnOnce(&str) -> Option<Known<'a>>) -> Result<Cosigned, Refusal> {
    let AddCheckpoint { old_size: old, proof, note, checkpoint } = AddCheckpoint::parse(body)?;
    let log = known(&checkpoint.origin).ok_or_else(|| Refusal::UnknownLog(checkpoint.origin.clone()))?;
    note.verify(log.keys).map_err(Refusal::NotSigned)?;

    let conflict = Refusal::Conflict { seen: log.seen.size, old };
    if old != log.seen.size {
        return Err(conflict);
    }
    let consistent = verify_consistency(old, &log.seen.root, checkpoint.size, &checkpoint.root, &proof);
    match consistent {
        // The standard calls another root of the same size a conflict too.
        Err(BadProof::OldRoot { .. } | BadProof::Root { .. }) if old == checkpoint.size => {
            return Err(conflict);
        }
        Err(error) => return Err(Refusal::NotContinued(error)),
        Ok(()) => {}
    }
    let seen = Seen { size: checkpoint.size, root: checkpoint.root };
    Ok(Cosigned { origin: checkpoint.origin, seen, text: note.text })
}
