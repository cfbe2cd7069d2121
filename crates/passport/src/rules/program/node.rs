//! Nodes of expressions.

use crate::facts::FactType;
use crate::rules::source::Span;
use crate::rules::syntax::ast::CompKind;
use crate::rules::types::Type;
use crate::value::{Date, Decimal, Month, Unit};

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
