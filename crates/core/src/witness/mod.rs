//! What a witness does (C2SP tlog-witness, `add-checkpoint`), without its network, clock and storage: read
//! what a log asks, decide, answer; and for the log, ask and read the answer.
//!
//! A witness remembers the last checkpoint it signed of each log and signs another only if that one
//! continues it. So nobody can show two histories of one log and have both signed.

mod answer;
mod decide;
mod request;

pub use answer::{ConflictAnswer, cosignatures};
pub use decide::{Cosigned, Known, Refusal, Seen, decide};
pub use request::{AddCheckpoint, BadRequest, PROOF_MAX};
