//! Proofs that leave the house: the events of one job, or one event, with everything needed to check them
//! against a signed checkpoint, and that one checkpoint continues another.
//!
//! [`check`] needs the file and keys, no database, network or clock. What it establishes is
//! [`PROVES`]; what it cannot is [`DOES_NOT_PROVE`]. Whoever shows a result shows both.

mod check;
mod consistency;
mod error;
mod file;
mod stream;

pub use check::{Report, check};
pub use consistency::{ConsistencyError, Continued, check_consistency};
pub use error::ProofError;
pub use file::{FORMAT, Proof, ProvenEvent, Subject};

/// What holds when a proof was checked, if the log's key was not misused before the checkpoint was signed.
pub const PROVES: [&str; 4] = [
    "The log's key signed a checkpoint that covers these events, at these positions.",
    "Each event has exactly these bytes, and the hash chain of its stream runs through them.",
    "A proof of a job holds its events from the first on, with none left out or changed in between, and they are a legal history of a job.",
    "A witness that is named saw the checkpoint at the time given, as a continuation of all it saw of this log before.",
];

/// What a proof leaves open.
pub const DOES_NOT_PROVE: [&str; 4] = [
    "That nothing happened to the job later: events that were not sealed when the checkpoint was signed, or were left off the end of the file, are not ruled out.",
    "That what an event says is true, or that its time is right: the log shows what was recorded, not what was the case.",
    "That everybody is shown the same log: for that, compare checkpoints, or ask for witnesses.",
    "For a proof of one event: what stands before it and after it in its stream.",
];
