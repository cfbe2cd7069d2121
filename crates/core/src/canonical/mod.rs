//! Canonical JSON: one value, one spelling.
//!
//! A job event is hashed over its bytes, so equal values must have equal bytes. This module
//! implements RFC 8785 (JCS) restricted to what every JSON implementation agrees on:
//!
//! - numbers are integers within ±(2^53 − 1); anything else travels as a string;
//! - keys are unique and sorted by UTF-16 code units, as RFC 8785 demands;
//! - text is valid Unicode, kept exactly as it was sent (no normalisation);
//! - arrays and objects nest at most [`MAX_DEPTH`] deep.
//!
//! Whatever falls outside is refused with a named [`JsonErrorKind`], never repaired.

mod check;
mod cursor;
mod error;
mod escape;
mod order;
mod rewrite;
mod serialize;
mod text;
mod write;
mod writer;

pub use check::{check, check_inside};
pub use error::{JsonError, JsonErrorKind};
pub use escape::plain_length;
pub use serialize::to_canonical;
pub use text::CanonicalJson;
pub use write::{write_integer, write_string};

/// The largest integer, in either direction, that is exact in every JSON implementation: 2^53 − 1.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 64;

/// Reads any JSON text strictly and writes it canonically.
///
/// Text that is already canonical is only copied.
///
/// # Errors
///
/// Refuses text that is not JSON or falls outside the restrictions of [this module](self).
pub fn canonicalize(text: &[u8]) -> Result<CanonicalJson, JsonError> {
    match check(text) {
        Ok(()) => Ok(CanonicalJson::from_trusted(text.to_vec())),
        Err(refused) if refused.kind == JsonErrorKind::NotCanonical => rewrite::rewrite(text),
        Err(refused) => Err(refused),
    }
}
