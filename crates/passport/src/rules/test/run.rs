//! What a run of a package's tests found: a value to store and to show.

use serde::Serialize;

use crate::rules::source::{Place, Sources, Span};

/// What a run found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Name of the package.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Hash of its program, in hex.
    pub rules_hash: String,
    /// The seed of generated cases.
    pub seed: i64,
    /// How many tests ran.
    pub total: usize,
    /// How many of them passed.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
    /// How many different inputs passed.
    pub distinct: usize,
    /// SHA-256 over the hashes of these inputs, sorted: another seed makes other inputs.
    pub inputs_hash: String,
    /// Tests by kind.
    pub kinds: Kinds,
    /// Different inputs for each rule.
    pub rules: Vec<RuleCases>,
    /// Branches: how many there are, how many were taken, and which were not.
    pub branches: Coverage,
    /// Verdicts: how many rules can come to, how many were reached, and which were not.
    pub verdicts: Coverage,
    /// Mistakes made on purpose.
    pub mutation: Mutation,
    /// The first test that failed, made small.
    pub first_failure: Option<Failure>,
    /// Names of tests that failed, at most a hundred.
    pub failures: Vec<String>,
    /// Places that failing tests came by and passing ones did not, most suspicious first.
    pub suspects: Vec<Suspect>,
    /// What keeps the package from being used; nothing if it may be.
    pub gate: Vec<String>,
}

/// How many tests of each kind ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kinds {
    /// Examples, and rows about rules.
    pub examples: usize,
    /// Rows about tables and definitions.
    pub lookups: usize,
    /// Cases of properties.
    pub properties: usize,
    /// Changes that must not matter.
    pub metamorphic: usize,
    /// Whole passports.
    pub goldens: usize,
    /// Generated from the rules, judged by the reference evaluator.
    pub generated: usize,
}

/// How many different inputs a rule was tested with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleCases {
    /// The rule.
    pub rule: String,
    /// How many.
    pub cases: usize,
}

/// How much of something was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// How much there is.
    pub all: usize,
    /// How much was seen.
    pub hit: usize,
    /// What was not.
    pub missed: Vec<Spot>,
}

/// Something at a place in the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Spot {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The text there, one line of it.
    pub text: String,
    /// What about it.
    pub what: String,
}

/// What tests noticed of mistakes made on purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mutation {
    /// How many mistakes were made.
    pub mutants: usize,
    /// How many a declared test noticed.
    pub killed: usize,
    /// In a thousand.
    pub score_permille: usize,
    /// Those that no declared test noticed.
    pub survivors: Vec<Survivor>,
}

/// A mistake that no declared test noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Survivor {
    /// Where, and what was done.
    pub spot: Spot,
    /// A generated case on which it makes a difference, if there is one: a test to write.
    pub told_apart: Option<String>,
}

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its name.
    pub test: String,
    /// Where it is written; nowhere if it was generated.
    pub spot: Option<Spot>,
    /// What was expected and what was found.
    pub message: String,
    /// The input, made small: as a fixture could be written.
    pub input: String,
    /// How many facts it had before.
    pub facts_before: usize,
    /// How many it has now.
    pub facts: usize,
}

/// A place that failing tests came by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suspect {
    /// Where.
    pub spot: Spot,
    /// How suspicious, in a thousand.
    pub score_permille: u64,
}

impl Run {
    /// Whether the package may be used.
    pub fn is_accepted(&self) -> bool {
        self.gate.is_empty()
    }
}

impl Spot {
    pub(super) fn new(sources: &Sources, span: Span, what: impl Into<String>) -> Self {
        let Place { file, line, column } = sources.place(span);
        let text = sources.text(span).lines().next().unwrap_or("").trim().to_owned();
        Self { file, line, column, text, what: what.into() }
    }
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}: {}", self.file, self.line, self.column, self.what, self.text)
    }
}
