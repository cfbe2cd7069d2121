//! Reading in sealed order, for whoever follows it: archive, export, proofs, `bpc log`.

use std::collections::HashMap;

use bpc_core::tile::TILE_WIDTH;

use crate::database::Conn;
use crate::error::StoreError;
use crate::read::{StoredEvent, read_events_by_id};
use crate::store::Store;
use crate::{portable, postgres};

use super::plan::OrderRow;
use super::stored::{order_row, sealed_head};

/// An event with its place in the sealed order.
#[derive(Clone, Debug, PartialEq)]
pub struct SealedEvent {
    /// Its place.
    pub position: u64,
    /// The event.
    pub event: StoredEvent,
}

/// Events from position `from` on, in sealed order: at most `limit`, fewer only at the end of what is
/// sealed. Pages of a few thousand are read at nearly the speed of a scan.
pub async fn read_sealed(
    conn: &mut Conn<'_>,
    from: u64,
    limit: usize,
) -> Result<Vec<SealedEvent>, StoreError> {
    let size = sealed_head(conn).await?.size;
    let until = from.saturating_add(limit as u64).min(size);
    if from >= until {
        return Ok(Vec::new());
    }
    let ids = ids_of(conn, from, until).await?;
    let mut events: HashMap<i64, StoredEvent> = HashMap::with_capacity(ids.len());
    for event in read_events_by_id(conn, &ids).await? {
        events.insert(event.id, event);
    }
    let place = |(id, position): (&i64, u64)| match events.remove(id) {
        Some(event) => Ok(SealedEvent { position, event }),
        None => Err(StoreError::Damaged(format!("the event at position {position} (id {id}) is missing"))),
    };
    ids.iter().zip(from..).map(place).collect()
}

/// Ids of the events at positions `from` to `until`, which must be sealed.
async fn ids_of(conn: &mut Conn<'_>, from: u64, until: u64) -> Result<Vec<i64>, StoreError> {
    let (first, last) = (from / TILE_WIDTH, (until - 1) / TILE_WIDTH);
    let rows = order_rows(conn, first, last).await?;
    let complete = rows.len() as u64 == last - first + 1
        && rows.iter().rev().skip(1).all(|row| row.len() as u64 == TILE_WIDTH);
    let skip = (from - first * TILE_WIDTH) as usize;
    let ids: Vec<i64> =
        rows.iter().flat_map(OrderRow::ids).skip(skip).take((until - from) as usize).collect();
    if complete && ids.len() as u64 == until - from {
        Ok(ids)
    } else {
        Err(StoreError::Damaged(format!("the order of positions {from} to {until}")))
    }
}

pub(crate) async fn order_rows(
    conn: &mut Conn<'_>,
    first: u64,
    last: u64,
) -> Result<Vec<OrderRow>, StoreError> {
    let sql = "SELECT tile_index, first_id, event_ids FROM log_order \
        WHERE tile_index BETWEEN $1 AND $2 ORDER BY tile_index";
    let rows: Vec<(i64, i64, Vec<u8>)> = portable!(conn, c => {
        sqlx::query_as(sql).bind(first as i64).bind(last as i64).fetch_all(&mut **c).await
    })?;
    let row = |(tile_index, first_id, event_ids): (i64, i64, Vec<u8>)| {
        let tile_index = tile_index as u64;
        OrderRow { tile_index, first_id, event_ids }
    };
    Ok(rows.into_iter().map(row).collect())
}

/// Where the event with that insertion id stands; `None` if it is not sealed.
pub async fn position_of(conn: &mut Conn<'_>, event_id: i64) -> Result<Option<u64>, StoreError> {
    let late = "SELECT position FROM late_events WHERE event_id = $1";
    let late: Option<i64> =
        portable!(conn, c => sqlx::query_scalar(late).bind(event_id).fetch_optional(&mut **c).await)?;
    if let Some(position) = late {
        return Ok(Some(position as u64));
    }
    // All others were sealed in the order of their ids. Of tiles that begin at the same id, the last one
    // is not made of late events alone.
    let sql = "SELECT tile_index FROM log_order WHERE first_id <= $1 ORDER BY first_id DESC, tile_index DESC LIMIT 1";
    let index: Option<i64> =
        portable!(conn, c => sqlx::query_scalar(sql).bind(event_id).fetch_optional(&mut **c).await)?;
    let Some(index) = index.map(|index| index as u64) else {
        return Ok(None);
    };
    let row = order_row(conn, index).await?.unwrap_or_default();
    let place = row.ids().position(|id| id == event_id);
    Ok(place.map(|place| index * TILE_WIDTH + place as u64))
}

/// The highest id among the first `size` sealed events, as the order has it.
pub(crate) async fn highest_sealed_id(conn: &mut Conn<'_>, size: u64) -> Result<i64, StoreError> {
    let Some(last) = size.checked_sub(1) else {
        return Ok(0);
    };
    let row = order_row(conn, last / TILE_WIDTH).await?;
    let width = (last % TILE_WIDTH) as usize + 1;
    Ok(row.map_or(0, |row| row.ids().take(width).fold(row.first_id.saturating_sub(1), i64::max)))
}

/// What is committed and not sealed: the one window that hashes do not close.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsealed {
    /// How many events.
    pub events: u64,
    /// When the oldest of them happened, in microseconds since 1970.
    pub oldest_at: Option<i64>,
}

/// What is committed and not sealed.
pub async fn unsealed(store: &Store) -> Result<Unsealed, StoreError> {
    let mut tx = store.begin_read().await?;
    unsealed_on(&mut tx.conn()).await
}

/// The same on a connection at hand.
pub async fn unsealed_on(conn: &mut Conn<'_>) -> Result<Unsealed, StoreError> {
    let size = sealed_head(conn).await?.size;
    let highest_id = highest_sealed_id(conn, size).await?;
    let (events, oldest_at): (i64, Option<i64>) = match conn {
        Conn::Postgres(conn) => postgres::seal::unsealed(conn, highest_id).await?,
        Conn::Sqlite(conn) => {
            let behind = "SELECT count(*), min(occurred_at) FROM events WHERE id > $1";
            sqlx::query_as(behind).bind(highest_id).fetch_one(&mut **conn).await?
        }
    };
    Ok(Unsealed { events: events as u64, oldest_at })
}
