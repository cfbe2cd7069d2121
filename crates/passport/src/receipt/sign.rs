//! Signatures over receipts.

use bpc_core::Hash;
use ed25519_dalek::{Signature, VerifyingKey};

use super::key::SigningKey;

/// The receipt names another key than the one at hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the passport was compiled for the signing key {expected}, but the key at hand is {found}")]
pub struct SignError {
    /// The key that the receipt names.
    pub expected: String,
    /// The key at hand.
    pub found: String,
}

impl SignError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "INVALID_SIGNING_KEY"
    }
}

/// The signature is not that of this key over these bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not that of this key over these bytes")]
pub struct SignatureInvalid;

impl SignatureInvalid {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        "SIGNATURE_INVALID"
    }
}

/// Signs the 32 bytes of a receipt's hash. Deterministic, so signing twice is signing once.
///
/// # Errors
///
/// If the receipt names another key.
pub fn sign(receipt_hash: &Hash, signing_key_id: &str, key: &SigningKey) -> Result<[u8; 64], SignError> {
    if key.id() != signing_key_id {
        return Err(SignError { expected: signing_key_id.to_owned(), found: key.id() });
    }
    Ok(key.sign_bytes(&receipt_hash.0))
}

/// Checks a signature over a receipt's hash.
///
/// # Errors
///
/// If it is not that of the key, or the key is none.
pub fn verify(
    receipt_hash: &Hash,
    public_key: &[u8; 32],
    signature: &[u8; 64],
) -> Result<(), SignatureInvalid> {
    verify_bytes(&receipt_hash.0, public_key, signature)
}

/// Checks a signature over any bytes, strictly: no weak keys, no second spelling of a signature.
pub(crate) fn verify_bytes(
    bytes: &[u8],
    public_key: &[u8; 32],
    signature: &[u8; 64],
) -> Result<(), SignatureInvalid> {
    let key = VerifyingKey::from_bytes(public_key).map_err(|_| SignatureInvalid)?;
    key.verify_strict(bytes, &Signature::from_bytes(signature)).map_err(|_| SignatureInvalid)
}
