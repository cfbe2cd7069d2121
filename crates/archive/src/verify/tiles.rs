//! The tree of the stored tiles: what it hashes to at every size that somebody signed for.

use std::collections::{BTreeMap, BTreeSet};

use bpc_core::Hash;
use bpc_core::merkle::Frontier;
use bpc_core::tile::{HASH_LEN, TILE_HEIGHT, TILE_WIDTH, TileId, hash_in};

use crate::archive::Archive;

/// Takes the tiles of level 0 in order, and on the way compares those above with what they should be.
pub(super) struct TileCheck<'a> {
    archive: &'a Archive,
    size: u64,
    /// Leaves that are known to be right where the tile is wrong.
    right: BTreeMap<u64, Vec<Hash>>,
    frontier: Frontier,
    /// Sizes whose roots are wanted, largest first.
    wanted: Vec<u64>,
    /// Roots at those sizes.
    pub(super) roots: BTreeMap<u64, Hash>,
    /// Hashes of the tiles above, made from those below, by level.
    made: Vec<Vec<Hash>>,
    /// Tiles that are missing or not as long as they must be.
    pub(super) missing: BTreeSet<TileId>,
    /// Tiles above the leaves with hashes that are not those of the tiles below: which hashes, by level and index.
    pub(super) wrong: BTreeSet<(u8, u64)>,
}

/// A tile of level 0 whose leaves were looked at.
pub(super) struct LeafTile {
    pub(super) index: u64,
    pub(super) leaves: Leaves,
    /// It is not there, or not as long as it must be: the leaves follow from the events.
    pub(super) is_missing: bool,
}

/// What a tile adds to the tree.
pub(super) enum Leaves {
    /// The root of all 256 of them.
    Root(Hash),
    /// One by one, where the tree ends among them, or a root is wanted there.
    Each(Vec<Hash>),
}

impl<'a> TileCheck<'a> {
    /// The roots at sizes that are wanted, with these leaves in place of some tiles.
    pub(super) fn roots_with(
        archive: &'a Archive,
        wanted: Vec<u64>,
        right: BTreeMap<u64, Vec<Hash>>,
    ) -> BTreeMap<u64, Hash> {
        let mut check = TileCheck { right, ..TileCheck::new(archive, wanted) };
        check.finish();
        check.roots
    }

    pub(super) fn new(archive: &'a Archive, mut wanted: Vec<u64>) -> Self {
        wanted.sort_unstable_by(|a, b| b.cmp(a));
        wanted.dedup();
        let mut check = TileCheck {
            archive,
            size: archive.manifest().size,
            right: BTreeMap::new(),
            frontier: Frontier::new(),
            wanted,
            roots: BTreeMap::new(),
            made: Vec::new(),
            missing: BTreeSet::new(),
            wrong: BTreeSet::new(),
        };
        check.note_root();
        check
    }

    /// Leaves in all.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The next tile of level 0 that was looked at.
    pub(super) fn take(&mut self, tile: LeafTile) {
        self.catch_up(tile.index);
        if tile.is_missing {
            self.missing.extend(TileId::holding(0, tile.index * TILE_WIDTH, self.size));
        }
        match tile.leaves {
            Leaves::Root(root) => self.push(TILE_HEIGHT, root),
            Leaves::Each(leaves) => leaves.into_iter().for_each(|leaf| self.push(0, leaf)),
        }
    }

    /// Take the tiles before this one, of whose events nothing is known.
    fn catch_up(&mut self, index: u64) {
        while self.frontier.size() < (index * TILE_WIDTH).min(self.size) {
            let index = self.frontier.size() / TILE_WIDTH;
            let width =
                TileId::holding(0, index * TILE_WIDTH, self.size).map_or(0, |id| usize::from(id.width));
            let right = self.right.get(&index).cloned();
            let leaves = right.or_else(|| self.stored(0, index)).unwrap_or_else(|| vec![Hash::ZERO; width]);
            leaves.into_iter().for_each(|leaf| self.push(0, leaf));
        }
    }

    /// Everything was taken: compare what is left.
    pub(super) fn finish(&mut self) {
        self.catch_up(self.size.div_ceil(TILE_WIDTH));
        for level in 1..=self.made.len() as u8 {
            self.compare(level);
        }
    }

    /// Add a leaf, or a complete subtree of this height.
    fn push(&mut self, height: u32, root: Hash) {
        let made = &mut self.made;
        self.frontier.push_complete(height, root, |height, hash| {
            let level = (height / TILE_HEIGHT) as usize;
            if level == 0 || !height.is_multiple_of(TILE_HEIGHT) {
                return;
            }
            if made.len() < level {
                made.push(Vec::new());
            }
            made[level - 1].push(*hash);
        });
        let size = self.frontier.size();
        for level in 1..=self.made.len() as u8 {
            // A tile is full when the last hash that fits was made just now.
            if size.is_multiple_of(1 << (TILE_HEIGHT * (u32::from(level) + 1))) {
                self.compare(level);
            }
        }
        self.note_root();
    }

    fn note_root(&mut self) {
        while self.wanted.last().is_some_and(|size| *size == self.frontier.size()) {
            self.wanted.pop();
            self.roots.insert(self.frontier.size(), self.frontier.root());
        }
    }

    /// Compare the tile at the right end of a level with what was made.
    fn compare(&mut self, level: u8) {
        let made = std::mem::take(&mut self.made[usize::from(level) - 1]);
        if made.is_empty() {
            return;
        }
        let end = self.frontier.size() >> (TILE_HEIGHT * u32::from(level));
        let index = (end - 1) / TILE_WIDTH;
        let Some(stored) = self.stored(level, index) else {
            return;
        };
        for (at, (made, stored)) in made.iter().zip(&stored).enumerate() {
            if made != stored {
                self.wrong.insert((level, index * TILE_WIDTH + at as u64));
            }
        }
    }

    /// The hashes of a tile, as wide as the archive must have it.
    fn stored(&mut self, level: u8, index: u64) -> Option<Vec<Hash>> {
        let id = TileId::holding(level, index * TILE_WIDTH, self.size)?;
        let bytes = self.archive.tile(level, index).ok().filter(|bytes| bytes.len() == id.len_bytes());
        if bytes.is_none() {
            self.missing.insert(id);
        }
        let bytes = bytes?;
        (0..bytes.len() / HASH_LEN).map(|at| hash_in(&bytes, at)).collect()
    }
}
