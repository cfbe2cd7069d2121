//! The tests of a package as they were written.

use crate::rules::source::Span;

use super::{Expr, Name, Type};

/// All tests of a package, each kind in the order it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Facts that other tests start from.
    pub fixtures: Vec<Fixture>,
    /// Single cases.
    pub examples: Vec<Example>,
    /// Many cases in rows.
    pub tables: Vec<TableTest>,
    /// What holds for generated values.
    pub properties: Vec<Property>,
    /// Changes that must not matter.
    pub metamorphics: Vec<Metamorphic>,
    /// Whole passports with known hashes.
    pub goldens: Vec<Golden>,
}

/// `fixture ev_car using base { .. }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// Its name.
    pub name: Name,
    /// The fixture it starts from.
    pub using: Option<Name>,
    /// What it adds and changes.
    pub steps: Vec<Step>,
}

/// One line of a fixture or an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `product "SKU-1";`
    Product(String, Span),
    /// `as_of 2027-03-01;`
    AsOf(Name),
    /// `fact Battery "battery:SKU-1" { mass: 450 kg, .. };`
    Fact {
        /// Its type.
        fact: Name,
        /// Its key.
        key: String,
        /// Its fields.
        fields: Vec<(Name, Expr)>,
        /// All of it.
        span: Span,
    },
    /// `set Battery.mass = 450 kg;`, `set Material "key".mass = 1 kg;`
    Set(Target, Expr),
    /// `drop Battery.serial;`
    Drop(Target),
    /// `remove Material;`, `remove Material "key";`
    Remove {
        /// Type of the facts.
        fact: Name,
        /// Only the one with this key.
        key: Option<(String, Span)>,
    },
}

/// A field of all facts of a type, or of one fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Type of the facts.
    pub fact: Name,
    /// Only the one with this key.
    pub key: Option<(String, Span)>,
    /// The field.
    pub field: Name,
}

/// `example NAME using F { .. } => expect RULE == VERDICT [code];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its name.
    pub name: Name,
    /// The fixture it starts from.
    pub using: Option<Name>,
    /// What it changes.
    pub steps: Vec<Step>,
    /// What must follow.
    pub expects: Vec<Expect>,
}

/// What a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// `expect VOLT.ORDER == FAIL E_VOLT`
    Rule {
        /// The rule.
        rule: Name,
        /// Its verdict.
        verdict: Name,
        /// Its code.
        code: Option<Name>,
        /// Paths that it says are missing.
        missing: Vec<String>,
    },
    /// `expect /battery/category == ev`
    Value(Name, Expr),
    /// `expect /battery/category absent` or `held`
    Absent(Name, Name),
}

/// `table NAME from RULE using F columns(..) rows[ .. ];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableTest {
    /// Its name.
    pub name: Name,
    /// A rule, table or definition.
    pub from: Name,
    /// The fixture each row starts from.
    pub using: Option<Name>,
    /// What the cells of a row are.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<(Vec<Expr>, Span)>,
}

/// What a column of a test table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// A field to set.
    Field(Target),
    /// `as_of`
    AsOf(Span),
    /// A parameter of the table or definition.
    Param(Name),
    /// `expect`
    Expect(Span),
    /// `code`
    Code(Span),
}

/// `property NAME cases(40) using F gen { v: Qty[V] in 1 V .. 9 V; set Battery.v_min = v; } => ..;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: Name,
    /// How many cases.
    pub cases: (i64, Span),
    /// The fixture it starts from.
    pub using: Option<Name>,
    /// The generated values.
    pub vars: Vec<GenVar>,
    /// What is done with them.
    pub steps: Vec<Step>,
    /// What must hold.
    pub holds: Expr,
}

/// A generated value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenVar {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Its least and greatest value.
    pub range: Option<(Expr, Expr)>,
}

/// `metamorphic NAME: rescale(g, kg) => same;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metamorphic {
    /// Its name.
    pub name: Name,
    /// The change.
    pub change: Name,
    /// Its arguments.
    pub args: Vec<Name>,
}

/// `golden NAME "file" => payload_hash "..", proof_root "..";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// Its name.
    pub name: Name,
    /// The file with the facts.
    pub file: (String, Span),
    /// Hash of the payload, in hex.
    pub payload_hash: Option<String>,
    /// Root of the proof, in hex.
    pub proof_root: Option<String>,
}
