//! The hashes that stand for facts and hidden values in traces.

use std::collections::HashMap;

use bpc_core::Hash;

use crate::facts::{Fact, FactId};
use crate::proof::{Leaf, SaltKey, Tag, fact_leaves};
use crate::rules::Leaves;
use crate::snapshot::SealedSnapshot;

/// The leaves of a snapshot's facts.
pub(super) struct SnapshotLeaves<'a> {
    key: &'a SaltKey,
    facts: &'a [Fact],
    leaves: Vec<Leaf>,
}

impl<'a> SnapshotLeaves<'a> {
    pub(super) fn new(snapshot: &'a SealedSnapshot) -> Self {
        let ids: Vec<FactId> = snapshot.facts().iter().map(Fact::id).collect();
        let leaves = fact_leaves(snapshot.salt_key(), &ids);
        Self { key: snapshot.salt_key(), facts: snapshot.facts(), leaves }
    }

    /// Which fact a hash stands for.
    pub(super) fn facts_by_hash(&self) -> HashMap<Hash, &'a Fact> {
        self.leaves.iter().map(|leaf| leaf.hash).zip(self.facts).collect()
    }

    pub(super) fn into_leaves(self) -> Vec<Leaf> {
        self.leaves
    }
}

impl Leaves for SnapshotLeaves<'_> {
    fn fact(&self, fact: &Fact) -> Hash {
        // Snapshots keep their facts in the order of the leaves.
        let wanted = (fact.fact_type().name(), fact.key());
        let place = self.facts.binary_search_by(|other| (other.fact_type().name(), other.key()).cmp(&wanted));
        place.map_or_else(
            |_| unreachable!("the evaluation was given the facts of this snapshot"),
            |place| self.leaves[place].hash,
        )
    }

    fn value(&self, fact: &Fact, field: &str, json: &str) -> Hash {
        let hash = fact.payload_hash().to_string();
        let salt = self.key.salt(Tag::Value, &[fact.fact_type().name(), fact.key(), &hash, field]);
        Leaf::hash(Tag::Value, &salt, json.as_bytes())
    }
}
