//! Why an archive cannot be written or read. What is wrong with the events in it is for verify to say.

use std::io;
use std::path::{Path, PathBuf};

use bpc_core::Hash;
use bpc_core::merkle::BadEdge;
use bpc_core::note::{CheckpointError, NoteError};
use bpc_eventstore::StoreError;

use crate::segment::SegmentError;

/// A failed operation on an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file cannot be read or written.
    #[error("cannot {action} {path}")]
    Io {
        /// `read`, `write` ...
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no archive.
    #[error("{0} holds no archive: `bpc archive --to` writes one")]
    Missing(PathBuf),
    /// The manifest is not one.
    #[error("{path} is not a manifest: {problem}")]
    Manifest {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Another run is writing here.
    #[error("another process is writing to {0}: wait until it is done")]
    Locked(PathBuf),
    /// A segment that is already there cannot be read.
    #[error("{file} cannot be read: run `bpc verify --archive`")]
    Segment {
        /// Which file.
        file: String,
        /// Why.
        #[source]
        source: SegmentError,
    },
    /// The tiles that are already there are not those of the checkpoint.
    #[error("the tiles of the archive are damaged: run `bpc verify --archive`")]
    Tiles(#[source] BadEdge),
    /// A checkpoint is not one.
    #[error("{name} is not a signed checkpoint")]
    Note {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        source: NoteProblem,
    },
    /// There is nothing to archive.
    #[error("the log has no checkpoint yet, so nothing can be archived: run `bpc seal --once` or a worker")]
    NothingSealed,
    /// The log is shorter than the archive of it.
    #[error(
        "the archive holds {archived} events, the log has sealed only {sealed}: an older copy of the log was restored, \
         or this is the archive of another one"
    )]
    AheadOfLog {
        /// Events in the archive.
        archived: u64,
        /// Events of the log that a checkpoint covers.
        sealed: u64,
    },
    /// The log begins otherwise.
    #[error(
        "the first {size} events of the log hash to {found}, those in the archive to {archived}: it is the archive of \
         another log, or one of them was changed; archive into a new directory and run `bpc verify` on both"
    )]
    AnotherLog {
        /// So many.
        size: u64,
        /// The root of the archive.
        archived: Hash,
        /// The root of the log.
        found: Hash,
    },
    /// An event of the log is not what its hash says.
    #[error("the event at position {position} cannot be used: {reason}; run `bpc verify`")]
    Event {
        /// Where.
        position: u64,
        /// What is wrong.
        reason: String,
    },
    /// The events are not those that were signed.
    #[error(
        "the first {size} events hash to {found}, the checkpoint says {signed}: nothing was archived; run `bpc verify`"
    )]
    RootMismatch {
        /// So many.
        size: u64,
        /// What the checkpoint says.
        signed: Hash,
        /// What the events hash to.
        found: Hash,
    },
}

/// Why a note is not a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum NoteProblem {
    /// Not a note.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// Not a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Over another number of events than its name says.
    #[error("it is over {found} events, not {expected}")]
    Size {
        /// What its name says.
        expected: u64,
        /// What it says.
        found: u64,
    },
}

impl ArchiveError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ArchiveError::Io { .. } => "ARCHIVE_IO",
            ArchiveError::Store(error) => error.code(),
            ArchiveError::Missing(_) => "ARCHIVE_MISSING",
            ArchiveError::Manifest { .. } => "ARCHIVE_MANIFEST_INVALID",
            ArchiveError::Locked(_) => "ARCHIVE_LOCKED",
            ArchiveError::Segment { source, .. } => source.code(),
            ArchiveError::Tiles(error) => error.code(),
            ArchiveError::Note { .. } => "ARCHIVE_CHECKPOINT_INVALID",
            ArchiveError::NothingSealed => "NOTHING_SEALED",
            ArchiveError::AheadOfLog { .. } => "ARCHIVE_AHEAD_OF_LOG",
            ArchiveError::AnotherLog { .. } => "ARCHIVE_OF_ANOTHER_LOG",
            ArchiveError::Event { .. } => "ARCHIVE_EVENT_DAMAGED",
            ArchiveError::RootMismatch { .. } => "ARCHIVE_ROOT_MISMATCH",
        }
    }

    /// For `map_err` of something done to a file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
        move |source| ArchiveError::Io { action, path: path.to_owned(), source }
    }
}
