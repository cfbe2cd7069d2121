//! Events on their way from a segment to the checkers.

use std::collections::HashSet;

use bpc_core::{Hash, StreamId, Version};

use crate::archive::Archive;
use crate::manifest::SegmentEntry;
use crate::place::place;
use crate::segment::{EVENTS_PER_FRAME, EVENTS_PER_SEGMENT, SegmentError};

/// Frames in a batch, and bytes after which none is added.
const FRAMES_MAX: usize = 16;
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Some frames of one segment.
pub(super) struct Batch {
    /// Position of the first event.
    pub(super) first: u64,
    raw: Vec<u8>,
    ends: Vec<usize>,
    pub(super) events: Vec<Placed>,
}

/// What is known of an event before it is checked.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// Stream and version, if the bytes say so.
    pub(super) place: Option<(StreamId, Version)>,
    /// The hash before it, as the segment says.
    pub(super) previous: Option<Hash>,
    /// Is its predecessor in an earlier segment, or nowhere?
    pub(super) begins_here: bool,
    /// Which checker follows its stream.
    pub(super) shard: u8,
}

impl Batch {
    /// Number, position and bytes of each event.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let pairs = starts.zip(self.ends.iter().copied()).enumerate();
        pairs.map(|(number, (start, end))| (number, self.first + number as u64, &self.raw[start..end]))
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn begin(first: u64) -> Self {
        Batch { first, raw: Vec::new(), ends: Vec::new(), events: Vec::new() }
    }

    fn is_full(&self) -> bool {
        self.len() >= FRAMES_MAX * EVENTS_PER_FRAME || self.raw.len() >= BYTES_MAX
    }
}

/// Read a segment in batches, whose file must be the one that the manifest names. `each` gets a batch, `false`
/// ends the reading.
pub(super) fn read_segment(
    archive: &Archive,
    entry: &SegmentEntry,
    shard: &dyn Fn(StreamId) -> u8,
    each: &mut dyn FnMut(Batch) -> bool,
) -> Result<(), SegmentError> {
    let segment = archive.segment(entry)?;
    let mut placing = Placing { shard, seen: HashSet::new(), previous: segment.previous_entries() };
    let mut frames = segment.frames()?;
    let mut batch = Batch::begin(entry.first);
    while let Some(frame) = frames.next_frame()? {
        for (position, event_bytes) in frame.events() {
            batch.raw.extend_from_slice(event_bytes);
            batch.ends.push(batch.raw.len());
            batch.events.push(placing.place((position % EVENTS_PER_SEGMENT) as u16, event_bytes));
        }
        if batch.is_full() {
            let next = Batch::begin(batch.first + batch.len() as u64);
            if !each(std::mem::replace(&mut batch, next)) {
                return Ok(());
            }
        }
    }
    if batch.len() > 0 && !each(batch) {
        return Ok(());
    }
    match frames.finish()? {
        found if found == entry.sha256 => Ok(()),
        found => Err(SegmentError::Malformed(format!(
            "its SHA-256 is {found}, the manifest says {}",
            entry.sha256
        ))),
    }
}

/// What of a segment was seen so far.
struct Placing<'s> {
    shard: &'s dyn Fn(StreamId) -> u8,
    seen: HashSet<StreamId>,
    /// Hashes before events that are still to come.
    previous: &'s [(u16, Hash)],
}

impl Placing<'_> {
    fn place(&mut self, index: u16, event_bytes: &[u8]) -> Placed {
        let place = place(event_bytes);
        let previous = match self.previous.split_first() {
            Some(((at, hash), rest)) if *at == index => {
                self.previous = rest;
                Some(*hash)
            }
            _ => None,
        };
        Placed {
            place,
            previous,
            begins_here: place.is_some_and(|(stream, _)| self.seen.insert(stream)),
            shard: place.map_or(0, |(stream, _)| (self.shard)(stream)),
        }
    }
}
