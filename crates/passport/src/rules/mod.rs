//! The rules language: parser, type and unit checker, evaluator, and the gate for rule tests.
//!
//! A rule package is text. [`parse`] turns it into a [`syntax::Package`] or into diagnostics that
//! show the source; nothing here reads files, the clock or a random source.

mod check;
pub mod diagnostic;
pub mod limits;
pub mod program;
pub mod source;
pub mod syntax;
mod table;
mod text;
pub mod types;
pub mod verdict;

pub use diagnostic::{Code, Diagnostic, Diagnostics};
pub use program::Program;
pub use source::{Source, Sources, Span};
pub use syntax::parse;
pub use verdict::Verdict;

/// Checks a package.
pub fn check(package: &syntax::Package) -> Result<(Program, Diagnostics), Diagnostics> {
    check::program(package)
}
