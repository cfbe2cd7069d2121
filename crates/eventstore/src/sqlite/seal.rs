//! Sealing, in SQLite's own tongue.

use bpc_core::merkle::event_leaf;
use bpc_core::{Hash, StreamId, Version};
use futures_util::TryStreamExt;
use sqlx::{Row, SqliteConnection};
use uuid::Uuid;

use crate::error::StoreError;
use crate::seal::{Pending, Plan, log_stream};

use super::execute_rows;

/// Returns them in order of their ids.
pub(crate) async fn pending_events(
    conn: &mut SqliteConnection,
    highest_id: i64,
    limit: usize,
) -> Result<Vec<Pending>, StoreError> {
    let sql = include_str!("sql/pending_events.sql");
    let mut rows = sqlx::query(sql).bind(highest_id).bind(limit as i64).fetch(conn);
    let (mut pending, log) = (Vec::new(), log_stream());
    while let Some(row) = rows.try_next().await? {
        let (id, version): (i64, u32) = (row.try_get(0)?, row.try_get(3)?);
        let hash = Hash::from_slice(row.try_get(4)?)
            .ok_or_else(|| StoreError::Damaged(format!("hash of the event with id {id}")))?;
        let stream_id = StreamId(row.try_get::<Uuid, _>(2)?);
        let leaf = event_leaf(row.try_get(1)?, stream_id, Version(version), &hash);
        pending.push(Pending { id, leaf, is_of_log: stream_id == log });
    }
    Ok(pending)
}

/// Tiles, order and late events of a pass.
pub(crate) async fn write_seal(conn: &mut SqliteConnection, plan: &Plan) -> Result<(), StoreError> {
    execute_rows(conn, include_str!("sql/write_tiles.sql"), &plan.tiles, |query, tile| {
        query.bind(tile.id.level).bind(tile.id.index as i64).bind(&tile.bytes[..])
    })
    .await?;
    execute_rows(conn, include_str!("sql/write_order.sql"), &plan.order, |query, row| {
        query.bind(row.tile_index as i64).bind(row.first_id).bind(&row.event_ids[..])
    })
    .await?;
    execute_rows(conn, include_str!("sql/write_late_events.sql"), &plan.late, |query, late| {
        query.bind(late.0).bind(late.1 as i64)
    })
    .await
}
