//! One signature line of a note.

use std::fmt;

use super::key::is_key_name;
use super::{KeyId, base64, unbase64};

/// A signature as it stands in a note, checked or not: `— name base64(key id || signature)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    /// Name of the key.
    pub name: String,
    /// Short name of the key.
    pub id: KeyId,
    /// What the key's kind says it is.
    pub signature: Vec<u8>,
}

impl NoteSignature {
    /// Read a line without its line feed.
    pub fn parse(line: &str) -> Option<Self> {
        let (name, encoded) = line.strip_prefix("— ")?.split_once(' ')?;
        let bytes = unbase64(encoded)?;
        let (id, signature) = bytes.split_first_chunk::<4>()?;
        let sound = is_key_name(name) && !signature.is_empty();
        sound.then(|| NoteSignature { name: name.to_owned(), id: KeyId(*id), signature: signature.to_vec() })
    }
}

/// The line without its line feed.
impl fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "— {} {}", self.name, base64(&[&self.id.0[..], &self.signature].concat()))
    }
}
