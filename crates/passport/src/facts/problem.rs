//! What is wrong with a value.

use crate::json::escape_pointer;

/// A value that a schema refuses: where, under which stable code, what was expected and what was
/// found. All of a document's problems are collected, so that it is repaired once.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[error("{code} at {at:?}: expected {expected}, found {found}", at = if pointer.is_empty() { "the document" } else { pointer.as_str() })]
pub struct Problem {
    /// The stable name of the rule that was broken.
    pub code: &'static str,
    /// JSON pointer (RFC 6901) into the document; empty for the document itself.
    pub pointer: String,
    /// What would have been accepted.
    pub expected: String,
    /// What stood there, shortened.
    pub found: String,
}

/// How much of a value is repeated in a problem.
const FOUND_MAX: usize = 80;

impl Problem {
    /// A problem at that place; `found` is shortened.
    pub fn new(
        code: &'static str,
        pointer: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { code, pointer: pointer.into(), expected: expected.into(), found: shortened(found.into()) }
    }

    /// The same problem, seen from a value that contains this one under `name`.
    #[must_use]
    pub fn under(mut self, name: &str) -> Self {
        self.pointer = format!("/{}{}", escape_pointer(name), self.pointer);
        self
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(FOUND_MAX) {
        None if text.is_empty() => "an empty text".to_owned(),
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
