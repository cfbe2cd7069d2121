//! Facts, sorted as proofs sort them and found by type.

use std::cmp::Ordering;

use crate::facts::{Fact, FactType, FieldType, Value as FactValue};
use crate::rules::limits::facts_max;

use super::EvalError;

/// The facts of an evaluation.
pub(super) struct Indexed<'a> {
    /// All facts, sorted by type, key and hash.
    pub(super) facts: Vec<&'a Fact>,
    /// For each type, the facts that belong to the product or to no product.
    by_type: Vec<Vec<u32>>,
    /// The product itself.
    pub(super) product: Option<u32>,
}

impl<'a> Indexed<'a> {
    pub(super) fn new(facts: &'a [Fact], product: &str) -> Result<Self, EvalError> {
        let mut facts: Vec<&Fact> = facts.iter().collect();
        if !facts.is_sorted_by(|left, right| by_name(left, right).is_le()) {
            facts.sort_by(|left, right| by_name(left, right));
        }
        for pair in facts.windows(2) {
            if pair[0].fact_type() == pair[1].fact_type() && pair[0].key() == pair[1].key() {
                let key = pair[0].key().to_owned();
                return Err(EvalError::Conflict { fact_type: pair[0].fact_type(), key });
            }
        }
        let mut by_type = vec![Vec::new(); FactType::ALL.len()];
        for (index, fact) in facts.iter().enumerate() {
            if fact.sku().is_none_or(|of| of == product) {
                by_type[fact.fact_type() as usize].push(index as u32);
            }
        }
        for fact_type in FactType::ALL {
            let (count, max) = (by_type[*fact_type as usize].len(), facts_max(*fact_type));
            if count as u64 > max {
                return Err(EvalError::TooManyFacts { fact_type: *fact_type, count, max });
            }
        }
        let product = by_type[FactType::Battery as usize].first().copied();
        Ok(Self { facts, by_type, product })
    }

    pub(super) fn of_type(&self, fact_type: FactType) -> &[u32] {
        &self.by_type[fact_type as usize]
    }

    /// Facts whose key begins with this segment.
    pub(super) fn by_segment(&self, fact_type: FactType, segment: &str) -> Vec<u32> {
        let of_type = self.of_type(fact_type).iter().copied();
        of_type.filter(|index| first_segment(self.facts[*index as usize]) == segment).collect()
    }
}

/// What a key begins with, behind its prefix: the SKU, where the type has one.
pub(super) fn first_segment(fact: &Fact) -> &str {
    fact.segments().first().map_or("", String::as_str)
}

fn by_name(left: &Fact, right: &Fact) -> Ordering {
    let name = |fact: &Fact| fact.fact_type().name();
    name(left)
        .cmp(name(right))
        .then_with(|| left.key().cmp(right.key()))
        .then_with(|| left.payload_hash().cmp(&right.payload_hash()))
}

/// The place of a field among the fields of its type, its type and its value.
pub(super) fn field<'a>(
    fact: &'a Fact,
    name: &str,
) -> Option<(usize, &'static FieldType, Option<&'a FactValue>)> {
    let fields = fact.fact_type().schema().fields;
    let at = fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
    Some((at, &fields[at].field_type, fact.field(name)))
}
