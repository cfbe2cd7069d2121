//! Keys that notes are checked with, and their one-line spelling.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::VerifyingKey;
use sha2::{Digest, Sha256};

use super::{base64, unbase64};

/// What a signature of a key covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SignatureKind {
    /// Ed25519 over the text of the note: logs.
    Ed25519 = 0x01,
    /// Ed25519 over a time and the text of a checkpoint: witnesses.
    Cosignature = 0x04,
}

/// Short name of a key: a hint to find it, no proof of anything. Two keys may share one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 4]);

/// The public half of a key with the name it signs under. Spelled `name+id+base64`, the id as eight
/// digits of lowercase hex, the rest one byte for the kind and the 32 bytes of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    kind: SignatureKind,
    id: KeyId,
    pub(super) public: VerifyingKey,
}

/// Why something is not a verifier key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Empty, or with a space, plus or control character.
    #[error(
        "key name {0:?} is not allowed: it must not be empty and have no spaces, plus signs or control characters"
    )]
    Name(String),
    /// Not three parts, or a part is not what it should be.
    #[error("not a verifier key: want name+id+base64, such as example.org/log+1a2b3c4d+AQ..., with {0}")]
    Malformed(&'static str),
    /// A kind of signature that is not known here.
    #[error("signatures of type 0x{0:02x} are not supported: use a key of type 0x01 (log) or 0x04 (witness)")]
    UnknownKind(u8),
    /// These bytes are no key of Ed25519, or one that signs anything.
    #[error("these 32 bytes are not a safe Ed25519 public key")]
    BadPublicKey,
    /// The id does not follow from name and key: a part was mistyped.
    #[error("the key has id {expected}, not {found}: was a part of it mistyped?")]
    IdMismatch {
        /// What follows from name and key.
        expected: KeyId,
        /// What is written.
        found: KeyId,
    },
}

impl KeyError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            KeyError::Name(_) => "KEY_NAME_INVALID",
            KeyError::Malformed(_) => "KEY_MALFORMED",
            KeyError::UnknownKind(_) => "KEY_TYPE_UNKNOWN",
            KeyError::BadPublicKey => "KEY_NOT_ED25519",
            KeyError::IdMismatch { .. } => "KEY_ID_MISMATCH",
        }
    }
}

impl VerifierKey {
    /// The key of that name, kind and public half.
    pub fn new(name: &str, kind: SignatureKind, public: &[u8; 32]) -> Result<Self, KeyError> {
        if !is_key_name(name) {
            return Err(KeyError::Name(name.to_owned()));
        }
        let public = VerifyingKey::from_bytes(public).map_err(|_| KeyError::BadPublicKey)?;
        if public.is_weak() {
            return Err(KeyError::BadPublicKey);
        }
        let id = KeyId::of(name, kind, public.as_bytes());
        Ok(VerifierKey { name: name.to_owned(), kind, id, public })
    }

    /// The name it signs under. For a log, its origin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its signatures cover.
    pub fn kind(&self) -> SignatureKind {
        self.kind
    }

    /// Its short name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The 32 bytes of the public key.
    pub fn public_key(&self) -> &[u8; 32] {
        self.public.as_bytes()
    }
}

impl KeyId {
    /// The first four bytes of `SHA-256(name || LF || kind || public key)`.
    pub fn of(name: &str, kind: SignatureKind, public: &[u8; 32]) -> Self {
        let mut hash = Sha256::new();
        hash.update(name);
        hash.update([b'\n', kind as u8]);
        hash.update(public);
        let digest: [u8; 32] = hash.finalize().into();
        KeyId([digest[0], digest[1], digest[2], digest[3]])
    }
}

impl SignatureKind {
    fn from_byte(byte: u8) -> Result<Self, KeyError> {
        match byte {
            0x01 => Ok(SignatureKind::Ed25519),
            0x04 => Ok(SignatureKind::Cosignature),
            other => Err(KeyError::UnknownKind(other)),
        }
    }
}

/// Not empty, no Unicode space, no plus, no control character.
pub(super) fn is_key_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '+' || c < ' ')
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        // Base64 may contain a plus, name and id may not.
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(KeyError::Malformed("two plus signs"));
        };
        let found = read_id(id).ok_or(KeyError::Malformed("an id of eight lowercase hex digits"))?;
        let bytes = unbase64(key).ok_or(KeyError::Malformed("a key in standard base64"))?;
        let (&kind, public) = bytes.split_first().ok_or(KeyError::Malformed("a key"))?;
        let kind = SignatureKind::from_byte(kind)?;
        let public =
            public.try_into().map_err(|_| KeyError::Malformed("a key of 32 bytes behind its type"))?;
        let key = VerifierKey::new(name, kind, public)?;
        if key.id == found { Ok(key) } else { Err(KeyError::IdMismatch { expected: key.id, found }) }
    }
}

fn read_id(text: &str) -> Option<KeyId> {
    let digits = text.len() == 8 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    let id = u32::from_str_radix(text, 16).ok().filter(|_| digits)?;
    Some(KeyId(id.to_be_bytes()))
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[self.kind as u8][..], self.public_key()].concat();
        write!(f, "{}+{}+{}", self.name, self.id, base64(&key))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
