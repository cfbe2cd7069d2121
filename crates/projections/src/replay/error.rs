//! Why a replay could not be carried out. What it found is not an error but its result.

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
    /// Rebuilding begins from nothing.
    #[error("{0} of the target has rows already: rebuild into a fresh file")]
    TargetNotEmpty(&'static str),
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
            ReplayError::Scratch(_) => "REPLAY_NO_SCRATCH",
            ReplayError::TargetNotEmpty(_) => "REPLAY_TARGET_NOT_EMPTY",
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
