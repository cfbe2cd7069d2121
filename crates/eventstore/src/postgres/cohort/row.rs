//! A row of many events, taken apart.

use bpc_core::{COHORT_MAX, Hash, StreamId, TenantId};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::error::StoreError;
use crate::read::StoredEvent;

/// Streams and hashes of a row of cohort events, in order; at least one.
#[derive(Clone, Copy)]
pub(crate) struct Members<'r> {
    pub(crate) streams: &'r [[u8; 16]],
    pub(crate) hashes: &'r [[u8; 32]],
}

impl<'r> Members<'r> {
    /// Of the row with that id.
    pub(crate) fn of(id: i64, stream_ids: &'r [u8], event_hashes: &'r [u8]) -> Result<Self, StoreError> {
        match (stream_ids.as_chunks(), event_hashes.as_chunks()) {
            ((streams, []), (hashes, []))
                if streams.len() == hashes.len() && (1..=COHORT_MAX).contains(&streams.len()) =>
            {
                Ok(Members { streams, hashes })
            }
            _ => Err(damaged(id)),
        }
    }

    pub(crate) fn first(self) -> StreamId {
        StreamId(Uuid::from_bytes(self.streams[0]))
    }

    pub(crate) fn last(self) -> StreamId {
        StreamId(Uuid::from_bytes(self.streams[self.streams.len() - 1]))
    }

    /// The hash of that stream's event, if there is one.
    pub(crate) fn hash_of(self, stream: StreamId) -> Option<Hash> {
        let place = self.streams.binary_search(stream.0.as_bytes()).ok()?;
        Some(Hash(self.hashes[place]))
    }
}

fn damaged(id: i64) -> StoreError {
    StoreError::Damaged(format!("the row of cohort events with id {id}"))
}

/// A row of either table, as the statements beside this file select it.
pub(crate) enum LogRow {
    /// Of `events`.
    Single(StoredEvent),
    /// Of `cohort_events`.
    Cohort(CohortRow),
}

/// Events of one version of jobs of a cohort.
pub(crate) struct CohortRow {
    /// What they share, and the first of their streams; their hashes and lines in one piece.
    shared: StoredEvent,
    stream_ids: Vec<u8>,
}

impl LogRow {
    pub(crate) fn of(row: &PgRow) -> Result<LogRow, sqlx::Error> {
        let stream_ids: Option<Vec<u8>> = row.try_get(9)?;
        let event = StoredEvent {
            id: row.try_get(0)?,
            tenant_id: TenantId(row.try_get(1)?),
            stream_type: row.try_get(2)?,
            stream_id: StreamId(row.try_get(3)?),
            version: row.try_get(4)?,
            event_type: row.try_get(5)?,
            occurred_at: row.try_get(6)?,
            event_hash: row.try_get(7)?,
            event_bytes: row.try_get(8)?,
        };
        Ok(match stream_ids {
            None => LogRow::Single(event),
            Some(stream_ids) => LogRow::Cohort(CohortRow { shared: event, stream_ids }),
        })
    }

    /// Stream and version of the first event in it.
    pub(crate) fn place(&self) -> (StreamId, i32) {
        let (LogRow::Single(event) | LogRow::Cohort(CohortRow { shared: event, .. })) = self;
        (event.stream_id, event.version)
    }

    /// Its events, in order.
    pub(crate) fn events(self) -> Result<Vec<StoredEvent>, StoreError> {
        match self {
            LogRow::Single(event) => Ok(vec![event]),
            LogRow::Cohort(row) => row.events_of(|_| true),
        }
    }

    /// Its event of that stream, if there is one.
    pub(crate) fn event_of(self, stream: StreamId) -> Result<Option<StoredEvent>, StoreError> {
        match self {
            LogRow::Single(event) => Ok((event.stream_id == stream).then_some(event)),
            LogRow::Cohort(row) => row.events_of(|it| it == stream).map(|events| events.into_iter().next()),
        }
    }
}

impl CohortRow {
    fn events_of(&self, is_wanted: impl Fn(StreamId) -> bool) -> Result<Vec<StoredEvent>, StoreError> {
        let shared = &self.shared;
        let Members { streams, hashes } = Members::of(shared.id, &self.stream_ids, &shared.event_hash)?;
        let mut events = Vec::new();
        let mut lines = shared.event_bytes.split(|byte| *byte == b'\n');
        for ((stream_id, hash), id) in streams.iter().zip(hashes).zip(shared.id..) {
            let line = lines.next().ok_or_else(|| damaged(shared.id))?;
            let stream_id = StreamId(Uuid::from_bytes(*stream_id));
            if is_wanted(stream_id) {
                events.push(StoredEvent {
                    id,
                    stream_id,
                    tenant_id: shared.tenant_id,
                    stream_type: shared.stream_type.clone(),
                    version: shared.version,
                    event_type: shared.event_type.clone(),
                    occurred_at: shared.occurred_at,
                    event_hash: hash.to_vec(),
                    event_bytes: line.to_vec(),
                });
            }
        }
        if lines.next().is_some() { Err(damaged(shared.id)) } else { Ok(events) }
    }
}
