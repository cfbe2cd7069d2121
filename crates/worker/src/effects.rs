//! What a handler wants committed.

use std::sync::Arc;

use bpc_core::canonical::{JsonError, to_canonical};
use bpc_core::envelope::Draft;
use bpc_core::{CanonicalJson, Hash, StreamId, TenantId, Version};
use bpc_eventstore::{Blob, StreamAppend};

use crate::enqueue::Enqueue;

/// Everything of one attempt, committed in one transaction with the job's own event, or not at all.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    pub(crate) result: Option<CanonicalJson>,
    pub(crate) appends: Vec<StreamAppend>,
    pub(crate) follow_ups: Vec<Enqueue>,
    pub(crate) blobs: Vec<Blob>,
    pub(crate) sql: Vec<(&'static str, Vec<SqlValue>)>,
}

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// A number.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An id.
    Uuid(uuid::Uuid),
}

impl Effects {
    /// Nothing but "done".
    pub fn none() -> Self {
        Self::default()
    }

    /// Is there nothing but "done"?
    pub(crate) fn is_none(&self) -> bool {
        self.appends.is_empty() && self.follow_ups.is_empty() && self.blobs.is_empty() && self.sql.is_empty()
    }

    /// What the job returns, kept in its `SUCCEEDED` event.
    pub fn result(mut self, value: &impl serde::Serialize) -> Result<Self, JsonError> {
        let value = to_canonical(value)?;
        self.result = (value.as_str() != "null").then_some(value);
        Ok(self)
    }

    /// Append events to a stream, decided on `expected`. If the stream has moved on by the time of
    /// the commit, the attempt fails with `EVENT_VERSION_CONFLICT` and is tried again.
    #[must_use]
    pub fn emit(
        mut self,
        tenant_id: TenantId,
        stream_type: impl Into<Arc<str>>,
        stream_id: StreamId,
        expected: Version,
        events: Vec<Draft>,
    ) -> Self {
        let stream_type = stream_type.into();
        self.appends.push(StreamAppend { tenant_id, stream_type, stream_id, expected, events });
        self
    }

    /// Enqueue a follow-up job, for the same tenant.
    #[must_use]
    pub fn enqueue(mut self, job: Enqueue) -> Self {
        self.follow_ups.push(job);
        self
    }

    /// Store bytes under their hash, for an event to refer to.
    #[must_use]
    pub fn blob(mut self, bytes: Vec<u8>) -> (Self, Hash) {
        let blob = Blob::new(bytes);
        let hash = blob.sha256;
        self.blobs.push(blob);
        (self, hash)
    }

    /// Run a statement in the commit, with `$1`, `$2` ... as its parameters. It must mean the same on
    /// both databases, and it must not touch the log.
    #[must_use]
    pub fn sql(mut self, statement: &'static str, parameters: Vec<SqlValue>) -> Self {
        self.sql.push((statement, parameters));
        self
    }
}
