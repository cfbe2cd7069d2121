//! Reading events back.

use bpc_core::envelope::{Envelope, EnvelopeError};
use bpc_core::{Hash, StreamId, TenantId, Timestamp, Version};
use uuid::Uuid;

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;

/// A row of the log: the record and the copies beside it, unchecked.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Insertion id.
    pub id: i64,
    /// Copied: whose.
    pub tenant_id: TenantId,
    /// Copied: what the stream is about.
    pub stream_type: String,
    /// Copied: which stream.
    pub stream_id: StreamId,
    /// Copied: place in the stream.
    pub version: i32,
    /// Copied: what happened.
    pub event_type: String,
    /// Copied: when.
    pub occurred_at: i64,
    /// The stored hash.
    pub event_hash: Vec<u8>,
    /// The record.
    pub event_bytes: Vec<u8>,
}

impl StoredEvent {
    /// What the bytes say.
    pub fn envelope(&self) -> Result<Envelope<'_>, EnvelopeError> {
        Envelope::read(&self.event_bytes)
    }

    /// The stored hash, if it has the length of one.
    pub fn hash(&self) -> Result<Hash, StoreError> {
        Hash::from_slice(&self.event_hash).ok_or_else(|| {
            StoreError::Damaged(format!("hash of {} version {}", self.stream_id, self.version))
        })
    }

    /// Copied: when.
    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.occurred_at)
    }
}

type Columns = (i64, Uuid, String, Uuid, i32, String, i64, Vec<u8>, Vec<u8>);

impl From<Columns> for StoredEvent {
    fn from(row: Columns) -> Self {
        StoredEvent {
            id: row.0,
            tenant_id: TenantId(row.1),
            stream_type: row.2,
            stream_id: StreamId(row.3),
            version: row.4,
            event_type: row.5,
            occurred_at: row.6,
            event_hash: row.7,
            event_bytes: row.8,
        }
    }
}

const STREAM: &str = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes \
     FROM events WHERE stream_id = $1 AND tenant_id = $2 ORDER BY version";

/// All events of one stream of a tenant, oldest first; empty if there is none.
pub async fn read_stream(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    stream: StreamId,
) -> Result<Vec<StoredEvent>, StoreError> {
    let rows: Vec<Columns> = portable!(conn, c => {
        sqlx::query_as(STREAM).bind(stream.0).bind(tenant.0).fetch_all(&mut **c).await
    })?;
    Ok(rows.into_iter().map(StoredEvent::from).collect())
}

const AFTER: &str = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes \
     FROM events WHERE (stream_id, version) > ($1, $2) ORDER BY stream_id, version LIMIT $3";

/// A page of the whole log ordered by stream and version, behind the given place. For readers that
/// need every stream in one piece and flat memory, not an order of time.
pub async fn read_streams_after(
    conn: &mut Conn<'_>,
    stream: StreamId,
    version: Version,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    let rows: Vec<Columns> = portable!(conn, c => {
        sqlx::query_as(AFTER)
            .bind(stream.0)
            .bind(version.0 as i32)
            .bind(i64::from(limit))
            .fetch_all(&mut **c)
            .await
    })?;
    Ok(rows.into_iter().map(StoredEvent::from).collect())
}

const BY_ID: &str = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes \
     FROM events WHERE id BETWEEN $1 AND $2 ORDER BY id";

/// Ids that far apart are still read together, and what is between them is passed over.
const APART_MAX: i64 = 64;

/// The events with these insertion ids, in the order of their ids; those that do not exist are left out.
pub(crate) async fn read_events_by_id(
    conn: &mut Conn<'_>,
    ids: &[i64],
) -> Result<Vec<StoredEvent>, StoreError> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    let mut events = Vec::with_capacity(ids.len());
    for run in ids.chunk_by(|a, b| b.saturating_sub(*a) <= APART_MAX) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let rows: Vec<Columns> = portable!(conn, c => {
            sqlx::query_as(BY_ID).bind(first).bind(last).fetch_all(&mut **c).await
        })?;
        let wanted = rows.into_iter().filter(|row| run.binary_search(&row.0).is_ok());
        events.extend(wanted.map(StoredEvent::from));
    }
    Ok(events)
}
