//! Why a segment cannot be read.

use std::io;

/// A file that is not the segment it should be.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The file cannot be read at all.
    #[error("the file cannot be read")]
    Io(#[source] io::Error),
    /// The bytes around the events break the format.
    #[error("the file is not a segment: {0}")]
    Malformed(String),
    /// A frame does not decompress to what it should hold.
    #[error("events {first} to {last} of the log cannot be read: {reason}")]
    Frame {
        /// Position of the first event of the frame.
        first: u64,
        /// Position of the last.
        last: u64,
        /// What is wrong.
        reason: String,
    },
    /// An event of which neither the event before is here, nor its hash.
    #[error("the hash before event {position} of the log is missing")]
    PreviousMissing {
        /// Where it stands.
        position: u64,
    },
}

impl SegmentError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            SegmentError::Io(_) => "SEGMENT_UNREADABLE",
            SegmentError::Malformed(_) => "SEGMENT_MALFORMED",
            SegmentError::Frame { .. } => "SEGMENT_FRAME_DAMAGED",
            SegmentError::PreviousMissing { .. } => "SEGMENT_PREVIOUS_MISSING",
        }
    }
}

impl From<io::Error> for SegmentError {
    fn from(error: io::Error) -> Self {
        SegmentError::Io(error)
    }
}
