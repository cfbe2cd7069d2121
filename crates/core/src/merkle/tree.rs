//! A tree that is being sealed: its right edge and the tiles along it.

use std::collections::BTreeMap;

use super::Frontier;
use crate::chain::Hash;
use crate::tile::{self, TILE_HEIGHT, TILE_WIDTH, Tile, TileId};

/// A tree that can be extended and says which tiles that changes. Holds the edge only, at most 255
/// hashes a level, however many leaves there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    frontier: Frontier,
    /// Bytes of the tile that is being filled, by level.
    open: Vec<Vec<u8>>,
}

/// The stored tiles do not make the edge of the tree they should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEdge {
    /// A tile that a tree of this size has is not there.
    #[error("tile {0} is missing")]
    Missing(TileId),
    /// A tile is there with fewer hashes than it must have.
    #[error("tile {0} is too short or not a whole number of hashes")]
    Short(TileId),
    /// The tiles hash to another root than was recorded.
    #[error("the tiles of the tree of {size} leaves hash to {found}, recorded is {expected}")]
    Root {
        /// Leaves.
        size: u64,
        /// What was recorded.
        expected: Hash,
        /// What the tiles say.
        found: Hash,
    },
}

impl BadEdge {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            BadEdge::Missing(_) => "TILE_MISSING",
            BadEdge::Short(_) => "TILE_SHORT",
            BadEdge::Root { .. } => "ROOT_MISMATCH",
        }
    }
}

impl Tree {
    /// The tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree of `size` leaves, from the tiles named by [`TileId::partial`]. `read` returns the bytes
    /// of the tile at that level and index; they may be wider than asked for, when a later seal has
    /// already grown it. The result must have the recorded `root`: a tree is never extended on top of
    /// tiles that somebody changed.
    pub fn load<'a>(
        size: u64,
        root: &Hash,
        mut read: impl FnMut(TileId) -> Option<&'a [u8]>,
    ) -> Result<Self, BadEdge> {
        let mut open =
            vec![Vec::new(); TileId::partial(size).last().map_or(0, |id| usize::from(id.level) + 1)];
        for id in TileId::partial(size) {
            let bytes = read(id).ok_or(BadEdge::Missing(id))?;
            let bytes = bytes.get(..id.len_bytes()).ok_or(BadEdge::Short(id))?;
            open[usize::from(id.level)] = bytes.to_vec();
        }
        let frontier =
            Frontier::from_peaks(size, peaks(&open)).expect("tiles of these widths make this size");
        let found = frontier.root();
        if found != *root {
            return Err(BadEdge::Root { size, expected: *root, found });
        }
        Ok(Tree { frontier, open })
    }

    /// Number of leaves.
    pub fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// Root of the whole tree.
    pub fn root(&self) -> Hash {
        self.frontier.root()
    }

    /// Add leaves. Returns every tile that is new or has grown, as it is now, in order of level and
    /// index; writing these over what is stored makes the stored tiles those of the new size.
    pub fn extend(&mut self, leaves: impl IntoIterator<Item = Hash>) -> Vec<Tile> {
        let mut full = BTreeMap::new();
        let before = self.size();
        let open = &mut self.open;
        for leaf in leaves {
            let position = self.frontier.size();
            self.frontier.push_with(leaf, |height, hash| {
                if !height.is_multiple_of(TILE_HEIGHT) {
                    return;
                }
                let level = (height / TILE_HEIGHT) as usize;
                if open.len() == level {
                    open.push(Vec::new());
                }
                open[level].extend_from_slice(&hash.0);
                if open[level].len() == TILE_WIDTH as usize * tile::HASH_LEN {
                    let index = position >> (height + TILE_HEIGHT);
                    full.insert((level as u8, index), std::mem::take(&mut open[level]));
                }
            });
        }
        self.changed(before, full)
    }

    fn changed(&self, before: u64, mut tiles: BTreeMap<(u8, u64), Vec<u8>>) -> Vec<Tile> {
        for id in TileId::partial(self.size()) {
            if tile::hashes_at(id.level, before) < tile::hashes_at(id.level, self.size()) {
                tiles.insert((id.level, id.index), self.open[usize::from(id.level)].clone());
            }
        }
        let tile = |((level, index), bytes): (_, Vec<u8>)| {
            let width = (bytes.len() / tile::HASH_LEN) as u16;
            Tile { id: TileId { level, index, width }, bytes }
        };
        tiles.into_iter().map(tile).collect()
    }
}

/// The peaks of a tree, largest first, from its open tiles: within a tile, the same binary counting
/// as in the whole tree.
fn peaks(open: &[Vec<u8>]) -> Vec<Hash> {
    let of_tile = |bytes: &Vec<u8>| {
        let mut within = Frontier::new();
        within.extend(bytes.chunks_exact(tile::HASH_LEN).filter_map(Hash::from_slice));
        within.peaks().to_vec()
    };
    open.iter().rev().flat_map(of_tile).collect()
}
