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

/// Two who watch one evaluation.
pub(in crate::rules) struct Both<'p, A, B>(pub(in crate::rules) &'p mut A, pub(in crate::rules) &'p mut B);

impl<A: Probe, B: Probe> Probe for Both<'_, A, B> {
    fn evaluated(&mut self, node: NodeId) {
        self.0.evaluated(node);
        self.1.evaluated(node);
    }

    fn branch(&mut self, node: NodeId, way: u32) {
        self.0.branch(node, way);
        self.1.branch(node, way);
    }

    fn compared(&mut self, node: NodeId, left: &dyn Fn() -> Option<Lit>, right: &dyn Fn() -> Option<Lit>) {
        self.0.compared(node, left, right);
        self.1.compared(node, left, right);
    }

    fn verdict(&mut self, rule: usize, verdict: Verdict) {
        self.0.verdict(rule, verdict);
        self.1.verdict(rule, verdict);
    }
}

/// Looks away.
pub struct NoProbe;

impl Probe for NoProbe {}
