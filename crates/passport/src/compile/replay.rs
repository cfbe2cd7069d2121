//! Is a stored passport what its inputs give?

use bpc_core::Hash;

use super::error::CompileError;
use super::input::Input;
use super::run::{Compiled, compile};
use crate::hash::sha256;
use crate::receipt::verify;

/// A passport version as it was stored.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    /// The payload's bytes.
    pub payload: &'a [u8],
    /// The proof's bytes.
    pub proof: &'a [u8],
    /// The receipt's bytes.
    pub receipt: &'a [u8],
    /// The signature and the key that made it; `None` if it is not signed yet.
    pub signature: Option<(&'a [u8; 64], &'a [u8; 32])>,
}

/// What of a stored passport is not what its inputs give.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReplayError {
    /// It can no longer be compiled.
    #[error("the passport can no longer be compiled")]
    Compile(#[from] CompileError),
    /// It compiles to something else.
    #[error("compiling again gives another {}", .differ.join(", "))]
    Differs {
        /// Which documents differ: `payload`, `proof`, `receipt`.
        differ: Vec<&'static str>,
    },
    /// The signature is not over this receipt.
    #[error("the signature is not that of its key over the receipt")]
    Signature,
}

impl ReplayError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Compile(error) => error.code(),
            Self::Differs { .. } => "REPLAY_MISMATCH",
            Self::Signature => "SIGNATURE_INVALID",
        }
    }
}

/// Compiles again and compares every byte, then checks the signature.
///
/// # Errors
///
/// What differs.
pub fn replay(input: &Input<'_>, stored: &Stored<'_>) -> Result<Compiled, ReplayError> {
    let compiled = compile(input)?;
    let documents = [
        ("payload", stored.payload, compiled.payload.as_bytes()),
        ("proof", stored.proof, compiled.proof.as_bytes()),
        ("receipt", stored.receipt, compiled.receipt_bytes.as_bytes()),
    ];
    let differ: Vec<_> =
        documents.into_iter().filter(|(_, before, now)| before != now).map(|(name, ..)| name).collect();
    if !differ.is_empty() {
        return Err(ReplayError::Differs { differ });
    }
    let receipt_hash: Hash = sha256(&[stored.receipt]);
    match stored.signature {
        Some((signature, key)) if verify(&receipt_hash, key, signature).is_err() => {
            Err(ReplayError::Signature)
        }
        _ => Ok(compiled),
    }
}
