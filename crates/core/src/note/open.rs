//! Reading a signed checkpoint: which log, how large, who says so.

use super::{
    Checkpoint, CheckpointError, KeyId, NoteError, SignatureKind, SignedNote, Verified, VerifierKey,
};

/// A checkpoint that its log signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCheckpoint<'a> {
    /// What it says.
    pub checkpoint: Checkpoint,
    /// Keys of the log that signed it, at least one. More than one while keys are being changed.
    pub log: Vec<&'a VerifierKey>,
    /// Witnesses that signed it too, and when.
    pub witnesses: Vec<Verified<'a>>,
    /// Signature lines of keys that are not known here: names only, nothing is proved by them.
    pub unknown: Vec<(String, KeyId)>,
}

/// Why a checkpoint says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Not a note, or no known key signed it.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The signed text is not a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Known keys signed it, but none of them belongs to the log it names: a witness alone, or the key
    /// of another log.
    #[error("no known key of the log {origin:?} signed this checkpoint")]
    NotByItsLog {
        /// The log that the checkpoint names.
        origin: String,
    },
}

impl OpenError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            OpenError::Note(error) => error.code(),
            OpenError::Checkpoint(error) => error.code(),
            OpenError::NotByItsLog { .. } => "CHECKPOINT_NOT_BY_ITS_LOG",
        }
    }
}

/// Check a signed checkpoint against keys of logs and witnesses. At least one key of the log itself must
/// have signed it: one of type 0x01 whose name is the origin, so that the key of one log never
/// speaks for another.
pub fn open_checkpoint<'a>(bytes: &[u8], keys: &'a [VerifierKey]) -> Result<OpenCheckpoint<'a>, OpenError> {
    let note = SignedNote::parse(bytes)?;
    let verified = note.verify(keys)?;
    let checkpoint = Checkpoint::parse(&note.text)?;
    let (witnesses, signers): (Vec<_>, Vec<_>) =
        verified.into_iter().partition(|signed| signed.key.kind() == SignatureKind::Cosignature);
    let of_the_log = |signed: &Verified<'_>| signed.key.name() == checkpoint.origin;
    let log: Vec<_> = signers.into_iter().filter(of_the_log).map(|signed| signed.key).collect();
    if log.is_empty() {
        return Err(OpenError::NotByItsLog { origin: checkpoint.origin });
    }
    let is_known = |name: &str, id| keys.iter().any(|key| key.name() == name && key.id() == id);
    let strangers = note.signatures.into_iter().filter(|line| !is_known(&line.name, line.id));
    let unknown = strangers.map(|line| (line.name, line.id)).collect();
    Ok(OpenCheckpoint { checkpoint, log, witnesses, unknown })
}
