//! Salts, and the key they follow from.

use std::fmt;

use bpc_core::Hash;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::leaf::Tag;
use crate::hash::sha256;

/// 32 secret random bytes, made when a snapshot is sealed. Whoever has them can guess the values
/// behind hashes, so they are stored encrypted; they are an input of compiling.
#[derive(Clone)]
pub struct SaltKey {
    bytes: [u8; 32],
    /// HMAC with the key taken in already, which is half the work of a salt.
    keyed: Hmac<Sha256>,
}

impl PartialEq for SaltKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for SaltKey {}

/// Between the parts of a leaf's name: no part contains it.
const UNIT_SEPARATOR: u8 = 0x1f;

/// What makes a leaf unguessable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Salt(pub [u8; 16]);

impl SaltKey {
    /// From 32 random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        let keyed = Hmac::<Sha256>::new_from_slice(&bytes).expect("HMAC takes keys of any length");
        Self { bytes, keyed }
    }

    /// The bytes, to be stored encrypted.
    #[must_use]
    pub fn secret_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// `SHA-256("BPC-SALTKEY-1" 00 || salt_key)`: binds a snapshot to its key without showing it.
    #[must_use]
    pub fn commitment(&self) -> Hash {
        sha256(&[b"BPC-SALTKEY-1\0", &self.bytes])
    }

    /// The salt of a leaf whose name has these parts.
    #[must_use]
    pub fn salt(&self, tag: Tag, name: &[&str]) -> Salt {
        let mut mac = self.keyed.clone();
        mac.update(b"BPC-SALT-1\0");
        mac.update(&[tag.byte()]);
        for (index, part) in name.iter().enumerate() {
            if index > 0 {
                mac.update(&[UNIT_SEPARATOR]);
            }
            mac.update(part.as_bytes());
        }
        let digest = mac.finalize().into_bytes();
        Salt(digest[..16].try_into().expect("a digest is longer than a salt"))
    }
}

impl fmt::Debug for SaltKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SaltKey(secret)")
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
