//! Why the engine did not do what was asked.

use bpc_core::canonical::JsonError;
use bpc_core::envelope::EnvelopeError;
use bpc_core::job::{ErrorInfo, Refusal, TransitionError};
use bpc_core::{JobId, TenantId};
use bpc_eventstore::StoreError;

/// A refused or failed operation. Nothing of it was written, unless the database went away while
/// answering.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rules say no.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// No handler is registered for this type.
    #[error("job type {0:?} is not known here: `bpc enqueue --help` lists the types")]
    UnknownType(String),
    /// Same key, other content.
    #[error(
        "the key {key:?} belongs to job {job_id}, which has other content: use another key, or the same payload, queue, priority and attempts"
    )]
    IdempotencyConflict {
        /// The key.
        key: String,
        /// The job it belongs to.
        job_id: JobId,
    },
    /// The payload is too large.
    #[error("the job needs an event of {0} bytes, the limit is {max}: store the large part as a blob and pass its hash", max = bpc_core::envelope::EVENT_BYTES_MAX)]
    PayloadTooLarge(usize),
    /// The payload breaks a rule of canonical JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// An event may not be hashed.
    #[error(transparent)]
    Envelope(EnvelopeError),
    /// Effects for somebody else.
    #[error("what is done for tenant {tenant} cannot write for {wanted}")]
    TenantMismatch {
        /// Whose effects.
        tenant: TenantId,
        /// For whom they were meant.
        wanted: TenantId,
    },
    /// Only registered events can be emitted.
    #[error("{event_type} is not a registered event of {stream_type}")]
    UnknownEvent {
        /// The event.
        event_type: String,
        /// Type of the stream.
        stream_type: String,
    },
    /// A view of a pack panicked.
    #[error("a view panicked while taking in these events")]
    ViewPanicked,
    /// The history of a job does not fold.
    #[error("the history of job {job_id} is damaged: {message}; run `bpc verify`")]
    Damaged {
        /// Which job.
        job_id: JobId,
        /// What does not fit.
        message: String,
    },
}

impl EngineError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            EngineError::Store(error) => error.code(),
            EngineError::Refused(refusal) => refusal.code(),
            EngineError::UnknownType(_) => "UNSUPPORTED_JOB_TYPE",
            EngineError::IdempotencyConflict { .. } => "IDEMPOTENCY_CONFLICT",
            EngineError::PayloadTooLarge(_) => "PAYLOAD_TOO_LARGE",
            EngineError::Json(error) => error.kind.code(),
            EngineError::Envelope(error) => error.code(),
            EngineError::TenantMismatch { .. } => "TENANT_MISMATCH",
            EngineError::UnknownEvent { .. } => "EVENT_TYPE_UNKNOWN",
            EngineError::ViewPanicked => "PANIC",
            EngineError::Damaged { .. } => "DATA_DAMAGED",
        }
    }

    /// As the history of a job tells it.
    pub(crate) fn info(&self) -> ErrorInfo {
        let (code, message) = (self.code().to_owned(), self.to_string());
        ErrorInfo { code, message, retryable: self.is_retryable(), detail: None }
    }

    /// May the same call succeed later?
    pub fn is_retryable(&self) -> bool {
        match self {
            EngineError::Store(error) => error.is_retryable(),
            EngineError::ViewPanicked => true,
            _ => false,
        }
    }

    /// Did somebody else write first? Deciding again may succeed.
    pub fn is_conflict(&self) -> bool {
        matches!(self, EngineError::Store(error) if error.is_conflict())
    }

    /// Could the database not be reached?
    pub fn is_unavailable(&self) -> bool {
        matches!(self, EngineError::Store(StoreError::Unavailable(_) | StoreError::Busy(_)))
    }
}

impl From<TransitionError> for EngineError {
    fn from(error: TransitionError) -> Self {
        match error {
            TransitionError::Refused(refusal) => EngineError::Refused(refusal),
            TransitionError::Envelope(EnvelopeError::TooLarge(bytes)) => EngineError::PayloadTooLarge(bytes),
            TransitionError::Envelope(error) => EngineError::Envelope(error),
            TransitionError::Fold(error) => EngineError::Store(StoreError::Damaged(error.to_string())),
        }
    }
}
