//! A checked package, ready to run: one arena of typed nodes, and what hangs on it.
//!
//! Everything implicit in the text is explicit here: conversions of units, values known to be
//! present, literals of their final type. Two packages with equal programs behave alike.

use crate::facts::FactType;
use crate::value::{Date, Decimal, Month, Unit};

use super::source::Span;
use super::syntax::ast::{CompKind, Many, Severity};
use super::types::{Enums, Type};
use super::verdict::Verdict;

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
}

/// A node of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// What it gives.
    pub ty: Type,
    /// Where it is written.
    pub span: Span,
}

/// Which node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Which variable of a rule, definition or attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A literal.
    Lit(Lit),
    /// A constant.
    Const(usize),
    /// A variable.
    Local(Slot),
    /// The battery the passport is for.
    Product,
    /// The day of evaluation.
    AsOf,
    /// The build that evaluates.
    BuildId,
    /// The numbers of all data points.
    Datapoints,
    /// All facts of a type that belong to the product, or to no product.
    Facts(FactType),
    /// The fact whose key begins with this.
    FactBy(FactType, NodeId),
    /// A field of a fact or a part of a record.
    Field(NodeId, String),
    /// A value that must be there. The text describes it to people when it is not.
    Need(NodeId, String),
    /// A value of `T` where `Opt[T]` is wanted.
    Some(NodeId),
    /// An integer where a decimal is wanted.
    ToDec(NodeId),
    /// The same amount in another unit.
    Convert(NodeId, Unit, Unit),
    /// `not`
    Not(NodeId),
    /// `-`
    Neg(NodeId),
    /// Without its sign.
    Abs(NodeId),
    /// `and`, `or`, `implies`
    Logic(Logic, NodeId, NodeId),
    /// A comparison of two values of one type.
    Compare(Compare, NodeId, NodeId),
    /// Whether a list has it.
    In(NodeId, NodeId),
    /// `+`, `-`, `*` of two numbers of one type.
    Arith(Arith, NodeId, NodeId),
    /// The quotient rounded half to even at so many decimals.
    Div(NodeId, NodeId, u8),
    /// The quotient in percent, rounded half to even at 18 decimals.
    Ratio(NodeId, NodeId),
    /// So many percent of it.
    PctOf(Decimal, NodeId),
    /// `if`
    If(NodeId, NodeId, NodeId),
    /// `match` of an `Opt`: slot and body for something, body for nothing.
    MatchOpt(NodeId, Slot, NodeId, NodeId),
    /// `match` of an enumeration: the arm for each tag, and the arms.
    MatchTag(NodeId, Vec<u16>, Vec<NodeId>),
    /// `[..]`
    List(Vec<NodeId>),
    /// `{..}`, in the order of the type's fields.
    Record(Vec<NodeId>),
    /// A comprehension.
    Comp {
        /// What is made of the elements.
        kind: CompKind,
        /// The element.
        slot: Slot,
        /// Where they come from.
        source: NodeId,
        /// Which of them.
        filter: Option<NodeId>,
        /// What of each.
        body: Option<NodeId>,
    },
    /// A definition.
    Call(usize, Vec<NodeId>),
    /// A table.
    Table(usize, Vec<NodeId>),
    /// Whether something is there.
    Present(NodeId, String),
    /// Whether the data point of this number has a value.
    HasValue(NodeId),
    /// Whether the data point of this number is displayed.
    Emitted(NodeId),
    /// The value of an emitted attribute.
    Payload(usize),
    /// The verdict of a rule.
    VerdictOf(usize),
    /// The first segment of a fact's key.
    Sku(NodeId),
    /// A fact's key.
    Key(NodeId),
    /// Whether a list has all elements of another.
    ContainsAll(NodeId, NodeId),
    /// The month of a day.
    MonthOf(NodeId),
}

/// Truth in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Logic {
    And,
    Or,
    Implies,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// Calculations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arith {
    Plus,
    Minus,
    Times,
}

/// A literal. Numbers with a unit are decimals here; the type knows the unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Lit {
    Bool(bool),
    Int(i64),
    Dec(Decimal),
    Date(Date),
    Month(Month),
    Text(String),
    Tag(u16),
    None,
}

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

/// A decision table. Its rows cover all arguments, and none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub params: Vec<(String, Type)>,
    /// What a row says.
    pub result: Type,
    /// Its rows.
    pub rows: Vec<TableRow>,
    /// For arguments that no row matches.
    pub otherwise: Option<(Lit, Span)>,
    /// How arguments are sorted into cells, one for each column.
    pub columns: Vec<TableColumn>,
    /// The row for each combination of cells; the last column varies fastest. One past the last
    /// row is `otherwise`.
    pub cells: Vec<u32>,
    /// Where its name is written.
    pub span: Span,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// For each column, alternatives.
    pub tests: Vec<Vec<CellTest>>,
    /// What follows.
    pub value: Lit,
    /// Where the value is written.
    pub value_span: Span,
    /// Where the row is written.
    pub span: Span,
}

/// One alternative of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellTest {
    /// Matches all.
    Any,
    /// Matches one value.
    Is(Lit),
    /// Matches from the first to the second, both included.
    Within(Lit, Lit),
    /// Matches what compares so.
    Compare(Compare, Lit),
}

/// How the arguments of a column are sorted into cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableColumn {
    /// `false`, `true`.
    Bool,
    /// One cell for each tag, so many.
    Tags(u16),
    /// One cell for each integer, from the first to the second.
    Integers(i64, i64),
    /// Sorted bounds: cells are before the first, the first, between it and the second, and so on.
    Bounds(Vec<Lit>),
    /// One cell for each text, and one for all others.
    Texts(Vec<String>),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Index of a rule.
    Rule(usize),
    /// Index of an attribute.
    Emit(usize),
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

impl Rule {
    /// The expressions of the rule, in the order they are evaluated.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> + '_ {
        let bys = self.bindings.iter().filter_map(|bind| bind.by);
        let lets = self.lets.iter().map(|(_, node)| *node);
        bys.chain(self.filter).chain(self.unless).chain(lets).chain([self.check])
    }
}

impl Op {
    /// Calls `visit` with each node directly under this one, in order.
    pub fn children(&self, visit: &mut impl FnMut(NodeId)) {
        match self {
            Op::Lit(_)
            | Op::Const(_)
            | Op::Local(_)
            | Op::Product
            | Op::AsOf
            | Op::BuildId
            | Op::Datapoints
            | Op::Facts(_)
            | Op::Payload(_)
            | Op::VerdictOf(_) => {}
            Op::FactBy(_, a)
            | Op::Field(a, _)
            | Op::Need(a, _)
            | Op::Some(a)
            | Op::ToDec(a)
            | Op::Convert(a, ..)
            | Op::Not(a)
            | Op::Neg(a)
            | Op::Abs(a)
            | Op::PctOf(_, a)
            | Op::Present(a, _)
            | Op::HasValue(a)
            | Op::Emitted(a)
            | Op::Sku(a)
            | Op::Key(a)
            | Op::MonthOf(a) => visit(*a),
            Op::Logic(_, a, b)
            | Op::Compare(_, a, b)
            | Op::In(a, b)
            | Op::Arith(_, a, b)
            | Op::Div(a, b, _)
            | Op::Ratio(a, b)
            | Op::ContainsAll(a, b) => {
                visit(*a);
                visit(*b);
            }
            Op::If(a, b, c) | Op::MatchOpt(a, _, b, c) => {
                visit(*a);
                visit(*b);
                visit(*c);
            }
            Op::MatchTag(a, _, arms) => {
                visit(*a);
                arms.iter().copied().for_each(visit);
            }
            Op::List(all) | Op::Record(all) | Op::Call(_, all) | Op::Table(_, all) => {
                all.iter().copied().for_each(visit);
            }
            Op::Comp { source, filter, body, .. } => {
                visit(*source);
                filter.iter().chain(body).copied().for_each(visit);
            }
        }
    }
}

impl Compare {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Compare::Equal => "==",
            Compare::NotEqual => "!=",
            Compare::Less => "<",
            Compare::AtMost => "<=",
            Compare::Greater => ">",
            Compare::AtLeast => ">=",
        }
    }

    /// Whether it holds of two values in this order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Compare::Equal => order.is_eq(),
            Compare::NotEqual => order.is_ne(),
            Compare::Less => order.is_lt(),
            Compare::AtMost => order.is_le(),
            Compare::Greater => order.is_gt(),
            Compare::AtLeast => order.is_ge(),
        }
    }
}

impl Logic {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Logic::And => "and",
            Logic::Or => "or",
            Logic::Implies => "implies",
        }
    }
}

impl Arith {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Arith::Plus => "+",
            Arith::Minus => "-",
            Arith::Times => "*",
        }
    }
}
