//! Why a proof file proves nothing.

use crate::envelope::EnvelopeError;
use crate::id::Version;
use crate::job::FoldError;
use crate::merkle::BadProof;
use crate::note::OpenError;

use super::FORMAT;

/// Why a proof file proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// Not JSON, or not the object it should be.
    #[error("not a proof file: {0}")]
    Malformed(String),
    /// A format of another name.
    #[error("the file says its format is {0:?}; this program checks {FORMAT}")]
    Format(String),
    /// Not in the one spelling a proof has.
    #[error("the file is not spelled as a proof is: look at byte {0}")]
    NotCanonical(usize),
    /// The checkpoint does not hold.
    #[error(transparent)]
    Checkpoint(#[from] OpenError),
    /// No events, or more than one where one is proved.
    #[error("the proof has {0} events: one of a job has at least one, one of an event just one")]
    Count(usize),
    /// Said to be of a job, but the stream is another.
    #[error("the proof is said to be of a job, but the stream is of type {0}")]
    NotAJob(String),
    /// The bytes are no event.
    #[error("event {number} of the proof is not an event")]
    Event {
        /// From 1, in the order of the file.
        number: usize,
        /// Why.
        #[source]
        cause: EnvelopeError,
    },
    /// The events are not of one stream.
    #[error("version {version} belongs to another stream, stream type or tenant than the event before it")]
    StreamMixed {
        /// Of the event that differs.
        version: Version,
    },
    /// Not the version that follows, or not the first where the first is due.
    #[error("version {found} stands where version {expected} should")]
    VersionGap {
        /// What should stand there.
        expected: Version,
        /// What does.
        found: Version,
    },
    /// `prev_hash` is there with version 1, or is not with another.
    #[error("version {0}: the hash of the event before is given for version 1 only, or left out for another")]
    PrevHash(Version),
    /// Sealed in another order than their versions.
    #[error("version {version} stands at position {position}, not behind the version before it")]
    Order {
        /// The later event.
        version: Version,
        /// Its position.
        position: u64,
    },
    /// The event is not where the proof says in the tree of the checkpoint. This is also what a changed
    /// event or a broken chain leads to: the leaf is another.
    #[error("version {version} is not at position {position} of the checkpoint's log")]
    NotIncluded {
        /// The event.
        version: Version,
        /// Where it was said to be.
        position: u64,
        /// What the audit path says.
        #[source]
        cause: BadProof,
    },
    /// The events cannot have happened to a job in this order.
    #[error("the events are not the history of a job: version {version}")]
    History {
        /// The event that cannot follow.
        version: Version,
        /// Why.
        #[source]
        cause: FoldError,
    },
}

impl ProofError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            ProofError::Malformed(_) => "PROOF_MALFORMED",
            ProofError::Format(_) => "PROOF_FORMAT_UNKNOWN",
            ProofError::NotCanonical(_) => "PROOF_NOT_CANONICAL",
            ProofError::Checkpoint(error) => error.code(),
            ProofError::Count(_) => "PROOF_EVENT_COUNT",
            ProofError::NotAJob(_) => "PROOF_NOT_A_JOB",
            ProofError::Event { cause, .. } => cause.code(),
            ProofError::StreamMixed { .. } => "STREAM_MIXED",
            ProofError::VersionGap { .. } => "VERSION_GAP",
            ProofError::PrevHash(_) => "PROOF_PREV_HASH",
            ProofError::Order { .. } => "PROOF_ORDER",
            ProofError::NotIncluded { .. } => "PROOF_NOT_INCLUDED",
            ProofError::History { .. } => "ILLEGAL_HISTORY",
        }
    }
}
