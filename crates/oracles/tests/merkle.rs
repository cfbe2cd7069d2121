//! Trees, proofs and tiles: ours and theirs are equal, and each accepts the other's.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;

use bpc_core::Hash;
use bpc_core::merkle::{Tree, consistency, inclusion, leaf_hash, verify_consistency, verify_inclusion};
use bpc_core::tile::{self, TileId};
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof, InclusionProof, RootHash};
use proptest::prelude::*;
use sha2::Sha256;
use tlog_tiles::{HashReader, TileHashReader, TileReader};

const LEAVES: u64 = 300;

#[test]
fn every_inclusion_proof_up_to_300_leaves_is_that_of_the_oracles() {
    let mut log = Log::default();
    for size in 1..=LEAVES {
        log.grow(1);
        let root = log.tree.root();
        assert_eq!(log.ct.root().as_bytes().as_slice(), root.0);
        assert_eq!(tlog_tiles::tree_hash(size, &log.go).unwrap().0, root.0);
        for position in 0..size {
            let ours = inclusion(position, size, |level, index| log.hash(level, index)).unwrap();
            assert_eq!(log.ct.prove_inclusion(position as usize).as_bytes(), flat(&ours));
            let go = tlog_tiles::prove_record(size, position, &log.go).unwrap();
            assert_eq!(hashes(&go), ours);

            let leaf = leaf_hash(&data(position));
            verify_inclusion(&leaf, position, size, &ours, &root).unwrap();
            let ct_root = RootHash::<Sha256>::new(root.0.into(), size);
            let ct_proof = InclusionProof::from_bytes(flat(&ours));
            ct_root.verify_inclusion(&data(position), position, &ct_proof).unwrap();
            tlog_tiles::check_record(&go, size, theirs(&root), position, theirs(&leaf)).unwrap();
        }
    }
}

#[test]
fn every_consistency_proof_up_to_300_leaves_is_that_of_the_oracles() {
    let mut log = Log::default();
    let mut roots = vec![log.tree.root()];
    for new in 1..=LEAVES {
        log.grow(1);
        let root = log.tree.root();
        roots.push(root);
        // Neither oracle has a proof from the empty tree.
        for old in 1..=new {
            let ours = consistency(old, new, |level, index| log.hash(level, index)).unwrap();
            assert_eq!(log.ct.prove_consistency((new - old) as usize).as_bytes(), flat(&ours));
            let go = tlog_tiles::prove_tree(new, old, &log.go).unwrap();
            assert_eq!(hashes(&go), ours);

            let old_root = roots[old as usize];
            verify_consistency(old, &old_root, new, &root, &ours).unwrap();
            let ct_new = RootHash::<Sha256>::new(root.0.into(), new);
            let ct_old = RootHash::<Sha256>::new(old_root.0.into(), old);
            ct_new
                .verify_consistency(&ct_old, &ConsistencyProof::try_from_bytes(flat(&ours)).unwrap())
                .unwrap();
            tlog_tiles::check_tree(&go, new, theirs(&root), old, theirs(&old_root)).unwrap();
        }
    }
}

#[test]
fn the_oracle_reads_our_tiles_and_finds_them_authentic() {
    let mut log = Log::default();
    for size in [1, 2, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 70_000] {
        log.grow(size - log.tree.size());
        let root = log.tree.root();
        // This reader checks every tile it reads against the root.
        let reader = TileHashReader::new(size, theirs(&root), &log);
        assert_eq!(tlog_tiles::tree_hash(size, &reader).unwrap().0, root.0);
        for position in [0, size / 3, size / 2, size - 1] {
            let theirs = tlog_tiles::prove_record(size, position, &reader).unwrap();
            let ours = inclusion(position, size, |level, index| log.hash(level, index)).unwrap();
            assert_eq!(hashes(&theirs), ours);
            let theirs = tlog_tiles::prove_tree(size, position + 1, &reader).unwrap();
            let ours = consistency(position + 1, size, |level, index| log.hash(level, index)).unwrap();
            assert_eq!(hashes(&theirs), ours);
        }
    }
    assert!(log.read.get() > 0);
}

proptest! {
    #[test]
    fn changed_tiles_are_those_that_the_oracle_would_publish(before in 0_u64..1500, added in 0_u64..1500) {
        let mut tree = Tree::new();
        tree.extend((0..before).map(|at| leaf_hash(&data(at))));
        let changed = tree.extend((before..before + added).map(|at| leaf_hash(&data(at))));
        let ours: Vec<_> = changed.iter().map(|tile| tile.id.to_string()).collect();
        let theirs: Vec<_> = tlog_tiles::Tile::new_tiles(8, before, before + added).iter().map(path).collect();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn paths_are_those_of_the_oracle(level in 0_u8..8, index: u64, width in 1_u16..=256) {
        let index = index >> (index % 64);
        let ours = TileId { level, index, width }.to_string();
        let tile = tlog_tiles::Tile::new(8, level, index, width.into(), false);
        prop_assert_eq!(&ours, &path(&tile));
        prop_assert_eq!(ours.parse(), Ok(TileId { level, index, width }));
    }
}

/// One log kept in three ways.
#[derive(Default)]
struct Log {
    tree: Tree,
    tiles: BTreeMap<(u8, u64), Vec<u8>>,
    ct: MemoryBackedTree<Sha256, Vec<u8>>,
    go: GoStorage,
    read: Cell<usize>,
}

impl Log {
    fn grow(&mut self, leaves: u64) {
        let before = self.tree.size();
        let changed = self.tree.extend((before..before + leaves).map(|at| leaf_hash(&data(at))));
        self.tiles.extend(changed.into_iter().map(|tile| ((tile.id.level, tile.id.index), tile.bytes)));
        for position in before..before + leaves {
            self.ct.push(data(position));
            let new = tlog_tiles::stored_hashes(position, &data(position), &self.go).unwrap();
            self.go.0.extend(new);
        }
    }

    fn hash(&self, level: u8, index: u64) -> Result<Hash, Infallible> {
        let tile = &self.tiles[&(level, index / tile::TILE_WIDTH)];
        Ok(tile::hash_in(tile, (index % tile::TILE_WIDTH) as usize).unwrap())
    }
}

#[derive(Default)]
struct GoStorage(Vec<tlog_tiles::Hash>);

impl HashReader for GoStorage {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog_tiles::Hash>, tlog_tiles::Error> {
        Ok(indexes.iter().map(|index| self.0[*index as usize]).collect())
    }
}

impl TileReader for Log {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[tlog_tiles::Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        self.read.set(self.read.get() + tiles.len());
        let bytes = |tile: &tlog_tiles::Tile| {
            let stored = &self.tiles[&(tile.level(), tile.level_index())];
            stored[..tile.width() as usize * tile::HASH_LEN].to_vec()
        };
        Ok(tiles.iter().map(bytes).collect())
    }

    fn save_tiles(&self, _: &[tlog_tiles::Tile], _: &[Vec<u8>]) {}
}

/// Go's checksum database puts the tile height, always 8 in the standard, into the path.
fn path(tile: &tlog_tiles::Tile) -> String {
    tile.path().replacen("tile/8/", "tile/", 1)
}

fn data(position: u64) -> Vec<u8> {
    format!("leaf {position}").into_bytes()
}

fn theirs(hash: &Hash) -> tlog_tiles::Hash {
    tlog_tiles::Hash(hash.0)
}

fn hashes(proof: &[tlog_tiles::Hash]) -> Vec<Hash> {
    proof.iter().map(|hash| Hash(hash.0)).collect()
}

fn flat(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}
