//! Checking proofs: pure hashing, no stored hash is trusted.

use super::{EMPTY_ROOT, node_hash};
use crate::chain::Hash;

/// Why a proof proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProof {
    /// No tree of that size has that leaf.
    #[error("position {position} is not in a tree of {size} leaves")]
    NoSuchLeaf {
        /// What the proof is about.
        position: u64,
        /// Leaves.
        size: u64,
    },
    /// The older tree is larger than the newer one.
    #[error("a tree of {old} leaves is not the beginning of one of {new} leaves")]
    NotOlder {
        /// Leaves of the tree said to be older.
        old: u64,
        /// Leaves of the tree said to be newer.
        new: u64,
    },
    /// A proof of this shape has another number of hashes.
    #[error("the proof has {found} hashes, one for these sizes has {expected}")]
    Length {
        /// Hashes it should have.
        expected: usize,
        /// Hashes it has.
        found: usize,
    },
    /// The hashes lead to another root of the tree.
    #[error("the proof leads to root {found}, not {expected}")]
    Root {
        /// The root that was to be reached.
        expected: Hash,
        /// The root that was reached.
        found: Hash,
    },
    /// The hashes lead to another root of the older tree.
    #[error("the proof leads to root {found} of the older tree, not {expected}")]
    OldRoot {
        /// The root that was to be reached.
        expected: Hash,
        /// The root that was reached.
        found: Hash,
    },
}

impl BadProof {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            BadProof::NoSuchLeaf { .. } => "PROOF_POSITION",
            BadProof::NotOlder { .. } => "PROOF_NOT_OLDER",
            BadProof::Length { .. } => "PROOF_LENGTH",
            BadProof::Root { .. } => "PROOF_ROOT",
            BadProof::OldRoot { .. } => "PROOF_OLD_ROOT",
        }
    }
}

/// Check that `leaf` stands at `position` in the tree of that size and root.
pub fn verify_inclusion(
    leaf: &Hash,
    position: u64,
    size: u64,
    path: &[Hash],
    root: &Hash,
) -> Result<(), BadProof> {
    let found = inclusion_root(leaf, position, size, path)?;
    if found == *root { Ok(()) } else { Err(BadProof::Root { expected: *root, found }) }
}

/// The root that the tree of that size has if `leaf` stands at `position` behind this path.
pub fn inclusion_root(leaf: &Hash, position: u64, size: u64, path: &[Hash]) -> Result<Hash, BadProof> {
    if position >= size {
        return Err(BadProof::NoSuchLeaf { position, size });
    }
    let (inner, border) = shape(position, size);
    let expected = (inner + border) as usize;
    if path.len() != expected {
        return Err(BadProof::Length { expected, found: path.len() });
    }
    let (inner_path, border_path) = path.split_at(inner as usize);
    let hash = climb(*leaf, position, inner_path);
    Ok(border_path.iter().fold(hash, |hash, left| node_hash(left, &hash)))
}

/// Check that the tree of `old` leaves and `old_root` is the beginning of that of `new` leaves and
/// `new_root`. Every tree begins with the empty one.
pub fn verify_consistency(
    old: u64,
    old_root: &Hash,
    new: u64,
    new_root: &Hash,
    path: &[Hash],
) -> Result<(), BadProof> {
    if old > new {
        return Err(BadProof::NotOlder { old, new });
    }
    if old == 0 || old == new {
        if !path.is_empty() {
            return Err(BadProof::Length { expected: 0, found: path.len() });
        }
        let old_is = if old == 0 { EMPTY_ROOT } else { *new_root };
        if old_is != *old_root {
            return Err(BadProof::OldRoot { expected: *old_root, found: old_is });
        }
        return match new {
            0 if *new_root != EMPTY_ROOT => Err(BadProof::Root { expected: *new_root, found: EMPTY_ROOT }),
            _ => Ok(()),
        };
    }
    // The proof climbs from the last complete subtree of the old tree, of that height.
    let height = old.trailing_zeros();
    let (inner, border) = shape(old - 1, new);
    let inner = inner - height;
    // Where that subtree is the whole old tree its root is known and not in the proof.
    let given = !old.is_power_of_two();
    let expected = (u32::from(given) + inner + border) as usize;
    if path.len() != expected {
        return Err(BadProof::Length { expected, found: path.len() });
    }
    let (seed, path) = if given { (path[0], &path[1..]) } else { (*old_root, path) };
    let (inner_path, border_path) = path.split_at(inner as usize);
    let at = (old - 1) >> height;

    let old_inner = inner_path.iter().enumerate().filter(|(bit, _)| at >> bit & 1 == 1).map(|(_, left)| left);
    let found = old_inner.chain(border_path).fold(seed, |hash, left| node_hash(left, &hash));
    if found != *old_root {
        return Err(BadProof::OldRoot { expected: *old_root, found });
    }
    let hash = climb(seed, at, inner_path);
    let found = border_path.iter().fold(hash, |hash, left| node_hash(left, &hash));
    if found == *new_root { Ok(()) } else { Err(BadProof::Root { expected: *new_root, found }) }
}

/// The way from a leaf to the root: below `inner` it may turn either way; above, where it runs along the
/// right border of the tree, there are `border` siblings, all on the left.
fn shape(position: u64, size: u64) -> (u32, u32) {
    let inner = u64::BITS - (position ^ (size - 1)).leading_zeros();
    let border = position.checked_shr(inner).unwrap_or(0).count_ones();
    (inner, border)
}

/// Climb along siblings, on the left where the position's bit is set.
fn climb(from: Hash, position: u64, siblings: &[Hash]) -> Hash {
    let step = |hash, (bit, sibling): (usize, &Hash)| {
        if position >> bit & 1 == 1 { node_hash(sibling, &hash) } else { node_hash(&hash, sibling) }
    };
    siblings.iter().enumerate().fold(from, step)
}
