//! What is visible and not sealed, as leaves.

use bpc_core::job::STREAM_TYPE;
use bpc_core::merkle::event_leaf;
use bpc_core::{Hash, StreamId, Version};
use sqlx::postgres::PgRow;
use sqlx::{Decode, PgConnection, Postgres, Row, Type};
use uuid::Uuid;

use crate::error::StoreError;
use crate::seal::{Found, IdRange, Pending, log_stream};

use super::cohort::{Members, ROW_IDS};

/// Rows of cohorts are fetched as if they were half full. If they are fuller, a pass over a backlog fetches some in
/// vain; if they are not, it ends earlier.
const COHORT_MEAN: usize = ROW_IDS as usize / 2;

/// At most `limit` events in the gaps, and as many behind the highest sealed id.
pub(crate) async fn pending_events(
    conn: &mut PgConnection,
    highest_id: i64,
    gaps: &[IdRange],
    limit: usize,
) -> Result<Found, StoreError> {
    let rows_max = limit / COHORT_MEAN + 1;
    let row = sqlx::query(include_str!("sql/pending_events.sql"))
        .bind(highest_id)
        .bind(gaps.iter().map(|gap| gap.first).collect::<Vec<_>>())
        .bind(gaps.iter().map(|gap| gap.last).collect::<Vec<_>>())
        .bind(limit as i64)
        .bind(rows_max as i64)
        .fetch_one(conn)
        .await?;
    let singles = singles(&row, highest_id, limit)?;
    let cohorts = cohorts(&row, highest_id, rows_max)?;
    Ok(Found { late: singles.late.merge(cohorts.late, limit), new: singles.new.merge(cohorts.new, limit) })
}

/// Those that have a row of their own.
fn singles(row: &PgRow, highest_id: i64, limit: usize) -> Result<Found, StoreError> {
    let (ids, versions): (Vec<i64>, Vec<i32>) = (column(row, 0)?, column(row, 3)?);
    let (stream_types, stream_ids): (Vec<String>, Vec<Uuid>) = (column(row, 1)?, column(row, 2)?);
    let hashes: Vec<Vec<u8>> = column(row, 4)?;
    let (mut found, log) = (Found::default(), log_stream());
    let streams = stream_types.iter().zip(stream_ids.into_iter().map(StreamId));
    for ((id, (stream_type, stream_id)), (version, hash)) in
        ids.into_iter().zip(streams).zip(versions.into_iter().zip(hashes))
    {
        let hash = Hash::from_slice(&hash)
            .ok_or_else(|| StoreError::Damaged(format!("hash of the event with id {id}")))?;
        let leaf = event_leaf(stream_type, stream_id, Version(version as u32), &hash);
        let part = if id <= highest_id { &mut found.late } else { &mut found.new };
        part.events.push(Pending { id, leaf, is_of_log: stream_id == log });
    }
    for part in [&mut found.late, &mut found.new] {
        part.is_cut = part.events.len() >= limit;
    }
    Ok(found)
}

/// Those of cohorts: the log's own stream is in none.
fn cohorts(row: &PgRow, highest_id: i64, rows_max: usize) -> Result<Found, StoreError> {
    let (first_ids, ids): (Vec<i64>, Vec<i64>) = (column(row, 5)?, column(row, 6)?);
    let versions: Vec<i32> = column(row, 7)?;
    let (stream_ids, hashes): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (column(row, 8)?, column(row, 9)?);
    let mut found = Found::default();
    let mut rows = [0, 0];
    for (((first_id, id), version), (stream_ids, hashes)) in
        first_ids.into_iter().zip(ids).zip(versions).zip(stream_ids.iter().zip(&hashes))
    {
        let Members { streams, hashes } = Members::of(id, stream_ids, hashes)?;
        let is_new = first_id > highest_id;
        rows[usize::from(is_new)] += 1;
        let part = if is_new { &mut found.new } else { &mut found.late };
        let version = Version(version as u32);
        let events = (id..).zip(streams.iter().zip(hashes)).skip((first_id - id) as usize);
        part.events.extend(events.map(|(id, (stream_id, hash))| {
            let stream_id = StreamId(Uuid::from_bytes(*stream_id));
            let leaf = event_leaf(STREAM_TYPE, stream_id, version, &Hash(*hash));
            Pending { id, leaf, is_of_log: false }
        }));
    }
    [found.late.is_cut, found.new.is_cut] = rows.map(|count| count >= rows_max);
    Ok(found)
}

/// A column that is NULL if there is nothing in it.
fn column<'r, T>(row: &'r PgRow, index: usize) -> Result<Vec<T>, StoreError>
where
    Vec<T>: Decode<'r, Postgres> + Type<Postgres>,
{
    Ok(row.try_get::<Option<Vec<T>>, _>(index)?.unwrap_or_default())
}
