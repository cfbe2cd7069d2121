//! Making proofs and roots from stored hashes.
//!
//! Each function asks `read` for the hashes it needs, by `(level, index)` in tile coordinates. Who
//! has to fetch them first (from a database, say) asks the `_tiles` twin which tiles that will be.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{EMPTY_ROOT, node_hash};
use crate::chain::Hash;
use crate::tile::{TILE_HEIGHT, TileId};

/// Why a proof cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unprovable<E> {
    /// There is no leaf at this position yet.
    #[error("position {position} is not in a tree of {size} leaves")]
    NoSuchLeaf {
        /// What was asked for.
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
    /// A stored hash could not be read.
    #[error("a stored hash could not be read")]
    Read(#[source] E),
}

impl<E> Unprovable<E> {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Unprovable::NoSuchLeaf { .. } => "POSITION_NOT_SEALED",
            Unprovable::NotOlder { .. } => "TREE_NOT_OLDER",
            Unprovable::Read(_) => "TILE_UNREADABLE",
        }
    }
}

/// Root of the tree of the first `size` leaves.
pub fn root<E>(size: u64, read: impl FnMut(u8, u64) -> Result<Hash, E>) -> Result<Hash, E> {
    if size == 0 { Ok(EMPTY_ROOT) } else { Stored { read }.range(0..size) }
}

/// The audit path of the leaf at `position` in the tree of the first `size` leaves (RFC 6962 2.1.1):
/// the sibling subtrees from the leaf up, at most 64.
pub fn inclusion<E>(
    position: u64,
    size: u64,
    read: impl FnMut(u8, u64) -> Result<Hash, E>,
) -> Result<Vec<Hash>, Unprovable<E>> {
    if position >= size {
        return Err(Unprovable::NoSuchLeaf { position, size });
    }
    let mut stored = Stored { read };
    let mut siblings = Vec::new();
    let mut within = 0..size;
    while within.end - within.start > 1 {
        let middle = split(&within);
        let (left, right) = (within.start..middle, middle..within.end);
        if position < middle {
            siblings.push(right);
            within = left;
        } else {
            siblings.push(left);
            within = right;
        }
    }
    siblings
        .into_iter()
        .rev()
        .map(|range| stored.range(range))
        .collect::<Result<_, _>>()
        .map_err(Unprovable::Read)
}

/// The proof that the tree of the first `old` leaves is the beginning of that of the first `new`
/// (RFC 6962 2.1.2). Empty when `old` is 0 or equal to `new`.
pub fn consistency<E>(
    old: u64,
    new: u64,
    read: impl FnMut(u8, u64) -> Result<Hash, E>,
) -> Result<Vec<Hash>, Unprovable<E>> {
    if old > new {
        return Err(Unprovable::NotOlder { old, new });
    }
    if old == 0 || old == new {
        return Ok(Vec::new());
    }
    let mut stored = Stored { read };
    let mut parts = Vec::new();
    let mut within = 0..new;
    // Walk down to the subtree whose end is the end of the old tree.
    while within.end != old {
        let middle = split(&within);
        let (left, right) = (within.start..middle, middle..within.end);
        if old <= middle {
            parts.push(right);
            within = left;
        } else {
            parts.push(left);
            within = right;
        }
    }
    // Where that subtree is the whole old tree, the checker knows its root already.
    if within.start != 0 {
        parts.push(within);
    }
    parts
        .into_iter()
        .rev()
        .map(|range| stored.range(range))
        .collect::<Result<_, _>>()
        .map_err(Unprovable::Read)
}

/// The tiles that [`root`] reads.
pub fn root_tiles(size: u64) -> Vec<TileId> {
    tiles_read(size, |read| root(size, read).map(drop))
}

/// The tiles that [`inclusion`] reads; none if there is no such leaf.
pub fn inclusion_tiles(position: u64, size: u64) -> Vec<TileId> {
    tiles_read(size, |read| inclusion(position, size, read).map(drop).map_err(drop))
}

/// The tiles that [`consistency`] reads; none if `old` is not older.
pub fn consistency_tiles(old: u64, new: u64) -> Vec<TileId> {
    tiles_read(new, |read| consistency(old, new, read).map(drop).map_err(drop))
}

/// Run a reading of a tree of `size` leaves on nothing and note which tiles it asks for.
fn tiles_read(
    size: u64,
    reading: impl FnOnce(&mut dyn FnMut(u8, u64) -> Result<Hash, ()>) -> Result<(), ()>,
) -> Vec<TileId> {
    let mut tiles = BTreeSet::new();
    let _ = reading(&mut |level, index| {
        tiles.extend(TileId::holding(level, index, size));
        Ok(Hash::ZERO)
    });
    tiles.into_iter().collect()
}

/// Where the root of that range has its left and right child meet: the largest power of two below its
/// length, from its start.
fn split(range: &Range<u64>) -> u64 {
    let len = range.end - range.start;
    range.start + (1 << (len - 1).ilog2())
}

struct Stored<R> {
    read: R,
}

impl<R: FnMut(u8, u64) -> Result<Hash, E>, E> Stored<R> {
    /// Hash of a range that is a node of the tree.
    fn range(&mut self, range: Range<u64>) -> Result<Hash, E> {
        let len = range.end - range.start;
        // Complete subtrees at the height of a tile level are stored; the rest is made of them.
        if len.is_power_of_two() && len.ilog2().is_multiple_of(TILE_HEIGHT) {
            let height = len.ilog2();
            return (self.read)((height / TILE_HEIGHT) as u8, range.start >> height);
        }
        let middle = split(&range);
        let left = self.range(range.start..middle)?;
        let right = self.range(middle..range.end)?;
        Ok(node_hash(&left, &right))
    }
}
