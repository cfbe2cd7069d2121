//! The Merkle tree over the sealed log (RFC 6962, SHA-256): its hashes, its growing right edge, proofs
//! that a leaf is in it and that an older tree is its beginning, and their checks.
//!
//! Nothing here reads or stores. Whoever makes a proof passes in a function that knows the stored hash
//! at `(level, index)`, the coordinates of [`crate::tile`]; whoever seals gets the tiles that changed.

mod frontier;
mod leaf;
mod prove;
mod tree;
mod verify;

use sha2::{Digest, Sha256};

use crate::chain::Hash;

pub use frontier::Frontier;
pub use leaf::{event_leaf, leaf_data, written_leaf};
pub use prove::{Unprovable, consistency, consistency_tiles, inclusion, inclusion_tiles, root, root_tiles};
pub use tree::{BadEdge, Tree};
pub use verify::{BadProof, inclusion_root, verify_consistency, verify_inclusion};

/// Root of the tree without leaves: `SHA-256("")`.
pub const EMPTY_ROOT: Hash = Hash([
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
]);

/// `SHA-256(0x00 || data)`: a leaf can never be taken for a node.
pub fn leaf_hash(data: &[u8]) -> Hash {
    let mut hash = Sha256::new();
    hash.update([0]);
    hash.update(data);
    Hash(hash.finalize().into())
}

/// `SHA-256(0x01 || left || right)`.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(&left.0);
    bytes[33..].copy_from_slice(&right.0);
    Hash(Sha256::digest(bytes).into())
}
