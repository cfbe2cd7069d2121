//! Secrets at rest, sealed by one key from the environment or a file.
//! Imports no other room.
//!
//! The log is for ever and is copied around, so a secret in an event is only ever there sealed. Whoever has
//! the log and not the key learns its length and nothing else.

mod key;
mod source;

pub use key::{SealedError, SecretsKey};
pub use source::{KeySource, KeySourceError};
