//! The rules language: parser, type and unit checker, evaluator, and the gate for rule tests.
//!
//! A rule package is text. [`parse`] turns it into a [`syntax::Package`] or into diagnostics that
//! show the source; nothing here reads files, the clock or a random source.

pub mod diagnostic;
pub mod source;
pub mod syntax;

pub use diagnostic::{Code, Diagnostic, Diagnostics};
pub use source::{Source, Sources, Span};
pub use syntax::parse;
