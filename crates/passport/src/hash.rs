//! SHA-256 over parts.

use bpc_core::Hash;
use sha2::{Digest, Sha256};

/// SHA-256 of the parts, one after the other.
pub(crate) fn sha256(parts: &[&[u8]]) -> Hash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    Hash(hash.finalize().into())
}
