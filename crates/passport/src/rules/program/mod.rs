//! A checked package, ready to run: one arena of typed nodes, and what hangs on it.
//!
//! Everything implicit in the text is explicit here: conversions of units, values known to be
//! present, literals of their final type. Two packages with equal programs behave alike.

mod items;
mod node;
mod table;

use std::collections::BTreeSet;

use crate::value::Date;

use super::types::Enums;

pub use items::{Bind, Const, Def, Emit, Otherwise, Rule, Shown, Step};
pub use node::{Arith, Compare, Lit, Logic, Node, NodeId, Op, Slot};
pub use table::{CellTest, Table, TableColumn, TableRow};

/// A checked package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The first day it is meant for.
    pub effective: Date,
    /// The last day it is meant for.
    pub until: Option<Date>,
    /// The highest data point.
    pub datapoints: i64,
    /// Enumerations.
    pub enums: Enums,
    /// All nodes of all expressions.
    pub nodes: Vec<Node>,
    /// Constants.
    pub consts: Vec<Const>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Definitions.
    pub defs: Vec<Def>,
    /// Rules, sorted by id.
    pub rules: Vec<Rule>,
    /// Emitted attributes, sorted by pointer.
    pub emits: Vec<Emit>,
    /// The order in which rules and attributes are evaluated.
    pub order: Vec<Step>,
    /// For each step of the order, the steps it asks about directly.
    pub needs: Vec<Vec<Step>>,
}

impl Program {
    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The rule of this name.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// The attribute of a data point.
    pub fn emit_of(&self, dp: i64) -> Option<usize> {
        self.emits.iter().position(|emit| emit.dp == dp)
    }

    /// These steps and all that they ask about, in the order of evaluation.
    pub fn with_needs(&self, wanted: impl IntoIterator<Item = Step>) -> Vec<Step> {
        let mut all: BTreeSet<Step> = wanted.into_iter().collect();
        // What a step asks about comes before it, so one pass from the end finds everything.
        for (step, needs) in self.order.iter().zip(&self.needs).rev() {
            if all.contains(step) {
                all.extend(needs);
            }
        }
        self.order.iter().copied().filter(|step| all.contains(step)).collect()
    }

    /// The expressions of a step.
    pub fn roots(&self, step: Step) -> Vec<NodeId> {
        match step {
            Step::Rule(rule) => self.rules[rule].roots().collect(),
            Step::Emit(emit) => vec![self.emits[emit].value],
        }
    }

    /// Calls `visit` with each node under `root`, definitions included, each once, parents first.
    pub fn walk(&self, root: NodeId, visit: &mut impl FnMut(NodeId, &Node)) {
        let mut seen = vec![false; self.nodes.len()];
        let mut waiting = vec![root];
        while let Some(id) = waiting.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            let node = self.node(id);
            visit(id, node);
            node.op.children(&mut |child| waiting.push(child));
            if let Op::Call(def, _) = node.op {
                waiting.push(self.defs[def].body);
            }
        }
    }
}
