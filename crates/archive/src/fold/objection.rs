//! Why an event cannot stand where it stands.

use bpc_core::{StreamId, Version};

/// An event that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// Its stream; none if its bytes do not say.
    pub stream_id: Option<StreamId>,
    /// What the stream is about.
    pub stream_type: String,
    /// Its place in the stream.
    pub version: Option<Version>,
    /// Its place in the sealed order.
    pub position: u64,
    /// What is wrong.
    pub kind: ObjectionKind,
}

/// What is wrong with an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectionKind {
    /// Its bytes are no event.
    #[error("{reason}")]
    Unreadable {
        /// Stable code of the rule that they break.
        code: String,
        /// How.
        reason: String,
    },
    /// It is not the next of its stream.
    #[error("version {found} stands where version {expected} belongs")]
    Version {
        /// What would be next.
        expected: Version,
        /// What it is.
        found: Version,
    },
    /// It is chained to something else than the event before it.
    #[error("it is chained to {found}, the event before it has {expected}")]
    Chain {
        /// The hash of the event before.
        expected: String,
        /// What it is chained to.
        found: String,
    },
    /// It names another tenant or type than the events before it.
    #[error("the events before are about {expected}, this one about {found}")]
    Owner {
        /// Type and tenant before.
        expected: String,
        /// Type and tenant here.
        found: String,
    },
    /// It cannot happen to a job in this state.
    #[error("{0}")]
    Illegal(String),
}
