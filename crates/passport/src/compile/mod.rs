//! The compiler: a sealed snapshot and checked rules in, a passport version out.
//!
//! Pure: moments and ids are arguments or follow from them, so a retry, a replay and another machine
//! give the same bytes.

mod error;
mod input;
mod leaves;
mod payload;
mod proof_document;
mod reads;
mod rebuild;
mod replay;
mod run;

pub use error::{BlockedRule, CompileError};
pub use input::{Input, Rules};
pub use rebuild::{RebuildError, Rebuilt, rebuild};
pub use replay::{ReplayError, Stored, replay};
pub use run::{Compiled, compile};

/// The most bytes of a payload.
pub const MAX_PAYLOAD_BYTES: usize = 131_072;

/// The most bytes of a proof document.
pub const MAX_PROOF_BYTES: usize = 262_144;

/// The most bytes of a receipt.
pub const MAX_RECEIPT_BYTES: usize = 16_384;
