//! A text with its signatures: reading, writing, checking.

use std::fmt;

use ed25519_dalek::Signature;

use super::{KeyId, NoteSignature, SignatureKind, VerifierKey, cosigned_message};

/// The largest note that is read.
pub const NOTE_BYTES_MAX: usize = 1_000_000;
/// The most signatures a note may have.
pub const SIGNATURES_MAX: usize = 100;

/// A text and the signatures below it, none of them checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedNote {
    /// The text, its last line feed included.
    pub text: String,
    /// In the order of their lines.
    pub signatures: Vec<NoteSignature>,
}

/// A signature that was checked and held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified<'a> {
    /// The key that signed.
    pub key: &'a VerifierKey,
    /// When, in seconds since 1970, if the signature says so.
    pub at: Option<u64>,
}

/// Why a note is not one, or is not signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// More bytes than anyone should need.
    #[error("the note has {0} bytes, the limit is {NOTE_BYTES_MAX}")]
    TooLarge(usize),
    /// More signatures than anyone should need.
    #[error("the note has {0} signatures, the limit is {SIGNATURES_MAX}")]
    TooManySignatures(usize),
    /// Not UTF-8, or with a control character.
    #[error("the note is not plain UTF-8 text: look at byte {0}")]
    NotText(usize),
    /// There is no blank line before signatures, or no text, or no line feed at the end.
    #[error("the note has not the form of text, blank line, signature lines, line feed at the end")]
    Malformed,
    /// A line where a signature should be is not one.
    #[error("signature line {0} of the note is malformed")]
    BadLine(usize),
    /// The signature of a known key does not hold: text or signature was changed.
    #[error("the signature of {name} (key {id}) does not hold: text or signature was changed")]
    BadSignature {
        /// Name of the key.
        name: String,
        /// Its short name.
        id: KeyId,
    },
    /// None of the keys given signed this.
    #[error("none of the known keys signed this note; it names {found}")]
    NotSigned {
        /// Who did sign, as the note says.
        found: String,
    },
}

impl NoteError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            NoteError::TooLarge(_) => "NOTE_TOO_LARGE",
            NoteError::TooManySignatures(_) => "NOTE_TOO_MANY_SIGNATURES",
            NoteError::NotText(_) => "NOTE_NOT_TEXT",
            NoteError::Malformed => "NOTE_MALFORMED",
            NoteError::BadLine(_) => "NOTE_SIGNATURE_MALFORMED",
            NoteError::BadSignature { .. } => "NOTE_SIGNATURE_INVALID",
            NoteError::NotSigned { .. } => "NOTE_NOT_SIGNED",
        }
    }
}

impl SignedNote {
    /// Read a note. Succeeds only for bytes that its [`Display`](fmt::Display) writes again.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > NOTE_BYTES_MAX {
            return Err(NoteError::TooLarge(bytes.len()));
        }
        let note = std::str::from_utf8(bytes).map_err(|error| NoteError::NotText(error.valid_up_to()))?;
        if let Some(at) = bytes.iter().position(|byte| *byte < b' ' && *byte != b'\n') {
            return Err(NoteError::NotText(at));
        }
        // The last blank line: the text may have some of its own.
        let blank = note.rfind("\n\n").ok_or(NoteError::Malformed)?;
        let (text, lines) = (&note[..=blank], &note[blank + 2..]);
        let lines: Vec<_> = lines.strip_suffix('\n').ok_or(NoteError::Malformed)?.split('\n').collect();
        if lines.len() > SIGNATURES_MAX {
            return Err(NoteError::TooManySignatures(lines.len()));
        }
        let read = |(at, line): (usize, &&str)| NoteSignature::parse(line).ok_or(NoteError::BadLine(at + 1));
        let signatures = lines.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(SignedNote { text: text.to_owned(), signatures })
    }

    /// Check every signature by one of `keys`; signatures of other keys are ignored. One that does not
    /// hold spoils the note. Returns those that held, each key once, and at least one.
    pub fn verify<'a>(&self, keys: &'a [VerifierKey]) -> Result<Vec<Verified<'a>>, NoteError> {
        let mut verified: Vec<Verified<'a>> = Vec::new();
        for signature in &self.signatures {
            let same = |key: &&VerifierKey| key.name() == signature.name && key.id() == signature.id;
            // More than one only if two keys share name and id: then any of them may be meant.
            let mut candidates = keys.iter().filter(same).peekable();
            if candidates.peek().is_none() {
                continue;
            }
            let held = candidates.find_map(|key| holds(key, signature, &self.text));
            let held = held
                .ok_or_else(|| NoteError::BadSignature { name: signature.name.clone(), id: signature.id })?;
            if verified.iter().all(|other| other.key != held.key) {
                verified.push(held);
            }
        }
        if verified.is_empty() { Err(self.not_signed()) } else { Ok(verified) }
    }

    fn not_signed(&self) -> NoteError {
        let named = self.signatures.iter().map(|line| format!("{} (key {})", line.name, line.id));
        NoteError::NotSigned { found: named.collect::<Vec<_>>().join(", ") }
    }
}

fn holds<'a>(key: &'a VerifierKey, line: &NoteSignature, text: &str) -> Option<Verified<'a>> {
    let (at, message, signature) = match key.kind() {
        SignatureKind::Ed25519 => (None, text.as_bytes().to_vec(), &line.signature[..]),
        SignatureKind::Cosignature => {
            let (at, signature) = line.signature.split_first_chunk()?;
            let at = u64::from_be_bytes(*at);
            // The format's own bound.
            i64::try_from(at).ok()?;
            (Some(at), cosigned_message(text, at), signature)
        }
    };
    let signature = Signature::from_slice(signature).ok()?;
    // Strict: one signature has one spelling, and no weak point passes for a signature.
    key.public.verify_strict(&message, &signature).ok()?;
    Some(Verified { key, at })
}

/// The note as it is stored and sent.
impl fmt::Display for SignedNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}
