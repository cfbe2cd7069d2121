//! A package that was checked: its program, its tests, and the hashes that stand for them.

use bpc_core::{CanonicalJson, Hash};

use crate::facts::Fact;
use crate::hash::sha256;
use crate::value::Date;

use super::canonical;
use super::diagnostic::Diagnostics;
use super::eval::{self, Context, EvalError, Results};
use super::program::Program;
use super::source::Sources;
use super::syntax::Package;
use super::test::declared::Tests;

/// A checked package.
#[derive(Clone, Debug)]
pub struct Checked {
    pub(super) package: Package,
    pub(super) program: Program,
    pub(super) tests: Tests,
    canonical: CanonicalJson,
    rules_hash: Hash,
    warnings: Diagnostics,
}

/// Whether a package is meant for a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InEffect {
    /// Not yet: from this day.
    From(Date),
    /// It is.
    Yes,
    /// No longer: until this day.
    Until(Date),
}

/// Checks a package against the fact schemas.
///
/// # Errors
///
/// All that is wrong with it, in the order of the text.
pub fn check(package: &Package) -> Result<Checked, Diagnostics> {
    let (program, tests, warnings) = super::check::program(package)?;
    let canonical = canonical::canonical(&program);
    let rules_hash = canonical::rules_hash(&canonical);
    Ok(Checked { package: package.clone(), program, tests, canonical, rules_hash, warnings })
}

/// Evaluates all attributes and rules over facts, in whatever order they come.
///
/// # Errors
///
/// If there are too many facts, two of one name, or it would cost too much. What rules find is a
/// result and not an error.
pub fn evaluate(checked: &Checked, facts: &[Fact], context: Context<'_>) -> Result<Results, EvalError> {
    eval::evaluate(&checked.program, facts, context)
}

impl Checked {
    /// The package's name.
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// The package's version.
    pub fn version(&self) -> &str {
        &self.program.version
    }

    /// What will run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What it declares about itself.
    pub fn tests(&self) -> &Tests {
        &self.tests
    }

    /// The tree it was made from.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// The texts it was made from.
    pub fn sources(&self) -> &Sources {
        &self.package.sources
    }

    /// All that decides about results, as canonical JSON.
    pub fn canonical(&self) -> &CanonicalJson {
        &self.canonical
    }

    /// SHA-256 of [`canonical`](Self::canonical).
    pub fn rules_hash(&self) -> Hash {
        self.rules_hash
    }

    /// What is worth a thought, though the package can be used.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Whether the package is meant for a day.
    pub fn in_effect(&self, day: Date) -> InEffect {
        match self.program.until {
            _ if day < self.program.effective => InEffect::From(self.program.effective),
            Some(until) if day > until => InEffect::Until(until),
            _ => InEffect::Yes,
        }
    }
}

/// SHA-256 over the texts of a package, in the order of their names: what the tests of a version
/// were.
pub fn sources_hash(sources: &Sources) -> Hash {
    let mut files: Vec<_> = sources.files().iter().collect();
    files.sort_by(|left, right| left.name.cmp(&right.name));
    let mut bytes = Vec::new();
    for file in files {
        for part in [&file.name, &file.text] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
    }
    sha256(&[&bytes])
}
