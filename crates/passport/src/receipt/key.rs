//! Keys that sign passports.

use std::fmt;

use data_encoding::BASE64;

use crate::hash::sha256;

/// An Ed25519 key (RFC 8032), from a seed of 32 bytes.
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A text that holds no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not base64.
    #[error("the signing key is not base64; make one with: openssl rand -base64 32")]
    NotBase64,
    /// Not 32 bytes.
    #[error("the signing key has {length} bytes, not 32; make one with: openssl rand -base64 32")]
    Length {
        /// How many it has.
        length: usize,
    },
}

impl KeyError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        "INVALID_SIGNING_KEY"
    }
}

impl SigningKey {
    /// From the seed itself.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// From a seed in base64; spaces and line ends around it do not count.
    ///
    /// # Errors
    ///
    /// If it is not base64 of exactly 32 bytes. The error does not repeat the text.
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        let bytes = BASE64.decode(text.trim().as_bytes()).map_err(|_| KeyError::NotBase64)?;
        let seed = bytes.as_slice().try_into().map_err(|_| KeyError::Length { length: bytes.len() })?;
        Ok(Self::from_seed(seed))
    }

    /// The key that checks its signatures.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// The name of the key.
    #[must_use]
    pub fn id(&self) -> String {
        key_id(&self.public_key())
    }

    /// The signature over these bytes; the same every time.
    pub(crate) fn sign_bytes(&self, bytes: &[u8]) -> [u8; 64] {
        use ed25519_dalek::Signer;
        self.0.sign(bytes).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id())
    }
}

/// The name of a public key: `ed25519-` and the first 16 hex digits of its SHA-256.
#[must_use]
pub fn key_id(public_key: &[u8; 32]) -> String {
    format!("ed25519-{}", &sha256(&[public_key]).to_string()[..16])
}
