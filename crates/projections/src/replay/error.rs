//! Why a replay could not be carried out. What it found is not an error but its result.

use std::path::PathBuf;

use bpc_core::{StreamId, Version};
use bpc_eventstore::StoreError;

/// A replay that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The log or the live views cannot be read.
    #[error("cannot read the log or its views")]
    Source(#[source] StoreError),
    /// The rebuilt views cannot be written or read back.
    #[error("cannot write the rebuilt views")]
    Target(#[source] StoreError),
    /// The temporary file for the rebuilt views cannot be made.
    #[error("cannot make a temporary directory for the rebuilt views: set TMPDIR to one with room")]
    Scratch(#[source] std::io::Error),
    /// An archive cannot be read.
    #[error("cannot read the archive")]
    Archive {
        /// Stable code of the cause.
        code: &'static str,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no such position yet.
    #[error("only {sealed} events are sealed, so there is no state behind {size} of them")]
    NotSealed {
        /// What was asked for.
        size: u64,
        /// What there is.
        sealed: u64,
    },
    /// Rebuilding begins from nothing.
    #[error("{0} of the target has rows already: rebuild into a fresh file")]
    TargetNotEmpty(&'static str),
    /// A file of that name is there already.
    #[error("{0} exists already: choose another name or move it away")]
    TargetExists(PathBuf),
    /// The file for the rebuilt views cannot be made.
    #[error("cannot make {path}")]
    TargetFile {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The log does not say what the views should be.
    #[error("the views are left as they are, because the log itself is damaged ({0}): run `bpc verify`")]
    LogUnsound(String),
    /// Rebuilt views are an SQLite file.
    #[error("the views can be rebuilt into an SQLite file only")]
    TargetNotSqlite,
    /// A projection stopped for a reason that lies not in the event.
    #[error("projection {projection} failed on stream {stream_id} version {version}")]
    Projection {
        /// Which projection.
        projection: &'static str,
        /// The stream.
        stream_id: StreamId,
        /// The event in it.
        version: Version,
        /// What it said.
        #[source]
        source: StoreError,
    },
    /// A column of a view has a type that the other database does not have.
    #[error(
        "{view}.{column} has type {found}: a view has integers, booleans, floats, text, bytes and uuids only"
    )]
    ColumnType {
        /// The view.
        view: &'static str,
        /// Its column.
        column: &'static str,
        /// The type.
        found: String,
    },
}

impl ReplayError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ReplayError::Source(error)
            | ReplayError::Target(error)
            | ReplayError::Projection { source: error, .. } => error.code(),
            ReplayError::Archive { code, .. } => code,
            ReplayError::NotSealed { .. } => "POSITION_NOT_SEALED",
            ReplayError::Scratch(_) => "REPLAY_NO_SCRATCH",
            ReplayError::TargetNotEmpty(_) => "REPLAY_TARGET_NOT_EMPTY",
            ReplayError::TargetExists(_) => "REPLAY_TARGET_EXISTS",
            ReplayError::TargetFile { .. } => "REPLAY_TARGET_UNWRITABLE",
            ReplayError::LogUnsound(_) => "REPLAY_LOG_UNSOUND",
            ReplayError::TargetNotSqlite => "REPLAY_TARGET_NOT_SQLITE",
            ReplayError::ColumnType { .. } => "REPLAY_COLUMN_TYPE",
        }
    }

    pub(super) fn source(error: impl Into<StoreError>) -> Self {
        ReplayError::Source(error.into())
    }

    pub(super) fn target(error: impl Into<StoreError>) -> Self {
        ReplayError::Target(error.into())
    }
}
