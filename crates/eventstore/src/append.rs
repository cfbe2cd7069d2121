//! Appending to streams: the version that the caller expects, checked against the head.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bpc_core::envelope::{Draft, Envelope, Head};
use bpc_core::{EventId, EventRecord, Hash, StreamId, TenantId, Timestamp, Version};
use uuid::Uuid;

use crate::database::Conn;
use crate::entropy::entropy;
use crate::error::StoreError;
use crate::{postgres, sqlite};

/// Events for one stream, decided on a version of it.
#[derive(Clone, Debug)]
pub struct StreamAppend {
    /// Whose stream.
    pub tenant_id: TenantId,
    /// What it is about.
    pub stream_type: Arc<str>,
    /// Which.
    pub stream_id: StreamId,
    /// The version the events were decided on; zero for a new stream.
    pub expected: Version,
    /// The events.
    pub events: Vec<Draft>,
}

/// Who causes events, when and why.
#[derive(Clone, Copy, Debug)]
pub struct Cause<'a> {
    /// Who.
    pub actor: &'a str,
    /// When.
    pub now: Timestamp,
    /// By which event.
    pub causation_id: Option<EventId>,
    /// In which request.
    pub correlation_id: Option<Uuid>,
}

/// The newest event of a stream, as stored.
#[derive(Clone, Debug)]
pub struct StreamHead {
    /// Which stream.
    pub stream_id: StreamId,
    /// Whose.
    pub tenant_id: TenantId,
    /// What it is about.
    pub stream_type: String,
    /// Its end.
    pub head: Head,
}

impl<'r, R> sqlx::FromRow<'r, R> for StreamHead
where
    R: sqlx::Row,
    (Uuid, Uuid, String, i32, Vec<u8>): sqlx::FromRow<'r, R>,
{
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        let (stream_id, tenant_id, stream_type, version, hash) = sqlx::FromRow::from_row(row)?;
        let hash: Vec<u8> = hash;
        let hash = Hash::from_slice(&hash)
            .ok_or_else(|| sqlx::Error::Decode("event_hash is not 32 bytes".into()))?;
        let head = Head { version: Version(version as u32), hash };
        Ok(StreamHead { stream_id: StreamId(stream_id), tenant_id: TenantId(tenant_id), stream_type, head })
    }
}

/// Heads of those of `streams` that exist.
pub async fn stream_heads(
    conn: &mut Conn<'_>,
    streams: &[StreamId],
) -> Result<HashMap<StreamId, StreamHead>, StoreError> {
    if streams.is_empty() {
        return Ok(HashMap::new());
    }
    let heads = match conn {
        Conn::Postgres(conn) => postgres::stream_heads(conn, streams).await?,
        Conn::Sqlite(conn) => sqlite::stream_heads(conn, streams).await?,
    };
    let mut newest: HashMap<StreamId, StreamHead> = HashMap::with_capacity(heads.len());
    for head in heads {
        if newest.get(&head.stream_id).is_none_or(|known| known.head.version < head.head.version) {
            newest.insert(head.stream_id, head);
        }
    }
    Ok(newest)
}

/// The records of an append, chained on `head`, which moves along.
pub fn records(
    append: &StreamAppend,
    head: &mut Head,
    cause: Cause<'_>,
) -> Result<Vec<EventRecord>, StoreError> {
    let mut records = Vec::with_capacity(append.events.len());
    for draft in &append.events {
        let envelope = Envelope {
            actor: Cow::Borrowed(cause.actor),
            causation_id: cause.causation_id,
            correlation_id: cause.correlation_id,
            event_id: EventId::fresh(cause.now, entropy()),
            event_type: Cow::Borrowed(&draft.event_type),
            occurred_at: cause.now,
            payload: draft.payload.as_bytes(),
            schema: draft.schema,
            stream_id: append.stream_id,
            stream_type: Cow::Borrowed(&append.stream_type),
            tenant_id: append.tenant_id,
            version: head.version.next(),
        };
        let record = envelope.record(&head.hash, append.stream_type.clone(), draft.event_type.clone())?;
        *head = Head { version: record.version, hash: record.event_hash };
        records.push(record);
    }
    Ok(records)
}

/// Where an append begins, if the stream is as the caller expects it.
pub fn check_head(append: &StreamAppend, stored: Option<&StreamHead>) -> Result<Head, StoreError> {
    let head = match stored {
        None => Head::NONE,
        Some(stored) if stored.tenant_id != append.tenant_id || stored.stream_type != *append.stream_type => {
            return Err(StoreError::StreamMismatch(append.stream_id));
        }
        Some(stored) => stored.head,
    };
    if head.version == append.expected {
        Ok(head)
    } else {
        let (stream_id, expected, found) = (append.stream_id, append.expected, head.version);
        Err(StoreError::VersionConflict { stream_id, expected, found })
    }
}

/// Append to several streams, all or nothing with the transaction that `conn` is in. Returns the
/// records, in order.
pub async fn append_to_streams(
    conn: &mut Conn<'_>,
    appends: &[StreamAppend],
    cause: Cause<'_>,
) -> Result<Vec<EventRecord>, StoreError> {
    let ids: Vec<StreamId> = appends.iter().map(|append| append.stream_id).collect();
    let mut heads = stream_heads(conn, &ids).await?;
    let mut all = Vec::new();
    for append in appends {
        let mut head = check_head(append, heads.get(&append.stream_id))?;
        all.extend(records(append, &mut head, cause)?);
        if head.version > append.expected {
            // The same stream may come again further down.
            let (stream_id, tenant_id) = (append.stream_id, append.tenant_id);
            let stream_type = append.stream_type.to_string();
            heads.insert(stream_id, StreamHead { stream_id, tenant_id, stream_type, head });
        }
    }
    write_events(conn, &all).await?;
    Ok(all)
}

/// The one append of each database: everything that is ever written to the log comes through here
/// or through the statements that this and `append_cohorts` compose.
pub async fn write_events(conn: &mut Conn<'_>, events: &[EventRecord]) -> Result<(), StoreError> {
    match conn {
        Conn::Postgres(conn) => {
            let mut statement = postgres::Composed::default();
            postgres::append_events(events, &mut statement)?;
            statement.execute(conn).await
        }
        Conn::Sqlite(conn) => sqlite::append_events(conn, events).await,
    }
}
