//! Tests as the package declares them, typed.

use crate::facts::{FactType, Value as FactValue};
use crate::rules::program::{Def, Lit};
use crate::rules::source::Span;
use crate::rules::types::Type;
use crate::rules::verdict::Verdict;
use crate::value::Unit;

use super::draft::Draft;

/// All tests of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Facts that other tests start from, by name.
    pub fixtures: Vec<(String, Draft)>,
    /// Cases with an expected outcome: examples, and rows of tables about rules.
    pub examples: Vec<Example>,
    /// Rows of tables about tables and definitions.
    pub lookups: Vec<Lookup>,
    /// What holds for generated values.
    pub properties: Vec<Property>,
    /// Changes that must not matter.
    pub metamorphics: Vec<Metamorphic>,
    /// Whole passports with known hashes.
    pub goldens: Vec<Golden>,
}

/// A case with an expected outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its name; rows of a table have their number behind it.
    pub name: String,
    /// What it is about.
    pub input: Draft,
    /// What must follow.
    pub expects: Vec<Expect>,
    /// Where it is written.
    pub span: Span,
}

/// What must follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A rule says this.
    Rule {
        /// Index of the rule.
        rule: usize,
        /// Its verdict.
        verdict: Verdict,
        /// Its code.
        code: Option<String>,
        /// Paths that must be among what it says is missing.
        missing: Vec<String>,
    },
    /// An attribute is displayed with this value, in canonical JSON.
    Shown(usize, String),
    /// An attribute has no value.
    Absent(usize),
    /// An attribute has a value that is not displayed yet.
    Held(usize),
}

/// A row about a table or a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Its name.
    pub name: String,
    /// What is asked.
    pub of: Asked,
    /// With which arguments.
    pub args: Vec<Lit>,
    /// What it must say.
    pub expect: Lit,
    /// On which facts, for definitions.
    pub input: Option<Draft>,
    /// Where it is written.
    pub span: Span,
}

/// What a lookup asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Index of a table.
    Table(usize),
    /// Index of a definition.
    Def(usize),
}

/// What holds for generated values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// How many cases.
    pub cases: u32,
    /// What they start from.
    pub input: Option<Draft>,
    /// The generated values, in the order of the definition's parameters.
    pub vars: Vec<Var>,
    /// Fields that are set.
    pub sets: Vec<Set>,
    /// What must hold, as a definition of the generated values.
    pub holds: Def,
    /// Where it is written.
    pub span: Span,
}

/// A generated value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its least and greatest value.
    pub range: Option<(Lit, Lit)>,
}

/// A field that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Of facts of this type.
    pub fact: FactType,
    /// Only of the one with this key.
    pub key: Option<String>,
    /// The field.
    pub field: &'static str,
    /// To what.
    pub to: SetTo,
}

/// What a field is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetTo {
    /// A value.
    Value(FactValue),
    /// A generated value.
    Var(usize),
    /// Nothing.
    Nothing,
}

/// A change that must not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metamorphic {
    /// Its name.
    pub name: String,
    /// The change.
    pub change: Change,
    /// Where it is written.
    pub span: Span,
}

/// A change that must not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Facts come in another order.
    PermuteFacts,
    /// Facts of another battery are there as well.
    AddIrrelevant,
    /// Literals of the package that are in the second unit are written in the first.
    Rescale(Unit, Unit),
}

/// A whole passport with known hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// Its name.
    pub name: String,
    /// The file with its facts.
    pub file: String,
    /// Hash of the payload, in hex.
    pub payload_hash: Option<String>,
    /// Root of the proof, in hex.
    pub proof_root: Option<String>,
    /// Where it is written.
    pub span: Span,
}
