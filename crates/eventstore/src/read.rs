//! Reading events back.

use std::collections::HashMap;

use bpc_core::envelope::{Envelope, EnvelopeError};
use bpc_core::{Hash, StreamId, TenantId, Timestamp, Version};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use uuid::Uuid;

use crate::database::Conn;
use crate::error::StoreError;
use crate::postgres::cohort;
use crate::{postgres, sqlite};

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
    match conn {
        Conn::Postgres(conn) => cohort::read_stream(conn, tenant, stream).await,
        Conn::Sqlite(conn) => {
            let query = sqlx::query_as(STREAM).bind(stream.0).bind(tenant.0);
            let rows: Vec<Columns> = query.fetch_all(&mut **conn).await?;
            Ok(rows.into_iter().map(StoredEvent::from).collect())
        }
    }
}

const EVENT: &str = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes \
     FROM events WHERE stream_id = $1 AND version = $2 AND tenant_id = $3";

/// One event of a stream of a tenant, if it is there.
pub async fn read_event(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    stream: StreamId,
    version: Version,
) -> Result<Option<StoredEvent>, StoreError> {
    match conn {
        Conn::Postgres(conn) => cohort::read_event(conn, tenant, stream, version).await,
        Conn::Sqlite(conn) => {
            let query = sqlx::query_as(EVENT).bind(stream.0).bind(version.0).bind(tenant.0);
            let row: Option<Columns> = query.fetch_optional(&mut **conn).await?;
            Ok(row.map(StoredEvent::from))
        }
    }
}

/// Hashes of those of these events that are there.
pub async fn read_hashes(
    conn: &mut Conn<'_>,
    events: &[(StreamId, Version)],
) -> Result<HashMap<(StreamId, Version), Hash>, StoreError> {
    let rows = match conn {
        Conn::Postgres(conn) => postgres::read_hashes(conn, events).await?,
        Conn::Sqlite(conn) => sqlite::read_hashes(conn, events).await?,
    };
    let mut hashes = HashMap::with_capacity(events.len());
    for (stream, version, hash) in rows {
        let damaged = || StoreError::Damaged(format!("hash of {stream} version {version}"));
        let event = (StreamId(stream), Version(version as u32));
        hashes.insert(event, Hash::from_slice(&hash).ok_or_else(damaged)?);
    }
    if let Conn::Postgres(conn) = conn {
        let missing = events.iter().filter(|event| !hashes.contains_key(event));
        let missing = missing.map(|(stream, version)| (*stream, Some(*version))).collect();
        let found = cohort::cohort_heads(conn, missing).await?;
        hashes.extend(found.into_iter().map(|it| ((it.stream_id, it.head.version), it.head.hash)));
    }
    Ok(hashes)
}

const LOG: &str = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes \
     FROM events ORDER BY stream_id, version";

/// The whole log ordered by stream and version. One statement for all, in the order of an index: events arrive while
/// others are looked at, and only a few of them are in memory. For readers that need every stream in one piece, not an
/// order of time.
pub fn read_log<'c>(conn: &'c mut Conn<'_>) -> BoxStream<'c, Result<StoredEvent, StoreError>> {
    match conn {
        Conn::Postgres(conn) => cohort::read_log(conn),
        Conn::Sqlite(conn) => {
            let rows = sqlx::query_as::<_, Columns>(LOG).fetch(&mut **conn);
            rows.map(|row| row.map(StoredEvent::from).map_err(StoreError::from)).boxed()
        }
    }
}

const BY_ID: &str = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes \
     FROM events WHERE id BETWEEN $1 AND $2 ORDER BY id";

/// So many rows may be between two that are read together, and are passed over.
const APART_MAX: i64 = 64;

/// The events with these insertion ids, in the order of their ids; those that do not exist are left out.
pub(crate) async fn read_events_by_id(
    conn: &mut Conn<'_>,
    ids: &[i64],
) -> Result<Vec<StoredEvent>, StoreError> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    let apart_max = match conn {
        Conn::Postgres(_) => APART_MAX * cohort::ROW_IDS,
        Conn::Sqlite(_) => APART_MAX,
    };
    let mut events = Vec::with_capacity(ids.len());
    for run in ids.chunk_by(|a, b| b.saturating_sub(*a) <= apart_max) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let found = match conn {
            Conn::Postgres(conn) => cohort::read_ids(conn, first, last).await?,
            Conn::Sqlite(conn) => {
                let query = sqlx::query_as(BY_ID).bind(first).bind(last);
                let rows: Vec<Columns> = query.fetch_all(&mut **conn).await?;
                rows.into_iter().map(StoredEvent::from).collect()
            }
        };
        events.extend(found.into_iter().filter(|event| run.binary_search(&event.id).is_ok()));
    }
    Ok(events)
}
