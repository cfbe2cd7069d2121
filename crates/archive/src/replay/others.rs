//! The events of streams that are no jobs, read in order.

use crate::cache::Caches;
use crate::segment::{EVENTS_PER_FRAME, EVENTS_PER_SEGMENT, SegmentError};

/// Positions, one bit each.
pub(super) struct Positions {
    bits: Vec<u64>,
}

impl Positions {
    pub(super) fn below(size: u64) -> Self {
        Positions { bits: vec![0; size.div_ceil(64) as usize] }
    }

    pub(super) fn insert(&mut self, position: u64) {
        self.bits[(position / 64) as usize] |= 1 << (position % 64);
    }

    pub(super) fn contains(&self, position: u64) -> bool {
        self.bits[(position / 64) as usize] & 1 << (position % 64) != 0
    }

    /// Is any of a frame's positions among them? Frames begin at multiples of 256.
    fn any_in_frame(&self, first: u64) -> bool {
        let from = (first / 64) as usize;
        let until = (from + EVENTS_PER_FRAME / 64).min(self.bits.len());
        self.bits[from..until].iter().any(|bits| *bits != 0)
    }
}

/// Read the events at these positions, frame by frame; frames without any are not even decompressed. `each`
/// gets those of a frame; `false` ends the whole.
pub(super) fn read_others(
    caches: &Caches,
    positions: &Positions,
    each: impl Fn(Vec<Vec<u8>>) -> bool,
) -> Result<(), SegmentError> {
    let archive = caches.archive();
    for entry in &archive.manifest().segments {
        let first = |frame: usize| entry.first + (frame * EVENTS_PER_FRAME) as u64;
        let frames = (entry.events.min(EVENTS_PER_SEGMENT) as usize).div_ceil(EVENTS_PER_FRAME);
        let wanted: Vec<usize> = (0..frames).filter(|frame| positions.any_in_frame(first(*frame))).collect();
        if wanted.is_empty() {
            continue;
        }
        let segment = archive.segment(entry)?;
        let mut reader = segment.frames()?;
        for number in wanted {
            let frame = reader.frame(number)?;
            let events = frame.events().filter(|(position, _)| positions.contains(*position));
            if !each(events.map(|(_, event_bytes)| event_bytes.to_vec()).collect()) {
                return Ok(());
            }
        }
    }
    Ok(())
}
