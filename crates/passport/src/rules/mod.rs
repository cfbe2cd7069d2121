//! The rules language: parser, type and unit checker, evaluator, and the gate for rule tests.
//!
//! ```text
//! parse(&Sources) -> Package             text to tree, or diagnostics that show the source
//! check(&Package) -> Checked             names, types, units, totality, order, cost
//! evaluate(&Checked, facts, Context)     verdicts, attributes, traces, cost
//! test::run(&Checked, seed) -> Run       all tests, and whether the package may be used
//! diff(&Checked, &Checked), explain(&Checked, rule)
//! ```
//!
//! Pure: nothing here reads files, the clock or a random source.

mod canonical;
mod check;
mod checked;
pub mod diagnostic;
pub mod diff;
pub mod eval;
mod explain;
pub mod limits;
mod load;
pub mod program;
pub mod reference;
pub mod shipped;
pub mod source;
pub mod syntax;
mod table;
pub mod test;
mod text;
pub mod types;
pub mod verdict;

pub use checked::{Checked, InEffect, check, evaluate, sources_hash};
pub use diagnostic::{Code, Diagnostic, Diagnostics};
pub use diff::{diff, diff_outcomes};
pub use eval::{Context, Emission, EmissionState, EvalError, Leaves, Results, RuleResult};
pub use explain::{Explanation, explain};
pub use load::{LoadError, load};
pub use program::Program;
pub use source::{Source, Sources, Span};
pub use syntax::{Package, parse};
pub use verdict::{Outcome, Verdict};
