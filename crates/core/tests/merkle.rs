//! The Merkle tree: against the published vectors of RFC 6962 logs, against the definition written out
//! naively, and every proof of many trees. Every proof of every tree up to 300 leaves is made and checked, beside
//! those of others, in the tests of `crates/oracles`.

use std::collections::BTreeMap;
use std::convert::Infallible;

use bpc_core::merkle::{
    BadEdge, BadProof, EMPTY_ROOT, Frontier, Tree, Unprovable, consistency, consistency_tiles, event_leaf,
    inclusion, inclusion_tiles, leaf_data, leaf_hash, node_hash, root, root_tiles, verify_consistency,
    verify_inclusion,
};
use bpc_core::tile::{self, Tile, TileId};
use bpc_core::{Hash, StreamId, Version, chain_hash};
use proptest::prelude::*;

/// Past one full tile.
const LEAVES: u64 = 300;

/// Every small tree, and those around a full tile.
fn sizes() -> impl Iterator<Item = u64> {
    (0..=130).chain([255, 256, 257, LEAVES])
}

#[test]
fn a_subtree_added_at_once_is_its_leaves_added_one_by_one() {
    let leaf = |n: u64| leaf_hash(&n.to_be_bytes());
    for height in 0..=8 {
        let (mut by_leaf, mut at_once) = (Frontier::new(), Frontier::new());
        for tree in 0..5 {
            let leaves = (tree << height..(tree + 1) << height).map(leaf);
            let mut subtree = Frontier::new();
            subtree.extend(leaves.clone());
            let (mut made_by_leaf, mut made_at_once) = (Vec::new(), Vec::new());
            for leaf in leaves {
                by_leaf.push_with(leaf, |height, hash| made_by_leaf.push((height, *hash)));
            }
            at_once.push_complete(height, subtree.root(), |height, hash| made_at_once.push((height, *hash)));
            made_by_leaf.retain(|(made, _)| *made >= height);
            assert_eq!((&at_once, made_at_once), (&by_leaf, made_by_leaf));
        }
    }
}

#[test]
fn roots_are_those_of_the_published_test_tree() {
    let leaves: [&[u8]; 8] = [b"", b"\x00", b"\x10", b" !", b"01", b"@ABC", b"PQRSTUVW", b"`abcdefghijklmno"];
    let roots = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let mut frontier = Frontier::new();
    assert_eq!(frontier.root().to_string(), roots[0]);
    for (leaf, root) in leaves.iter().zip(&roots[1..]) {
        frontier.push(leaf_hash(leaf));
        assert_eq!(frontier.root().to_string(), *root);
    }
}

#[test]
fn a_leaf_says_stream_version_and_hash() {
    let stream: StreamId = "1b670d0b-de96-8d38-9514-cb55e73e4908".parse().unwrap();
    let hash = chain_hash(&Hash::ZERO, b"x");
    let data = leaf_data("Job", stream, Version(7), &hash);
    assert_eq!(
        String::from_utf8(data).unwrap(),
        format!("Job:1b670d0b-de96-8d38-9514-cb55e73e4908\n7\n{hash}\n")
    );
}

proptest! {
    #[test]
    fn the_leaf_hash_without_allocation_is_that_of_the_leaf_data(
        stream_type in "[A-Za-z0-9]{1,300}", id: u128, version: u32, hash: [u8; 32],
    ) {
        let (stream, version, hash) = (StreamId(uuid::Uuid::from_u128(id)), Version(version), Hash(hash));
        let data = leaf_data(&stream_type, stream, version, &hash);
        prop_assert_eq!(event_leaf(&stream_type, stream, version, &hash), leaf_hash(&data));
    }
}

#[test]
fn every_root_up_to_300_leaves_is_that_of_the_definition() {
    let stored = Stored::of(LEAVES);
    let mut frontier = Frontier::new();
    for size in 0..=LEAVES {
        let expected = naive_root(&stored.leaves[..size as usize]);
        assert_eq!(frontier.root(), expected, "size {size}");
        assert_eq!(root(size, stored.reader(size)), Ok(expected), "size {size}");
        frontier.push(nth(size));
    }
}

#[test]
fn every_inclusion_proof_holds_and_only_where_it_belongs() {
    let stored = Stored::of(LEAVES);
    for size in sizes() {
        let root = naive_root(&stored.leaves[..size as usize]);
        for position in 0..size {
            let path = inclusion(position, size, stored.reader(size)).unwrap();
            let leaf = &stored.leaves[position as usize];
            assert_eq!(verify_inclusion(leaf, position, size, &path, &root), Ok(()));
            // The same path is worth nothing at the next position, or one hash shorter or longer.
            assert!(verify_inclusion(leaf, position + 1, size, &path, &root).is_err());
            let longer = [&path[..], &[Hash::ZERO]].concat();
            assert!(verify_inclusion(leaf, position, size, &longer, &root).is_err());
            if let [shorter @ .., _] = &path[..] {
                assert!(verify_inclusion(leaf, position, size, shorter, &root).is_err());
            }
        }
    }
}

#[test]
fn every_consistency_proof_holds() {
    let stored = Stored::of(LEAVES);
    let roots: Vec<_> = (0..=LEAVES).map(|size| naive_root(&stored.leaves[..size as usize])).collect();
    for new in sizes() {
        for old in 0..=new {
            let path = consistency(old, new, stored.reader(new)).unwrap();
            let (old_root, new_root) = (&roots[old as usize], &roots[new as usize]);
            assert_eq!(verify_consistency(old, old_root, new, new_root, &path), Ok(()), "{old} {new}");
            let longer = [&path[..], &[Hash::ZERO]].concat();
            assert!(verify_consistency(old, old_root, new, new_root, &longer).is_err(), "{old} {new}");
            if let [shorter @ .., _] = &path[..] {
                assert!(verify_consistency(old, old_root, new, new_root, shorter).is_err(), "{old} {new}");
            }
            if old > 0 {
                let other = &roots[old as usize - 1];
                assert!(verify_consistency(old, other, new, new_root, &path).is_err(), "{old} {new}");
            }
        }
    }
}

#[test]
fn no_byte_of_a_proof_can_be_changed() {
    let stored = Stored::of(LEAVES);
    let root = naive_root(&stored.leaves);
    for position in [0, 1, 127, 128, 255, 256, 298, 299] {
        let path = inclusion(position, LEAVES, stored.reader(LEAVES)).unwrap();
        let leaf = stored.leaves[position as usize];
        for flipped in flips(&[&[leaf, root], &path[..]].concat()) {
            let [leaf, root, path @ ..] = &flipped[..] else { unreachable!() };
            assert!(verify_inclusion(leaf, position, LEAVES, path, root).is_err());
        }
    }
    for old in [1, 2, 3, 127, 128, 129, 255, 256, 257, 299] {
        let path = consistency(old, LEAVES, stored.reader(LEAVES)).unwrap();
        let old_root = naive_root(&stored.leaves[..old as usize]);
        for flipped in flips(&[&[old_root, root], &path[..]].concat()) {
            let [old_root, root, path @ ..] = &flipped[..] else { unreachable!() };
            assert!(verify_consistency(old, old_root, LEAVES, root, path).is_err());
        }
    }
}

#[test]
fn proofs_that_cannot_be_are_refused_by_name() {
    let leaf = nth(0);
    let none = |_, _| Ok::<_, Infallible>(Hash::ZERO);
    assert_eq!(inclusion(3, 3, none), Err(Unprovable::NoSuchLeaf { position: 3, size: 3 }));
    assert_eq!(consistency(4, 3, none), Err(Unprovable::NotOlder { old: 4, new: 3 }));
    let refused = verify_inclusion(&leaf, 0, 0, &[], &EMPTY_ROOT);
    assert_eq!(refused, Err(BadProof::NoSuchLeaf { position: 0, size: 0 }));
    let refused = verify_inclusion(&leaf, 0, 2, &[], &leaf);
    assert_eq!(refused, Err(BadProof::Length { expected: 1, found: 0 }));
    let refused = verify_consistency(2, &leaf, 1, &leaf, &[]);
    assert_eq!(refused, Err(BadProof::NotOlder { old: 2, new: 1 }));
    let refused = verify_consistency(0, &leaf, 1, &leaf, &[]);
    assert_eq!(refused, Err(BadProof::OldRoot { expected: leaf, found: EMPTY_ROOT }));
    let refused = verify_consistency(1, &leaf, 1, &EMPTY_ROOT, &[]);
    assert_eq!(refused, Err(BadProof::OldRoot { expected: leaf, found: EMPTY_ROOT }));
    let refused = verify_consistency(0, &EMPTY_ROOT, 0, &leaf, &[]);
    assert_eq!(refused, Err(BadProof::Root { expected: leaf, found: EMPTY_ROOT }));
    // The largest numbers there are do not overflow anything.
    assert!(verify_inclusion(&leaf, u64::MAX - 1, u64::MAX, &[], &leaf).is_err());
    assert!(verify_consistency(u64::MAX - 1, &leaf, u64::MAX, &leaf, &[]).is_err());
    assert!(verify_consistency(1 << 63, &leaf, u64::MAX, &leaf, &[leaf; 63]).is_err());
}

#[test]
fn a_proof_reads_only_the_tiles_it_names() {
    let size = 70_000;
    let stored = Stored::of(size);
    let only = |tiles: Vec<TileId>| {
        let stored = &stored;
        move |level, index| {
            let holding = TileId::holding(level, index, size).unwrap();
            assert!(tiles.contains(&holding), "{holding} was not announced");
            stored.reader(size)(level, index)
        }
    };
    for position in [0, 255, 256, 65_535, 65_536, 69_887, 69_888, 69_999] {
        let path = inclusion(position, size, only(inclusion_tiles(position, size))).unwrap();
        let root = root(size, only(root_tiles(size))).unwrap();
        assert_eq!(verify_inclusion(&nth(position), position, size, &path, &root), Ok(()));
        let old = position + 1;
        let path = consistency(old, size, only(consistency_tiles(old, size))).unwrap();
        let old_root = bpc_core::merkle::root(old, stored.reader(old)).unwrap();
        assert_eq!(verify_consistency(old, &old_root, size, &root, &path), Ok(()));
    }
    assert_eq!(inclusion_tiles(3, 3), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_tree_grown_in_batches_stores_what_a_tree_built_at_once_stores(
        batches in prop::collection::vec(0_u64..900, 1..6),
    ) {
        let mut stored = BTreeMap::new();
        let mut tree = Tree::new();
        for batch in batches {
            let before = tree.size();
            for Tile { id, bytes } in tree.extend((before..before + batch).map(nth)) {
                prop_assert_eq!(bytes.len(), id.len_bytes());
                stored.insert((id.level, id.index), bytes);
            }
            // Loading from what is stored leads to the same tree, and its root is the plain one.
            let read = |id: TileId| stored.get(&(id.level, id.index)).map(Vec::as_slice);
            let loaded = Tree::load(tree.size(), &tree.root(), read);
            prop_assert_eq!(loaded.as_ref(), Ok(&tree));
        }
        let all: Vec<_> = (0..tree.size()).map(nth).collect();
        prop_assert_eq!(tree.root(), naive_root(&all));
        let mut expected = BTreeMap::new();
        expected.extend(Stored::of(tree.size()).tiles);
        prop_assert_eq!(stored, expected);
    }
}

#[test]
fn a_tree_is_not_loaded_from_tiles_that_were_changed() {
    let mut tree = Tree::new();
    let tiles = tree.extend((0..600).map(nth));
    let (size, root) = (tree.size(), tree.root());
    let edge: BTreeMap<_, _> =
        tiles.into_iter().map(|tile| ((tile.id.level, tile.id.index), tile.bytes)).collect();
    let load = |edge: &BTreeMap<(u8, u64), Vec<u8>>| {
        Tree::load(size, &root, |id| edge.get(&(id.level, id.index)).map(Vec::as_slice))
    };
    assert_eq!(load(&edge).as_ref(), Ok(&tree));
    for id in TileId::partial(size) {
        let key = (id.level, id.index);
        let mut changed = edge.clone();
        changed.get_mut(&key).unwrap()[5] ^= 1;
        assert!(matches!(load(&changed), Err(BadEdge::Root { .. })));
        changed.get_mut(&key).unwrap().truncate(id.len_bytes() - 1);
        assert_eq!(load(&changed), Err(BadEdge::Short(id)));
        changed.remove(&key);
        assert_eq!(load(&changed), Err(BadEdge::Missing(id)));
    }
}

/// Leaves and tiles made by the definition, without the code under test.
struct Stored {
    leaves: Vec<Hash>,
    tiles: Vec<((u8, u64), Vec<u8>)>,
}

impl Stored {
    fn of(size: u64) -> Self {
        let leaves: Vec<_> = (0..size).map(nth).collect();
        let mut tiles = Vec::new();
        let mut hashes = leaves.clone();
        for level in 0.. {
            if hashes.is_empty() {
                break;
            }
            let bytes = |tile: &[Hash]| tile.iter().flat_map(|hash| hash.0).collect::<Vec<_>>();
            tiles.extend((0..).zip(hashes.chunks(256)).map(|(index, tile)| ((level, index), bytes(tile))));
            hashes = hashes.chunks_exact(256).map(naive_root).collect();
        }
        Stored { leaves, tiles }
    }

    /// Reads stored hashes, and fails the test on one that a tree of `size` does not have.
    fn reader(&self, size: u64) -> impl FnMut(u8, u64) -> Result<Hash, Infallible> + '_ {
        move |level, index| {
            assert!(index < tile::hashes_at(level, size), "level {level} has no hash {index}");
            let tile = self.tiles.binary_search_by_key(&(level, index / 256), |(at, _)| *at).unwrap();
            Ok(tile::hash_in(&self.tiles[tile].1, (index % 256) as usize).unwrap())
        }
    }
}

/// MTH of RFC 6962 2.1, by its words.
fn naive_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => EMPTY_ROOT,
        [leaf] => *leaf,
        _ => {
            let half = leaves.len().next_power_of_two() / 2;
            node_hash(&naive_root(&leaves[..half]), &naive_root(&leaves[half..]))
        }
    }
}

fn nth(position: u64) -> Hash {
    leaf_hash(&position.to_be_bytes())
}

/// The hashes with one byte of one of them changed, for every byte.
fn flips(hashes: &[Hash]) -> impl Iterator<Item = Vec<Hash>> {
    (0..hashes.len() * 32).map(move |at| {
        let mut flipped = hashes.to_vec();
        flipped[at / 32].0[at % 32] ^= 0x10;
        flipped
    })
}
