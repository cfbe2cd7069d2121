//! The tree of a package as it was written, before anything is known about types.

use crate::rules::source::{Sources, Span};

pub mod tests;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A whole package: the header and the items of all its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The texts it was read from.
    pub sources: Sources,
    /// Its name.
    pub name: Name,
    /// Its version, `1.0.0`.
    pub version: Name,
    /// The first day it is meant for, `YYYY-MM-DD`.
    pub effective: Name,
    /// The last day it is meant for.
    pub until: Option<Name>,
    /// The highest data point number, from `datapoints 1..71;`.
    pub datapoints: Option<(i64, Span)>,
    /// Enumerations.
    pub enums: Vec<EnumItem>,
    /// Names for types.
    pub types: Vec<TypeItem>,
    /// Constants.
    pub consts: Vec<ConstItem>,
    /// Decision tables.
    pub tables: Vec<TableItem>,
    /// Definitions.
    pub defs: Vec<DefItem>,
    /// Rules.
    pub rules: Vec<RuleItem>,
    /// Emitted attributes.
    pub emits: Vec<EmitItem>,
    /// Tests.
    pub tests: tests::Tests,
}

/// `enum Obligation { M, C, O, x, N }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumItem {
    /// Its name.
    pub name: Name,
    /// Its values.
    pub tags: Vec<Name>,
}

/// `type Documents = List[Rec{title: Text, url: Text}];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeItem {
    /// Its name.
    pub name: Name,
    /// What it stands for.
    pub ty: Type,
}

/// `const limit: Qty[kWh] = 2 kWh;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstItem {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Its value, a literal.
    pub value: Expr,
}

/// `table min_share(metal: .., phase: ..) -> Qty[pct] { cobalt, 1 => 16; .. }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableItem {
    /// Its name.
    pub name: Name,
    /// Its columns.
    pub params: Vec<Param>,
    /// What a row says.
    pub result: Type,
    /// Its rows.
    pub rows: Vec<Row>,
    /// `otherwise => value;`, for all that no row matches.
    pub otherwise: Option<Expr>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// One for each column.
    pub cells: Vec<Cell>,
    /// What follows.
    pub value: Expr,
    /// All of the row.
    pub span: Span,
}

/// Alternatives of one column: `ev | lmt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Any of these.
    pub alternatives: Vec<CellTest>,
    /// Where.
    pub span: Span,
}

/// One alternative of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellTest {
    /// `_`
    Any,
    /// A literal or a tag.
    Is(Expr),
    /// `1..15`, both ends included.
    Within(Expr, Expr),
    /// `< 2 kWh`, `>= 2031-08-18`.
    Compare(Op, Expr),
}

/// `def energy(b: Battery) -> Qty[kWh] = ..;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefItem {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it gives.
    pub result: Type,
    /// How.
    pub body: Expr,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// How much a rule matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A passport that fails it does not compile.
    Must,
    /// A passport that fails it says so.
    Should,
    /// For information.
    Info,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleItem {
    /// `VOLT.ORDER`
    pub id: Name,
    /// How much it matters.
    pub severity: Severity,
    /// The law it follows from.
    pub cites: Vec<String>,
    /// Annex XIII point.
    pub point: Option<u8>,
    /// The facts it is about.
    pub bindings: Vec<Binding>,
    /// The first day it holds.
    pub from: Option<Name>,
    /// When it applies.
    pub filter: Option<Expr>,
    /// When it does not, and by which law.
    pub unless: Option<(Expr, Vec<String>)>,
    /// Names for steps on the way.
    pub lets: Vec<Let>,
    /// What must be so.
    pub check: Expr,
    /// What it means when it is not.
    pub otherwise: Option<Otherwise>,
    /// All of it.
    pub span: Span,
}

/// `b: Battery`, `d: Opt[DueDiligence]`, `ms: List[Material] by (sku(b))`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The variable.
    pub name: Name,
    /// One for each, the one that may be, or all.
    pub many: Many,
    /// The type of fact.
    pub fact: Name,
    /// The first segment of the facts' keys.
    pub by: Option<Expr>,
}

/// How many facts a binding stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Many {
    /// The rule is checked for each.
    Each,
    /// The only one, if there is one.
    Opt,
    /// All of them.
    List,
}

/// `let e = ..;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Let {
    /// Its name.
    pub name: Name,
    /// Its type, if written.
    pub ty: Option<Type>,
    /// Its value.
    pub value: Expr,
}

/// `else E_MISSING "mandatory data point absent"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otherwise {
    /// A code or a verdict.
    pub word: Name,
    /// A sentence for people.
    pub message: String,
}

/// `emit /battery/category: Battery.category dp 6 point 1 = product.category;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmitItem {
    /// Where in the payload.
    pub pointer: Name,
    /// Its type.
    pub ty: Type,
    /// Number of the data point.
    pub dp: (i64, Span),
    /// Annex XIII point.
    pub point: u8,
    /// From when it is displayed.
    pub from: Option<From>,
    /// Its value.
    pub value: Expr,
    /// All of it.
    pub span: Span,
}

/// From when an attribute is displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// From this day.
    Date(Name),
    /// No act has set a day yet.
    Undated(Span),
}

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Which.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// Kinds of types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `Bool`, `Date`, `Battery`, `Obligation`.
    Name(String),
    /// `Battery.category`: the type of that field.
    Field(Name, Name),
    /// `Qty[kWh]`
    Qty(Name),
    /// `Int[0..2]`
    Range(i64, i64),
    /// `Opt[..]`
    Opt(Box<Type>),
    /// `List[..]`
    List(Box<Type>),
    /// `Fact[..]`
    Fact(Name),
    /// `Rec{name: Text, ..}`
    Rec(Vec<Param>),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// `16`, `0.05`
    Number(String),
    /// `2 kWh`
    Qty(String, Name),
    /// `2027-02-18`
    Date(String),
    /// `2027-02`
    Month(String),
    /// `"text"`
    Text(String),
    /// `true`, `false`
    Bool(bool),
    /// `none`
    None,
    /// A variable, constant or tag.
    Name(String),
    /// `PCF.STAGE_SUM`, as an argument of `verdict`.
    Rule(String),
    /// `/battery/category`, as an argument of `payload`.
    Pointer(String),
    /// `b.category`, `Obligation.M`
    Field(Box<Expr>, Name),
    /// `energy(b)`
    Call(Name, Vec<Expr>),
    /// `not x`
    Not(Box<Expr>),
    /// `-x`
    Minus(Box<Expr>),
    /// `need x`
    Need(Box<Expr>),
    /// `5 pct of x`
    PctOf(String, Box<Expr>),
    /// `a < b`
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `if a then b else c`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `match x { some(y) => .., none => .. }`
    Match(Box<Expr>, Vec<Arm>),
    /// `[a, b]` or `{a, b}`
    List(Vec<Expr>),
    /// `{name: a, place: b}`
    Record(Vec<(Name, Expr)>),
    /// `all(m in ms where .. : ..)`
    Comp(Box<Comp>),
}

/// Operators with two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is spelled in `as_str`")]
pub enum Op {
    Or,
    Implies,
    And,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    Plus,
    Minus,
    Times,
}

/// An arm of a `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Any of these.
    pub patterns: Vec<Pattern>,
    /// What follows.
    pub body: Expr,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Which.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// Kinds of patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// `some(x)`
    Some(Name),
    /// `none`
    None,
    /// A tag of an enumeration.
    Tag(String),
    /// `_`
    Any,
}

/// A comprehension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comp {
    /// What is made of the elements.
    pub kind: CompKind,
    /// The element's name.
    pub var: Name,
    /// Where elements come from.
    pub source: Expr,
    /// Which of them.
    pub filter: Option<Expr>,
    /// What of each.
    pub body: Option<Expr>,
}

/// What a comprehension makes of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompKind {
    /// Whether it holds for all.
    All,
    /// Whether it holds for one.
    Any,
    /// Their sum.
    Sum,
    /// How many.
    Count,
    /// The least, if there are any.
    Min,
    /// The greatest, if there are any.
    Max,
    /// All of them.
    List,
    /// The first, if there is one.
    First,
}

impl Op {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Op::Or => "or",
            Op::Implies => "implies",
            Op::And => "and",
            Op::Equal => "==",
            Op::NotEqual => "!=",
            Op::Less => "<",
            Op::AtMost => "<=",
            Op::Greater => ">",
            Op::AtLeast => ">=",
            Op::In => "in",
            Op::Plus => "+",
            Op::Minus => "-",
            Op::Times => "*",
        }
    }
}

impl CompKind {
    /// The comprehension of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "all" => CompKind::All,
            "any" => CompKind::Any,
            "sum" => CompKind::Sum,
            "count" => CompKind::Count,
            "min" => CompKind::Min,
            "max" => CompKind::Max,
            "list" => CompKind::List,
            "first" => CompKind::First,
            _ => return None,
        })
    }

    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            CompKind::All => "all",
            CompKind::Any => "any",
            CompKind::Sum => "sum",
            CompKind::Count => "count",
            CompKind::Min => "min",
            CompKind::Max => "max",
            CompKind::List => "list",
            CompKind::First => "first",
        }
    }
}

impl Severity {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Must => "must",
            Severity::Should => "should",
            Severity::Info => "info",
        }
    }
}
