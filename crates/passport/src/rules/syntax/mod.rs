//! From text to a tree: words, grammar, and what is wrong with either.

pub mod ast;
mod parser;
pub mod token;

pub use ast::Package;
pub use parser::parse;
