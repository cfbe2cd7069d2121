//! The key, and what it seals.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

/// Bytes of the nonce, which stands before what is sealed. So long that a random one never comes twice.
const NONCE: usize = 24;

/// A key of 32 bytes. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretsKey([u8; 32]);

/// Sealed bytes that this key does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secrets key does not open this: set BPC_SECRETS_KEY_FILE or BPC_SECRETS_KEY_BASE64 to the key that it was \
     sealed with, unless the sealed bytes were changed or moved"
)]
pub struct SealedError;

impl SealedError {
    /// The stable code.
    pub fn code(self) -> &'static str {
        "SECRETS_KEY_INVALID"
    }
}

impl SecretsKey {
    /// A fresh key.
    pub fn generate() -> Self {
        SecretsKey(random())
    }

    /// From 32 bytes in base64; spaces and line ends around it do not count.
    pub fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text.trim()).ok()?.try_into().ok().map(SecretsKey)
    }

    /// For the file that keeps it.
    pub(crate) fn to_base64(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// Seal a secret for one place. It opens only with the same `context`, so sealed bytes that are moved
    /// elsewhere are good for nothing.
    pub fn seal(&self, context: &str, secret: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE] = random();
        let payload = Payload { msg: secret, aad: context.as_bytes() };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed.expect("a secret is shorter than 256 GiB"));
        bytes
    }

    /// The secret that was sealed for that place.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Result<Vec<u8>, SealedError> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or(SealedError)?;
        let payload = Payload { msg: sealed, aad: context.as_bytes() };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| SealedError)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

impl fmt::Debug for SecretsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretsKey(..)")
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has a random source");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_and_place_open_it() {
        let (key, other) = (SecretsKey::generate(), SecretsKey::generate());
        let sealed = key.seal("here", b"secret");
        assert_eq!(key.open("here", &sealed).as_deref(), Ok(&b"secret"[..]));
        assert_eq!(key.open("there", &sealed), Err(SealedError));
        assert_eq!(other.open("here", &sealed), Err(SealedError));
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert_eq!(key.open("here", &changed), Err(SealedError), "byte {index}");
            assert_eq!(key.open("here", &sealed[..index]), Err(SealedError), "cut at {index}");
        }
    }

    #[test]
    fn sealing_twice_shows_nothing_alike() {
        let key = SecretsKey::generate();
        assert_ne!(key.seal("here", b"secret"), key.seal("here", b"secret"));
        assert_eq!(format!("{key:?}"), "SecretsKey(..)");
    }
}
