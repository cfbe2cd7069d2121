//! The right edge of a tree: all that is needed to add leaves and to know the root.

use super::{EMPTY_ROOT, node_hash};
use crate::chain::Hash;

/// A tree reduced to the roots of its complete subtrees, largest first: one per bit set in its size.
/// Adding a leaf costs one node hash on average, the root at most one per bit of the size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

impl Frontier {
    /// The tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// The edge of a tree of that size, from the roots of its complete subtrees, largest first.
    /// `None` unless there is one for each bit set in `size`.
    pub fn from_peaks(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Frontier { size, peaks })
    }

    /// Roots of the complete subtrees, largest first: what [`Frontier::from_peaks`] takes.
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// Number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Add one leaf.
    pub fn push(&mut self, leaf: Hash) {
        self.push_with(leaf, |_, _| {});
    }

    /// Add one leaf; `made` gets every complete subtree that this closes, as its height and root,
    /// beginning with the leaf itself at height 0.
    pub fn push_with(&mut self, leaf: Hash, made: impl FnMut(u32, &Hash)) {
        self.push_complete(0, leaf, made);
    }

    /// Add a complete subtree of so many levels above its leaves, as if its leaves were added one by one; `made` gets
    /// it and every larger subtree that this closes.
    ///
    /// # Panics
    ///
    /// If the leaves before it do not fill subtrees of this height.
    pub fn push_complete(&mut self, height: u32, root: Hash, mut made: impl FnMut(u32, &Hash)) {
        assert!(self.size.is_multiple_of(1 << height), "a subtree begins where one can");
        let mut hash = root;
        made(height, &hash);
        // As adding one to a binary number: each trailing 1 bit is a subtree that finds its partner.
        for height in height + 1..=height + (self.size >> height).trailing_ones() {
            let left = self.peaks.pop().expect("one peak for each bit set in the size");
            hash = node_hash(&left, &hash);
            made(height, &hash);
        }
        self.peaks.push(hash);
        self.size += 1 << height;
    }

    /// Root of the whole tree.
    pub fn root(&self) -> Hash {
        let smaller_to_larger = self.peaks.iter().rev().copied();
        smaller_to_larger.reduce(|right, left| node_hash(&left, &right)).unwrap_or(EMPTY_ROOT)
    }
}

impl Extend<Hash> for Frontier {
    fn extend<T: IntoIterator<Item = Hash>>(&mut self, leaves: T) {
        leaves.into_iter().for_each(|leaf| self.push(leaf));
    }
}
