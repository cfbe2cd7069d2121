//! A segment: up to 65,536 sealed events in one file.
//!
//! The file is a Zstandard file in the seekable format. `zstd -dc` turns it into the canonical bytes
//! of its events, one line each, which is all there is to keep. What stands beside them, in frames
//! that a decompressor skips, follows from the log: where the segment begins, and the hash before
//! each event whose predecessor is in another segment, so that any segment can be checked alone.

mod chain;
mod error;
mod format;
mod frame;
mod read;
mod write;

pub use chain::{Link, SegmentChain};
pub use error::SegmentError;
pub use format::{EVENTS_PER_FRAME, EVENTS_PER_SEGMENT, FORMAT, Header};
pub use frame::Frame;
pub use read::{Frames, Segment};
pub use write::{SegmentWriter, Written};
