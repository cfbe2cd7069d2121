//! Reading the sealed order of a store, page by page.

use std::collections::HashMap;

use bpc_core::{Hash, StreamId, Version};
use bpc_eventstore::seal::{SealedEvent, read_sealed};
use bpc_eventstore::{Conn, Store, StoreError};
use sqlx::Row;
use uuid::Uuid;

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

/// So many rows in one statement.
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
        let rows: Vec<(Uuid, Vec<u8>)> = match tx.conn() {
            Conn::Postgres(conn) => {
                let sql = "SELECT stream_id, event_hash FROM unnest($1::uuid[], $2::int[]) AS wanted(stream_id, version) \
                    JOIN events USING (stream_id, version)";
                let streams: Vec<Uuid> = events.iter().map(|(stream, _)| stream.0).collect();
                let versions: Vec<i32> = events.iter().map(|(_, version)| version.0 as i32).collect();
                sqlx::query_as(sql).bind(streams).bind(versions).fetch_all(conn).await?
            }
            Conn::Sqlite(conn) => {
                let sql = "WITH wanted(stream_id, version) AS (VALUES (?, ?)) SELECT e.stream_id, e.event_hash \
                    FROM wanted CROSS JOIN events e ON e.stream_id = wanted.stream_id AND e.version = wanted.version";
                let rows =
                    bpc_eventstore::sqlite::fetch_rows(conn, sql, events, |query, (stream, version)| {
                        query.bind(stream.0).bind(version.0)
                    })
                    .await?;
                rows.iter()
                    .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
                    .collect::<Result<_, sqlx::Error>>()?
            }
        };
        for (stream, hash) in rows {
            let damaged = || StoreError::Damaged(format!("a hash of stream {stream}"));
            hashes.insert(StreamId(stream), Hash::from_slice(&hash).ok_or_else(damaged)?);
        }
    }
    Ok(hashes)
}
