//! Reading the whole log, stream by stream.

use bpc_core::StreamId;
use bpc_eventstore::{Conn, portable};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use uuid::Uuid;

use super::error::ReplayError;

/// What a replay needs of a stored event: its places, its hash, its bytes.
pub(super) struct LogEvent {
    /// Insertion id.
    pub(super) id: i64,
    pub(super) stream_id: StreamId,
    pub(super) version: i32,
    pub(super) event_hash: Vec<u8>,
    pub(super) event_bytes: Vec<u8>,
}

type Columns = (i64, Uuid, i32, Vec<u8>, Vec<u8>);

const LOG: &str =
    "SELECT id, stream_id, version, event_hash, event_bytes FROM events ORDER BY stream_id, version";

/// Every event by stream and version. One statement for all, in the order of its index: rows arrive
/// while others are folded, and only a few of them are in memory.
pub(super) fn events<'c>(conn: &'c mut Conn<'_>) -> BoxStream<'c, Result<LogEvent, ReplayError>> {
    let rows: BoxStream<'c, Result<Columns, sqlx::Error>> =
        portable!(conn, c => sqlx::query_as(LOG).fetch(&mut **c));
    let event = |(id, stream_id, version, event_hash, event_bytes)| LogEvent {
        id,
        stream_id: StreamId(stream_id),
        version,
        event_hash,
        event_bytes,
    };
    rows.map(move |row| row.map(event).map_err(ReplayError::source)).boxed()
}
