//! What a rule read, so that its result is shown only to those who may see all of it.

use std::collections::{BTreeSet, HashMap};

use bpc_core::Hash;

use crate::facts::{Access, Fact};
use crate::rules::eval::{NodeKind, Trace, TraceValue};

/// The accesses of all fields that a step rests on.
pub(super) fn reads(trace: &Trace, step: u32, facts: &HashMap<Hash, &Fact>) -> BTreeSet<Access> {
    let fields = trace.under(step).into_iter().map(|index| trace.node(index));
    let fields = fields.filter(|node| node.kind == NodeKind::Field);
    fields
        .map(|node| {
            let fact = node.children.first().and_then(|fact| match trace.node(*fact).value {
                TraceValue::Hidden(hash) => facts.get(&hash),
                _ => None,
            });
            // A field of no known fact would be a fault of the evaluator; nobody is shown it.
            fact.map_or(Access::Internal, |fact| fact.access(node.name))
        })
        .collect()
}

/// The number of an access in the proof document.
pub(super) fn number(access: Access) -> u64 {
    match access {
        Access::Internal => 0,
        Access::Public => 1,
        Access::Restricted => 2,
        Access::Authority => 3,
        Access::Interest => 4,
    }
}

/// The access of a number.
pub(super) fn access(number: &str) -> Option<Access> {
    [Access::Internal, Access::Public, Access::Restricted, Access::Authority, Access::Interest]
        .into_iter()
        .find(|access| self::number(*access).to_string() == number)
}
