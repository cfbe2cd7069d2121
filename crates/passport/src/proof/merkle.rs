//! Roots and audit paths over a list of leaf hashes, as RFC 9162 defines them: split at the largest
//! power of two below the count, nothing duplicated.

use bpc_core::Hash;

use crate::hash::sha256;

/// The root over these leaves; `SHA-256("")` over none.
#[must_use]
pub fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => sha256(&[]),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(left_count(leaves.len()));
            node(&root(left), &root(right))
        }
    }
}

/// What must be hashed with the leaf at `index`, from the leaf up, to get the root. `None` if there
/// is no such leaf.
#[must_use]
pub fn audit_path(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    if index >= leaves.len() {
        return None;
    }
    let (mut path, mut within, mut index) = (Vec::new(), leaves, index);
    while within.len() > 1 {
        let (left, right) = within.split_at(left_count(within.len()));
        if index < left.len() {
            path.push(root(right));
            within = left;
        } else {
            path.push(root(left));
            index -= left.len();
            within = right;
        }
    }
    path.reverse();
    Some(path)
}

/// The root of `count` leaves of which the one at `index` is `leaf`, if `path` leads there. `None`
/// if a path of this length cannot.
#[must_use]
pub fn path_root(leaf: Hash, index: usize, count: usize, path: &[Hash]) -> Option<Hash> {
    match path.split_last() {
        _ if index >= count => None,
        None => (count == 1).then_some(leaf),
        Some(_) if count == 1 => None,
        Some((last, rest)) => {
            let left = left_count(count);
            if index < left {
                Some(node(&path_root(leaf, index, left, rest)?, last))
            } else {
                Some(node(last, &path_root(leaf, index - left, count - left, rest)?))
            }
        }
    }
}

fn node(left: &Hash, right: &Hash) -> Hash {
    sha256(&[&[1], &left.0, &right.0])
}

/// The largest power of two below the count, which is at least 2.
fn left_count(count: usize) -> usize {
    1 << (count - 1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_leads_to_the_root_and_no_other_does() {
        for count in 1..40 {
            let leaves: Vec<Hash> = (0..count as u8).map(|number| sha256(&[&[number]])).collect();
            let root = root(&leaves);
            for index in 0..count {
                let path = audit_path(&leaves, index).expect("a path");
                assert_eq!(path_root(leaves[index], index, count, &path), Some(root));
                assert_ne!(path_root(sha256(&[b"other"]), index, count, &path), Some(root));
                assert_eq!(path_root(leaves[index], index, count, &[&path[..], &[root]].concat()), None);
                if let Some((_, shorter)) = path.split_last() {
                    assert_eq!(path_root(leaves[index], index, count, shorter), None);
                }
            }
            assert_eq!(audit_path(&leaves, count), None);
            assert_eq!(path_root(root, count, count, &[]), None);
        }
    }
}
