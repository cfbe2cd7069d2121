//! What the quick check leaves to the exact look.

use std::collections::HashMap;

use bpc_core::StreamId;

/// Streams that want an exact look, and why.
#[derive(Debug, Default)]
pub struct Suspects {
    /// By stream, the insertion ids of the events that gave rise to it.
    pub streams: HashMap<StreamId, Vec<i64>>,
    ids: usize,
    /// Something cannot be put down to a stream: everything wants an exact look.
    pub all: bool,
}

/// More than this is not told apart any more.
const SUSPECTS_MAX: usize = 100_000;

impl Suspects {
    pub(super) fn add(&mut self, stream: StreamId, id: i64) {
        if let Some(ids) = self.one_more(stream) {
            ids.push(id);
        }
    }

    /// A stream, because of events that have no insertion ids.
    pub(super) fn add_stream(&mut self, stream: StreamId) {
        self.one_more(stream);
    }

    /// Those of another checker as well.
    pub fn extend(&mut self, other: Suspects) {
        self.all |= other.all;
        for (stream, ids) in other.streams {
            self.add_stream(stream);
            ids.into_iter().for_each(|id| self.add(stream, id));
        }
    }

    fn one_more(&mut self, stream: StreamId) -> Option<&mut Vec<i64>> {
        if self.ids == SUSPECTS_MAX {
            self.all = true;
            return None;
        }
        self.ids += 1;
        Some(self.streams.entry(stream).or_default())
    }
}
