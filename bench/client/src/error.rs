//! Why a command of the client failed.

use bpc_eventstore::seal::KeyFileError;
use bpc_worker::{EngineError, JsonError, StoreError};

/// Nothing here is tried again: a measurement that met an error is none.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(&'static str),
    /// Neither database is named.
    #[error("set BENCH_PG to the URL of a PostgreSQL database, or BENCH_SQLITE to a file")]
    NoDatabase,
    /// The options are not what they should be.
    #[error("BENCH_OPTS: {0}")]
    Options(serde_json::Error),
    /// A fresh key could not take the place of an earlier one.
    #[error("the key of an earlier log cannot be removed: {0}")]
    OldKey(std::io::Error),
    /// The log's key.
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    /// The log.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A verb of the engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The payload.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Whoever drives this client is gone.
    #[error("the protocol's pipe: {0}")]
    Pipe(std::io::Error),
}

impl ClientError {
    /// For programs; it never changes.
    pub fn code(&self) -> &'static str {
        match self {
            ClientError::Usage(_) => "USAGE",
            ClientError::NoDatabase => "NO_DATABASE",
            ClientError::Options(_) => "OPTIONS_INVALID",
            ClientError::OldKey(_) => "KEY_FILE_IN_THE_WAY",
            ClientError::KeyFile(error) => error.code(),
            ClientError::Store(error) => error.code(),
            ClientError::Engine(error) => error.code(),
            ClientError::Json(error) => error.kind.code(),
            ClientError::Pipe(_) => "PIPE_BROKEN",
        }
    }
}
