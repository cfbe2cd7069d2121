//! One stream out of an archive: what a proof is made of.

use std::sync::Mutex;

use bpc_core::{Hash, StreamId, chain_hash};

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::fold::on_all_cores;
use crate::place::place;

/// An event of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedEvent {
    /// Its place in the sealed order.
    pub position: u64,
    /// `SHA-256(prev_hash || event_bytes)`, from the bytes of all events of the stream so far.
    pub event_hash: Hash,
    /// The record.
    pub event_bytes: Vec<u8>,
}

impl Archive {
    /// All events of a stream in order; none if there is no such stream. There is no index: all segments are
    /// read, on all cores. With [`Archive::hash`] and [`Archive::checkpoint`] this is all that a proof needs.
    pub fn stream(&self, stream: StreamId) -> Result<Vec<ArchivedEvent>, ArchiveError> {
        let found = Mutex::new(Vec::new());
        let segments = &self.manifest().segments;
        on_all_cores::<ArchiveError>(segments.len(), |number| {
            let entry = &segments[number];
            let unreadable = |source| ArchiveError::Segment { file: entry.file.clone(), source };
            let segment = self.segment(entry).map_err(unreadable)?;
            let mut frames = segment.frames().map_err(unreadable)?;
            for index in 0..segment.frame_count() {
                let frame = frames.frame(index).map_err(unreadable)?;
                let is_wanted = |event: &(u64, &[u8])| place(event.1).is_some_and(|(said, _)| said == stream);
                let events = frame.events().filter(is_wanted);
                let events = events.map(|(position, event_bytes)| (position, event_bytes.to_vec()));
                found.lock().expect("nobody panics with it").extend(events);
            }
            Ok(true)
        })?;
        let mut found: Vec<(u64, Vec<u8>)> = found.into_inner().expect("nobody panics with it");
        found.sort_unstable_by_key(|(position, _)| *position);
        let mut previous = Hash::ZERO;
        let chained = found.into_iter().map(|(position, event_bytes)| {
            previous = chain_hash(&previous, &event_bytes);
            ArchivedEvent { position, event_hash: previous, event_bytes }
        });
        Ok(chained.collect())
    }
}
