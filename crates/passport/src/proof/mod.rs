//! What a passport says, as a tree of salted hashes: facts, results of rules, and each attribute in
//! the section of Annex XIII that it belongs to.
//!
//! ```text
//! salt(tag, name)      = HMAC-SHA256(salt_key, "BPC-SALT-1" 00 || tag || name)[0..16]
//! leaf(tag, name, obj) = SHA-256(00 || tag || salt(tag, name) || canonical(obj))
//! node(left, right)    = SHA-256(01 || left || right)
//! proof_root           = SHA-256(02 || facts_root || results_root || S1 || S2 || S3 || S4)
//! ```
//!
//! A share such as "16" would be found by trying all shares, so leaves are salted. The salts follow
//! from a key that is made when the snapshot is sealed, so compiling stays pure; showing one salt
//! reveals no other.

mod leaf;
mod merkle;
mod point;
mod salt;
mod tree;

pub use leaf::{Leaf, Tag};
pub use merkle::{audit_path, path_root, root};
pub use point::Point;
pub use salt::{Salt, SaltKey};
pub use tree::{Attribute, ProofTree, Roots, RuleResult, proof_root};
pub(crate) use tree::{attribute_object, fact_leaves};
