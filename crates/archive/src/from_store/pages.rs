//! Reading the sealed order of a store, page by page.

use std::collections::HashMap;

use bpc_core::{Hash, StreamId, Version};
use bpc_eventstore::seal::{SealedEvent, read_sealed};
use bpc_eventstore::{Store, StoreError, read_hashes};

use crate::segment::EVENTS_PER_SEGMENT;
use crate::write::SealedBytes;

/// Events read at once. Positions never change, so each page is a transaction of its own and nothing holds a
/// database back from cleaning up.
const PAGE: u64 = 4096;

/// Events in order that all belong to one segment.
pub(super) struct Page(Vec<(SealedEvent, Hash)>);

/// The events from `from` on: at most a page, none beyond `end` or the end of a segment.
pub(super) async fn read_page(store: &Store, from: u64, end: u64) -> Result<Page, StoreError> {
    let room = EVENTS_PER_SEGMENT - from % EVENTS_PER_SEGMENT;
    let limit = PAGE.min(room).min(end.saturating_sub(from));
    let mut tx = store.begin_read().await?;
    let events = read_sealed(&mut tx.conn(), from, limit as usize).await?;
    if (events.len() as u64) < limit {
        return Err(StoreError::Damaged(format!("the sealed order ends before position {end}")));
    }
    let hashed = |sealed: SealedEvent| sealed.event.hash().map(|hash| (sealed, hash));
    events.into_iter().map(hashed).collect::<Result<_, _>>().map(Page)
}

impl Page {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Position behind the last event.
    pub(super) fn end(&self) -> u64 {
        self.0.last().map_or(0, |(event, _)| event.position + 1)
    }

    pub(super) fn sealed(&self) -> Vec<SealedBytes<'_>> {
        let mut events = Vec::with_capacity(self.0.len());
        for (sealed, event_hash) in &self.0 {
            events.push(SealedBytes {
                position: sealed.position,
                stream_id: sealed.event.stream_id,
                // A version that is none is refused by whoever reads the event.
                version: Version(u32::try_from(sealed.event.version).unwrap_or(0)),
                event_hash: *event_hash,
                event_bytes: &sealed.event.event_bytes,
            });
        }
        events
    }
}

/// So many in one statement.
const LOOKUP: usize = 500;

/// Hashes of events by stream, of which each is asked for once at most.
pub(super) async fn previous_hashes(
    store: &Store,
    events: &[(StreamId, Version)],
) -> Result<HashMap<StreamId, Hash>, StoreError> {
    let mut hashes = HashMap::with_capacity(events.len());
    if events.is_empty() {
        return Ok(hashes);
    }
    let mut tx = store.begin_read().await?;
    for events in events.chunks(LOOKUP) {
        let found = read_hashes(&mut tx.conn(), events).await?;
        hashes.extend(found.into_iter().map(|((stream, _), hash)| (stream, hash)));
    }
    Ok(hashes)
}
