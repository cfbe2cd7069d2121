//! Constants, definitions, rules and attributes.

use crate::facts::FactType;
use crate::rules::source::Span;
use crate::rules::syntax::ast::{Many, Severity};
use crate::rules::types::Type;
use crate::rules::verdict::Verdict;
use crate::value::Date;

use super::node::{Lit, NodeId, Slot};

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Const {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value.
    pub value: Lit,
    /// Where the value is written.
    pub span: Span,
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Def {
    /// Its name.
    pub name: String,
    /// Its parameters, in the first slots.
    pub params: Vec<(String, Type)>,
    /// What it gives.
    pub result: Type,
    /// How.
    pub body: NodeId,
    /// How many variables it has.
    pub slots: u32,
    /// Where its name is written.
    pub span: Span,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// The law it follows from.
    pub cites: Vec<String>,
    /// Annex XIII point.
    pub point: Option<u8>,
    /// The facts it is about.
    pub bindings: Vec<Bind>,
    /// The first day it holds.
    pub from: Option<(Date, Span)>,
    /// When it applies.
    pub filter: Option<NodeId>,
    /// When it does not.
    pub unless: Option<NodeId>,
    /// By which law it does not.
    pub unless_cites: Vec<String>,
    /// Steps on the way.
    pub lets: Vec<(Slot, NodeId)>,
    /// What must be so.
    pub check: NodeId,
    /// What it means when it is not.
    pub otherwise: Otherwise,
    /// How many variables it has.
    pub slots: u32,
    /// Pointers it reads.
    pub reads: Vec<String>,
    /// The most it can cost.
    pub cost_max: u64,
    /// Verdicts it can come to.
    pub possible: Vec<Verdict>,
    /// Where its name is written.
    pub span: Span,
}

/// What a check that does not hold means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otherwise {
    /// The verdict.
    pub verdict: Verdict,
    /// Its code.
    pub code: Option<String>,
    /// A sentence.
    pub message: Option<String>,
}

/// The facts a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// The variable.
    pub slot: Slot,
    /// Its name.
    pub name: String,
    /// The type of fact.
    pub fact: FactType,
    /// Each of them, the one that may be, or all.
    pub many: Many,
    /// The first segment of their keys.
    pub by: Option<NodeId>,
}

/// An emitted attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emit {
    /// Where in the payload.
    pub pointer: String,
    /// Its type, never `Opt`.
    pub ty: Type,
    /// Number of the data point.
    pub dp: i64,
    /// Annex XIII point.
    pub point: u8,
    /// From when it is displayed.
    pub shown: Shown,
    /// Its value, an `Opt`.
    pub value: NodeId,
    /// How many variables it has.
    pub slots: u32,
    /// The most it can cost.
    pub cost_max: u64,
    /// Where its pointer is written.
    pub span: Span,
}

/// From when an attribute is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Always.
    Always,
    /// From a day, written there.
    From(Date, Span),
    /// No act has set a day yet.
    Undated,
}

/// One step of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Index of a rule.
    Rule(usize),
    /// Index of an attribute.
    Emit(usize),
}

impl Rule {
    /// The expressions of the rule, in the order they are evaluated.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> + '_ {
        let bys = self.bindings.iter().filter_map(|bind| bind.by);
        let lets = self.lets.iter().map(|(_, node)| *node);
        bys.chain(self.filter).chain(self.unless).chain(lets).chain([self.check])
    }
}
