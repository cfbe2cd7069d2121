//! The facts of a snapshot, and the one rule about them.

use crate::facts::FactId;

/// A fact by name and hash.
pub type Item = FactId;

/// Two facts of one name that say different things.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the snapshot holds two versions of {} {}; keep one and take {} or {} out",
    .one.fact_type, .one.key, .one.payload_hash, .other.payload_hash
)]
pub struct SnapshotConflict {
    /// The one with the smaller hash.
    pub one: Item,
    /// Another.
    pub other: Item,
}

impl SnapshotConflict {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "SNAPSHOT_CONFLICT"
    }
}

/// The items in the order of proofs, each once. None at all is fine.
///
/// # Errors
///
/// All pairs of items that have one type and key and different payloads.
pub fn check_items(items: impl IntoIterator<Item = Item>) -> Result<Vec<Item>, Vec<SnapshotConflict>> {
    let mut items: Vec<Item> = items.into_iter().collect();
    items.sort_by(|a, b| (a.fact_type, &a.key, a.payload_hash).cmp(&(b.fact_type, &b.key, b.payload_hash)));
    items.dedup();
    let same_name = |pair: &&[Item]| (pair[0].fact_type, &pair[0].key) == (pair[1].fact_type, &pair[1].key);
    let conflict = |pair: &[Item]| SnapshotConflict { one: pair[0].clone(), other: pair[1].clone() };
    let conflicts: Vec<_> = items.windows(2).filter(same_name).map(conflict).collect();
    if conflicts.is_empty() { Ok(items) } else { Err(conflicts) }
}
