//! What a log makes of a witness's answer.

use crate::note::{NoteError, NoteSignature, SIGNATURES_MAX, SignedNote, VerifierKey, decimal};

/// The body of a 409: the size the witness signed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConflictAnswer {
    /// Ask again with a proof from here.
    pub size: u64,
}

impl ConflictAnswer {
    /// Read the body.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?.strip_suffix('\n')?;
        decimal(text).map(|size| ConflictAnswer { size })
    }
}

/// The signatures in the body of a 200 that known witnesses made over this note, to be put below it. Those
/// of unknown keys are left out; one of a known key that does not hold spoils the answer, and so does
/// an answer without any that is known.
pub fn cosignatures(
    note: &SignedNote,
    body: &[u8],
    witnesses: &[VerifierKey],
) -> Result<Vec<NoteSignature>, NoteError> {
    let text = std::str::from_utf8(body).map_err(|error| NoteError::NotText(error.valid_up_to()))?;
    let lines: Vec<_> = text.strip_suffix('\n').ok_or(NoteError::Malformed)?.split('\n').collect();
    if lines.len() > SIGNATURES_MAX {
        return Err(NoteError::TooManySignatures(lines.len()));
    }
    let read = |(at, line): (usize, &&str)| NoteSignature::parse(line).ok_or(NoteError::BadLine(at + 1));
    let signatures = lines.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let answered = SignedNote { text: note.text.clone(), signatures };
    answered.verify(witnesses)?;
    let is_known =
        |line: &NoteSignature| witnesses.iter().any(|key| key.name() == line.name && key.id() == line.id);
    Ok(answered.signatures.into_iter().filter(is_known).collect())
}
