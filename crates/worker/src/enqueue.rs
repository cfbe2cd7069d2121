//! A job that somebody wants run.

use std::time::Duration;

use bpc_core::canonical::{JsonError, canonicalize, to_canonical};
use bpc_core::{CanonicalJson, Hash, JobId, Timestamp};

/// A request for a job. What is not said comes from the policy of its type.
#[derive(Clone, Debug)]
pub struct Enqueue {
    pub(crate) job_type: String,
    pub(crate) payload: CanonicalJson,
    pub(crate) key: Option<String>,
    pub(crate) queue: Option<String>,
    pub(crate) priority: Option<u8>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) due: Due,
}

/// When a job is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Due {
    /// At once.
    #[default]
    Now,
    /// After a while, by the database's clock.
    After(Duration),
    /// At a moment.
    At(Timestamp),
}

/// The answer to an enqueue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// The job.
    pub job_id: JobId,
    /// Hash of its `ENQUEUED` event: the submitter's receipt.
    pub event_hash: Hash,
    /// False if the idempotency key named a job that exists already.
    pub created: bool,
}

impl Enqueue {
    /// A job of that type, carrying `payload`.
    pub fn new(job_type: impl Into<String>, payload: &impl serde::Serialize) -> Result<Self, JsonError> {
        Ok(Self::of(job_type.into(), to_canonical(payload)?))
    }

    /// The same from JSON text.
    pub fn from_json(job_type: impl Into<String>, payload: &[u8]) -> Result<Self, JsonError> {
        Ok(Self::of(job_type.into(), canonicalize(payload)?))
    }

    fn of(job_type: String, payload: CanonicalJson) -> Self {
        Enqueue {
            job_type,
            payload,
            key: None,
            queue: None,
            priority: None,
            max_attempts: None,
            due: Due::Now,
        }
    }

    /// Make it idempotent: the same key, for the same tenant and type, never makes a second job.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Wait in this queue.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    /// 0 (most urgent) to 3.
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Attempts in all.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }

    /// Not before then.
    #[must_use]
    pub fn due(mut self, due: Due) -> Self {
        self.due = due;
        self
    }
}
