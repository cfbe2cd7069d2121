//! Signed text: notes (C2SP signed-note), the checkpoint of a log (C2SP tlog-checkpoint) and the
//! timestamped signatures of its witnesses (C2SP tlog-cosignature), byte for byte.
//!
//! The text of a note means nothing before [`SignedNote::verify`] or [`open_checkpoint`] says who signed it.

mod checkpoint;
mod key;
mod line;
mod open;
mod sign;
mod signed;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use key::{KeyError, KeyId, SignatureKind, VerifierKey};
pub use line::NoteSignature;
pub use open::{OpenCheckpoint, OpenError, open_checkpoint};
pub use sign::{Cosigner, Signer, cosigned_message};
pub use signed::{NOTE_BYTES_MAX, NoteError, SIGNATURES_MAX, SignedNote, Verified};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Standard base64 with padding, as all of C2SP uses it.
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The bytes of standard base64 text; `None` for any other spelling than [`base64()`] writes.
pub fn unbase64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok()
}

/// A decimal number without sign and leading zeros.
pub fn decimal(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| canonical)
}
