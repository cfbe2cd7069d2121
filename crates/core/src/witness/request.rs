//! What a witness is asked, and the document that proves consistency.

use std::fmt;

use crate::chain::Hash;
use crate::note::{Checkpoint, CheckpointError, NoteError, SignedNote, base64, decimal, unbase64};

/// The most hashes a consistency proof may have.
pub const PROOF_MAX: usize = 63;

/// A checkpoint with the proof that it continues one of `old_size`. Written as `old` and that size, the
/// hashes one a line, a blank line, the signed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// Size of the older tree; 0 if none is known.
    pub old_size: u64,
    /// The proof; empty from size 0.
    pub proof: Vec<Hash>,
    /// The newer checkpoint as its log signed it.
    pub note: SignedNote,
    /// What the note says; unchecked like the note itself.
    pub checkpoint: Checkpoint,
}

/// Why a document is no such request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// The first line is not `old` and a size.
    #[error("the first line must be \"old\", a space and a decimal size without leading zeros")]
    OldSize,
    /// A line of the proof is not 32 bytes in base64.
    #[error("line {0} must be a hash in standard base64, or blank before the checkpoint")]
    ProofLine(usize),
    /// More hashes than any proof has.
    #[error("a proof has at most {PROOF_MAX} hashes")]
    ProofTooLong,
    /// There is no blank line with a checkpoint behind it.
    #[error("a blank line and a signed checkpoint must follow")]
    NoCheckpoint,
    /// What follows is not a signed note.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The note is not a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The older tree is larger than the newer one.
    #[error("the old size {old} is larger than the checkpoint's, {new}")]
    Shrunk {
        /// Size it was to continue from.
        old: u64,
        /// Size of the checkpoint.
        new: u64,
    },
}

impl BadRequest {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            BadRequest::OldSize => "WITNESS_OLD_SIZE_INVALID",
            BadRequest::ProofLine(_) => "WITNESS_PROOF_INVALID",
            BadRequest::ProofTooLong => "WITNESS_PROOF_TOO_LONG",
            BadRequest::NoCheckpoint => "WITNESS_NO_CHECKPOINT",
            BadRequest::Note(error) => error.code(),
            BadRequest::Checkpoint(error) => error.code(),
            BadRequest::Shrunk { .. } => "WITNESS_OLD_SIZE_LARGER",
        }
    }
}

impl AddCheckpoint {
    /// A request, or consistency document, for a signed checkpoint.
    pub fn new(old_size: u64, proof: Vec<Hash>, note: SignedNote) -> Result<Self, BadRequest> {
        let checkpoint = Checkpoint::parse(&note.text)?;
        if old_size > checkpoint.size {
            return Err(BadRequest::Shrunk { old: old_size, new: checkpoint.size });
        }
        if proof.len() > PROOF_MAX {
            return Err(BadRequest::ProofTooLong);
        }
        Ok(AddCheckpoint { old_size, proof, note, checkpoint })
    }

    /// Read a document. Succeeds only for bytes that its [`Display`](fmt::Display) writes again.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadRequest> {
        let mut rest = bytes;
        let first = take_line(&mut rest).ok_or(BadRequest::OldSize)?;
        let old_size = first.strip_prefix("old ").and_then(decimal).ok_or(BadRequest::OldSize)?;
        let mut proof = Vec::new();
        loop {
            let line = take_line(&mut rest).ok_or(BadRequest::NoCheckpoint)?;
            if line.is_empty() {
                break;
            }
            if proof.len() == PROOF_MAX {
                return Err(BadRequest::ProofTooLong);
            }
            let hash = unbase64(line).and_then(|bytes| Hash::from_slice(&bytes));
            proof.push(hash.ok_or(BadRequest::ProofLine(proof.len() + 2))?);
        }
        AddCheckpoint::new(old_size, proof, SignedNote::parse(rest)?)
    }
}

/// The line that stands next, without its line feed. `None` if there is none or it is not text.
fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&rest[..end]).ok()?;
    *rest = &rest[end + 1..];
    Some(line)
}

/// The document.
impl fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old_size)?;
        self.proof.iter().try_for_each(|hash| writeln!(f, "{}", base64(&hash.0)))?;
        write!(f, "\n{}", self.note)
    }
}
