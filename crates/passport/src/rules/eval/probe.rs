//! Somebody who watches an evaluation: which branches it takes, and what it compares.

use crate::rules::program::{Lit, NodeId};
use crate::rules::verdict::Verdict;

/// Somebody who watches. The usual one looks away and costs nothing.
pub trait Probe {
    /// A node is about to be evaluated.
    fn evaluated(&mut self, _node: NodeId) {}

    /// A node was evaluated and took one of its ways. For conditions 0 is false and 1 true; for
    /// matches it is the arm; for tables the row.
    fn branch(&mut self, _node: NodeId, _way: u32) {}

    /// Two values were compared.
    fn compared(&mut self, _node: NodeId, _left: &dyn Fn() -> Option<Lit>, _right: &dyn Fn() -> Option<Lit>) {
    }

    /// A rule came to a verdict for one choice of facts.
    fn verdict(&mut self, _rule: usize, _verdict: Verdict) {}
}

/// Looks away.
pub struct NoProbe;

impl Probe for NoProbe {}
