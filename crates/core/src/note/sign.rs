//! Signing notes, and cosigning checkpoints with a time.

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey};

use super::{KeyError, NoteSignature, SignatureKind, VerifierKey};

/// The secret key of a log.
pub struct Signer {
    secret: SigningKey,
    verifier: VerifierKey,
}

/// The secret key of a witness.
pub struct Cosigner {
    secret: SigningKey,
    verifier: VerifierKey,
}

impl Signer {
    /// A log's key from its name, which is the log's origin, and the 32 secret bytes.
    pub fn new(name: &str, secret: &[u8; 32]) -> Result<Self, KeyError> {
        let (secret, verifier) = pair(name, SignatureKind::Ed25519, secret)?;
        Ok(Signer { secret, verifier })
    }

    /// What others check its signatures with.
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Sign the text of a note. Ed25519 has no randomness: the same text gives the same signature.
    pub fn sign(&self, text: &str) -> NoteSignature {
        let signature = self.secret.sign(text.as_bytes()).to_bytes();
        line(&self.verifier, signature.to_vec())
    }
}

impl Cosigner {
    /// A witness's key from its name and the 32 secret bytes. The bytes must be used for nothing else.
    pub fn new(name: &str, secret: &[u8; 32]) -> Result<Self, KeyError> {
        let (secret, verifier) = pair(name, SignatureKind::Cosignature, secret)?;
        Ok(Cosigner { secret, verifier })
    }

    /// What others check its signatures with.
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// State that, as of `at` (seconds since 1970), this checkpoint is the largest one seen of its log
    /// and continues all those seen before. Whether that is so is for the caller to know.
    pub fn cosign(&self, text: &str, at: u64) -> NoteSignature {
        let signature = self.secret.sign(&cosigned_message(text, at)).to_bytes();
        line(&self.verifier, [&at.to_be_bytes()[..], &signature].concat())
    }
}

/// What a cosignature covers: a header line, a line with the time, the text of the checkpoint.
pub fn cosigned_message(text: &str, at: u64) -> Vec<u8> {
    format!("cosignature/v1\ntime {at}\n{text}").into_bytes()
}

fn pair(name: &str, kind: SignatureKind, secret: &[u8; 32]) -> Result<(SigningKey, VerifierKey), KeyError> {
    let secret = SigningKey::from_bytes(secret);
    let verifier = VerifierKey::new(name, kind, secret.verifying_key().as_bytes())?;
    Ok((secret, verifier))
}

fn line(key: &VerifierKey, signature: Vec<u8>) -> NoteSignature {
    NoteSignature { name: key.name().to_owned(), id: key.id(), signature }
}

/// Never shows the secret.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.verifier)
    }
}

/// Never shows the secret.
impl fmt::Debug for Cosigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cosigner({})", self.verifier)
    }
}
