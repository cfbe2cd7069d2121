//! Single events by their insertion id, for what is said about them.

use bpc_core::merkle::event_leaf;
use bpc_core::{Envelope, Hash, StreamId, job};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;

use super::cohort::Cohort;

/// The stream and version of an event as its columns have them, unless they are what is wrong with it.
pub(super) async fn stream_of(
    conn: &mut Conn<'_>,
    id: i64,
) -> Result<Option<(String, StreamId, i64)>, StoreError> {
    let sql = "SELECT stream_type, stream_id, version FROM events WHERE id = $1";
    let row: Result<Option<(String, Uuid, i32)>, _> =
        portable!(&mut *conn, c => sqlx::query_as(sql).bind(id).fetch_optional(&mut **c).await);
    if let Ok(Some((stream_type, stream, version))) = row {
        return Ok(Some((stream_type, StreamId(stream), version.into())));
    }
    let member = match conn {
        Conn::Postgres(conn) => member(conn, id).await?,
        Conn::Sqlite(_) => None,
    };
    Ok(member.map(|member| (job::STREAM_TYPE.to_owned(), member.stream, member.version)))
}

/// The leaf of an event, if there is one with that id: `None` in there if it does not say what it is.
pub(super) async fn leaf_of(conn: &mut Conn<'_>, id: i64) -> Result<Option<Option<Hash>>, StoreError> {
    let sql = "SELECT event_hash, event_bytes FROM events WHERE id = $1";
    let row: Option<(Vec<u8>, Vec<u8>)> =
        portable!(&mut *conn, c => sqlx::query_as(sql).bind(id).fetch_optional(&mut **c).await)?;
    let record = match (row, conn) {
        (Some(row), _) => Some(row),
        (None, Conn::Postgres(conn)) => {
            member(conn, id).await?.map(|member| (member.event_hash.to_vec(), member.event_bytes))
        }
        (None, Conn::Sqlite(_)) => None,
    };
    Ok(record.map(|(hash, bytes)| {
        let (envelope, hash) = (Envelope::read(&bytes).ok()?, Hash::from_slice(&hash)?);
        Some(event_leaf(&envelope.stream_type, envelope.stream_id, envelope.version, &hash))
    }))
}

/// One event of a cohort.
struct Member {
    stream: StreamId,
    version: i64,
    event_hash: [u8; 32],
    event_bytes: Vec<u8>,
}

type Columns = (i64, i32, Uuid, Uuid, Vec<u8>, Vec<u8>, Vec<u8>);

/// What is in a row that is no cohort is not there.
async fn member(conn: &mut PgConnection, id: i64) -> Result<Option<Member>, StoreError> {
    let sql = include_str!("../postgres/verify/cohort_of_id.sql");
    let row: Option<Columns> = match sqlx::query_as(sql).bind(id).fetch_optional(conn).await {
        Err(sqlx::Error::ColumnDecode { .. }) => None,
        row => row?,
    };
    let Some((first_id, version, first, last, stream_ids, event_hashes, event_lines)) = row else {
        return Ok(None);
    };
    let cohort = Cohort {
        id: first_id,
        first_stream_id: first.as_bytes(),
        last_stream_id: last.as_bytes(),
        stream_ids: &stream_ids,
        event_hashes: &event_hashes,
        event_lines: &event_lines,
    };
    let mut found = None;
    let read = cohort.events(|place, line| {
        if first_id + place as i64 == id {
            found = Some((place, line));
        }
    });
    Ok(read.ok().and(found).map(|(place, line)| Member {
        stream: StreamId(Uuid::from_bytes(*cohort.stream_id(place))),
        version: version.into(),
        event_hash: *cohort.event_hash(place),
        event_bytes: event_lines[line].to_vec(),
    }))
}
