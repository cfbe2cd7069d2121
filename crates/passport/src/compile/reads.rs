//! What a rule read, so that its result is shown only to those who may see all of it.

use std::collections::{BTreeSet, HashMap};

use bpc_core::Hash;

use crate::facts::{Access, Fact};
use crate::rules::eval::{NodeKind, Trace, TraceValue};

const ALL: [Access; 5] =
    [Access::Internal, Access::Public, Access::Restricted, Access::Authority, Access::Interest];

/// The accesses of all fields that each step of a trace rests on. Steps rest on earlier ones only, so one
/// look at each is enough; walking down from every rule anew was a tenth of compiling.
pub(super) struct Reads(Vec<u8>);

impl Reads {
    pub(super) fn new(trace: &Trace, facts: &HashMap<Hash, &Fact>) -> Self {
        let mut reads: Vec<u8> = Vec::with_capacity(trace.len());
        // Steps that stand for a fact, in the order of the trace.
        let mut found: Vec<(u32, &Fact)> = Vec::with_capacity(facts.len());
        for (index, node) in trace.nodes().enumerate() {
            let mut bits = node.children.iter().fold(0, |bits, child| bits | reads[*child as usize]);
            match (node.kind, node.value) {
                (NodeKind::Fact, TraceValue::Hidden(hash)) => {
                    found.extend(facts.get(&hash).map(|fact| (index as u32, *fact)));
                }
                (NodeKind::Field, _) => {
                    let of = node.children.first();
                    let of = of.and_then(|of| found.binary_search_by_key(of, |(index, _)| *index).ok());
                    // A field of no known fact would be a fault of the evaluator; nobody is shown it.
                    bits |= bit(of.map_or(Access::Internal, |at| found[at].1.access(node.name)));
                }
                _ => {}
            }
            reads.push(bits);
        }
        Self(reads)
    }

    /// The accesses of all fields that a step rests on.
    pub(super) fn of(&self, step: u32) -> BTreeSet<Access> {
        let bits = self.0[step as usize];
        ALL.into_iter().filter(|access| bits & bit(*access) != 0).collect()
    }
}

fn bit(access: Access) -> u8 {
    1 << number(access)
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
    ALL.into_iter().find(|access| self::number(*access).to_string() == number)
}
