//! The Merkle tree made again from its leaves, and compared with every stored hash on the way up.
//!
//! Two things claim what a leaf is: the event that stands there, and the stored tile. Where they
//! disagree, the hash above tells which of them was changed.

use std::collections::BTreeMap;

use bpc_core::Hash;
use bpc_core::merkle::Frontier;
use bpc_core::tile::{HASH_LEN, TILE_HEIGHT, TILE_WIDTH, TileId, hash_in};

use crate::seal::SealedHead;
use crate::verify::finding::{Finding, Findings};

const LEAF_MISMATCH: &str = "LEAF_MISMATCH";
const TILE_MISSING: &str = "TILE_MISSING";
const TILE_MISMATCH: &str = "TILE_MISMATCH";

/// Stored tiles above the leaves that are needed next, by level and index.
pub(in crate::verify) type UpperTiles = BTreeMap<(u8, u64), Option<Vec<u8>>>;

/// A leaf as an event has it.
#[derive(Clone, Copy, Debug)]
pub(in crate::verify) struct EventLeaf {
    /// The event, if it is there.
    pub(in crate::verify) event_id: Option<i64>,
    /// What follows from it; `None` if it does not say what it is, or is not there.
    pub(in crate::verify) leaf: Option<Hash>,
}

/// The tree as far as it was made again.
pub(in crate::verify) struct TreeCheck {
    /// Leaves in the end, and the root that is recorded for them.
    size: u64,
    root: Hash,
    frontier: Frontier,
    /// Sizes whose roots are wanted, largest first.
    wanted: Vec<u64>,
    /// Roots at those sizes.
    roots: BTreeMap<u64, Hash>,
    pub(in crate::verify) findings: Findings,
}

impl TreeCheck {
    /// A tree of that size, whose recorded root has the last word on a tile that is not full; the roots
    /// at the sizes of `wanted` are kept.
    pub(in crate::verify) fn new(
        SealedHead { size, root }: SealedHead,
        wanted: impl IntoIterator<Item = u64>,
        findings_max: usize,
    ) -> Self {
        let mut wanted: Vec<u64> = wanted.into_iter().filter(|wanted| *wanted <= size).collect();
        wanted.sort_unstable_by(|a, b| b.cmp(a));
        wanted.dedup();
        let mut tree = TreeCheck {
            size,
            root,
            frontier: Frontier::new(),
            wanted,
            roots: BTreeMap::new(),
            findings: Findings::keeping(findings_max),
        };
        tree.keep_root();
        tree
    }

    /// Upper tiles that have to be at hand when tile `index` of level 0 is taken.
    pub(in crate::verify) fn upper_tiles(&self, index: u64) -> impl Iterator<Item = (u8, u64)> + use<> {
        let size = self.size;
        (1..=7)
            .map(move |level: u8| (level, index >> (TILE_HEIGHT * u32::from(level))))
            .take_while(move |(level, tile)| TileId::holding(*level, tile * TILE_WIDTH, size).is_some())
    }

    /// The next tile of level 0: what the events say, and what is stored.
    pub(in crate::verify) fn take(
        &mut self,
        events: &[EventLeaf],
        stored: Option<&[u8]>,
        upper: &UpperTiles,
    ) {
        let first = self.frontier.size();
        let index = first / TILE_WIDTH;
        let id = TileId { level: 0, index, width: events.len() as u16 };
        let stored = match stored {
            Some(bytes) if bytes.len() == id.len_bytes() => Some(bytes),
            other => {
                self.findings.add(|| match other {
                    None => Finding::at_tile(TILE_MISSING, id, "the tile is missing"),
                    Some(bytes) => {
                        Finding::at_tile(TILE_MISMATCH, id, "the tile has not the length it must have")
                            .instead(id.len_bytes(), bytes.len())
                    }
                });
                None
            }
        };
        let stored_leaf = |at: usize| stored.and_then(|bytes| hash_in(bytes, at));
        let agrees = |(at, event): (usize, &EventLeaf)| event.leaf.is_some() && event.leaf == stored_leaf(at);
        let leaves: Vec<Hash> = if stored.is_some() && events.iter().enumerate().all(agrees) {
            events.iter().filter_map(|event| event.leaf).collect()
        } else {
            self.judge(events, stored, first, upper)
        };
        for leaf in leaves {
            self.push(leaf, upper);
        }
    }

    /// The roots that were asked for, and what was found on the way.
    pub(in crate::verify) fn finish(self) -> (BTreeMap<u64, Hash>, Findings) {
        (self.roots, self.findings)
    }

    /// Events and tile disagree: who is right?
    fn judge(
        &mut self,
        events: &[EventLeaf],
        stored: Option<&[u8]>,
        first: u64,
        upper: &UpperTiles,
    ) -> Vec<Hash> {
        let index = first / TILE_WIDTH;
        let of_events: Option<Vec<Hash>> = events.iter().map(|event| event.leaf).collect();
        let of_tile: Option<Vec<Hash>> =
            stored.map(|bytes| bytes.chunks_exact(HASH_LEN).filter_map(Hash::from_slice).collect());
        // A full tile has a hash above it; of one that is not, the recorded root tells.
        let is_full = events.len() as u64 == TILE_WIDTH;
        let is_confirmed = |leaves: &Option<Vec<Hash>>| {
            let made = |tree: &Frontier, leaves: &[Hash]| {
                let mut tree = tree.clone();
                tree.extend(leaves.iter().copied());
                tree.root()
            };
            leaves.as_ref().is_some_and(|leaves| match is_full {
                true => stored_hash(upper, 1, index) == Some(made(&Frontier::new(), leaves)),
                false => made(&self.frontier, leaves) == self.root,
            })
        };
        let Some(tile_leaves) = &of_tile else {
            // The tile is a finding already.
            return of_events
                .unwrap_or_else(|| events.iter().map(|it| it.leaf.unwrap_or(Hash::ZERO)).collect());
        };
        if is_confirmed(&of_events) {
            let id = TileId { level: 0, index, width: events.len() as u16 };
            let differ = events.iter().zip(tile_leaves).zip(first..);
            for ((event, tile), position) in differ.filter(|((event, tile), _)| event.leaf != Some(**tile)) {
                self.findings.add(|| Finding {
                    position: Some(position),
                    expected: event.leaf.map(|leaf| leaf.to_string()),
                    found: Some(tile.to_string()),
                    ..Finding::at_tile(
                        TILE_MISMATCH,
                        id,
                        "the tile does not hold the leaf of the event that was sealed here",
                    )
                });
            }
            return of_events.expect("confirmed");
        }
        for ((event, tile), position) in events.iter().zip(tile_leaves).zip(first..) {
            // An event that is not there is a finding of the order.
            if event.leaf != Some(*tile) && event.event_id.is_some() {
                self.findings.add(|| Finding {
                    event_id: event.event_id,
                    expected: Some(tile.to_string()),
                    found: event.leaf.map(|leaf| leaf.to_string()),
                    ..Finding::at_position(
                        LEAF_MISMATCH,
                        position,
                        "this is not the event that was sealed here",
                    )
                });
            }
        }
        of_tile.expect("there is a tile")
    }

    fn push(&mut self, leaf: Hash, upper: &UpperTiles) {
        let position = self.frontier.size();
        let (size, findings) = (self.size, &mut self.findings);
        self.frontier.push_with(leaf, |height, made| {
            if height == 0 || height % TILE_HEIGHT != 0 {
                return;
            }
            let level = (height / TILE_HEIGHT) as u8;
            let index = position >> height;
            let stored = stored_hash(upper, level, index);
            if stored == Some(*made) {
                return;
            }
            let id = TileId::holding(level, index, size).expect("a tree of this size has it");
            // Told once for each tile that is missing.
            let is_missing = upper.get(&(level, id.index)).is_none_or(Option::is_none);
            if is_missing && !index.is_multiple_of(TILE_WIDTH) {
                return;
            }
            findings.add(|| match stored {
                None if is_missing => Finding::at_tile(TILE_MISSING, id, "the tile is missing"),
                _ => Finding {
                    expected: Some(made.to_string()),
                    found: stored.map(|stored| stored.to_string()),
                    ..Finding::at_tile(
                        TILE_MISMATCH,
                        id,
                        format!(
                            "hash {} of the tile does not follow from the tile below",
                            index % TILE_WIDTH
                        ),
                    )
                },
            });
        });
        self.keep_root();
    }

    fn keep_root(&mut self) {
        if self.wanted.last() == Some(&self.frontier.size()) {
            self.wanted.pop();
            self.roots.insert(self.frontier.size(), self.frontier.root());
        }
    }
}

fn stored_hash(upper: &UpperTiles, level: u8, index: u64) -> Option<Hash> {
    let bytes = upper.get(&(level, index / TILE_WIDTH))?.as_ref()?;
    hash_in(bytes, (index % TILE_WIDTH) as usize)
}
