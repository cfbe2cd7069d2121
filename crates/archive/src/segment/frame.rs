//! One decompressed frame.

use memchr::memchr_iter;

/// Up to 256 events in order.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Position of the first.
    pub first: u64,
    raw: &'a [u8],
    /// Where each line feed stands.
    ends: &'a [u32],
}

impl<'a> Frame<'a> {
    /// Find the lines of a frame that should hold `events` of them; `ends` is room to keep them in.
    pub(super) fn cut(
        first: u64,
        raw: &'a [u8],
        events: usize,
        ends: &'a mut Vec<u32>,
    ) -> Result<Frame<'a>, String> {
        ends.clear();
        ends.extend(memchr_iter(b'\n', raw).map(|end| end as u32));
        let is_whole = ends.last().map(|&end| end as usize + 1).unwrap_or(0) == raw.len();
        if ends.len() == events && is_whole {
            Ok(Frame { first, raw, ends })
        } else {
            Err(format!("it holds {} lines, not {events}", ends.len()))
        }
    }

    /// How many events.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: a frame holds at least one event.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of one of them.
    pub fn event(&self, index: usize) -> &'a [u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize + 1);
        &self.raw[start..self.ends[index] as usize]
    }

    /// Position and bytes of each.
    pub fn events(self) -> impl Iterator<Item = (u64, &'a [u8])> {
        (0..self.len()).map(move |index| (self.first + index as u64, self.event(index)))
    }
}
