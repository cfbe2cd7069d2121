//! Why a command of the pack was refused.

use bpc_core::canonical::JsonError;
use bpc_worker::{EngineError, HandlerError, StoreError};

/// A refused command, or a handler's reason to give up. The codes are part of the contract.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The engine failed or refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A rule of the pack says no; nothing was written.
    #[error("{message}")]
    Refused {
        /// The stable code.
        code: &'static str,
        /// What is wrong and what to do.
        message: String,
    },
}

impl PackError {
    /// A refusal.
    pub fn refused(code: &'static str, message: impl Into<String>) -> Self {
        PackError::Refused { code, message: message.into() }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            PackError::Engine(error) => error.code(),
            PackError::Refused { code, .. } => code,
        }
    }

    /// Did somebody else write first?
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, PackError::Engine(error) if error.is_conflict())
    }
}

impl From<StoreError> for PackError {
    fn from(error: StoreError) -> Self {
        PackError::Engine(error.into())
    }
}

impl From<JsonError> for PackError {
    fn from(error: JsonError) -> Self {
        PackError::Engine(error.into())
    }
}

/// What a person is refused, no retry of a job would get.
impl From<PackError> for HandlerError {
    fn from(error: PackError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            PackError::Engine(error) if error.is_retryable() => HandlerError::retryable(code, message),
            _ => HandlerError::permanent(code, message),
        }
    }
}
