//! What is sealed, read back: size and root, tiles, order, checkpoints.

use std::collections::HashMap;

use bpc_core::merkle::{self, Tree};
use bpc_core::tile::{TILE_WIDTH, TileId, hash_in};
use bpc_core::{Hash, Timestamp};

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;

use super::plan::{Edge, OrderEdge, OrderRow};

/// How far the log is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedHead {
    /// Sealed events; the position of the next one.
    pub size: u64,
    /// Root of the tree over them.
    pub root: Hash,
}

/// A checkpoint as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCheckpoint {
    /// Sealed events that it covers.
    pub size: u64,
    /// The signed note.
    pub note: String,
    /// When it was signed, by the clock that counts.
    pub made_at: Timestamp,
}

/// How far the log is sealed.
pub async fn sealed_head(conn: &mut Conn<'_>) -> Result<SealedHead, StoreError> {
    let sql = "SELECT size, root FROM log_state WHERE only_row = 1";
    let row: Option<(i64, Vec<u8>)> =
        portable!(conn, c => sqlx::query_as(sql).fetch_optional(&mut **c).await)?;
    row.and_then(SealedHead::from_columns).ok_or_else(|| StoreError::Damaged("log_state".to_owned()))
}

impl SealedHead {
    pub(crate) fn from_columns((size, root): (i64, Vec<u8>)) -> Option<Self> {
        Some(SealedHead { size: size.try_into().ok()?, root: Hash::from_slice(&root)? })
    }
}

/// Bytes of a stored tile; `None` if there is none. It may be wider than a tree of some size needs.
pub async fn read_tile(conn: &mut Conn<'_>, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT hashes FROM tiles WHERE level = $1 AND tile_index = $2";
    let bytes = portable!(conn, c => {
        sqlx::query_scalar(sql).bind(i16::from(level)).bind(index as i64).fetch_optional(&mut **c).await
    })?;
    Ok(bytes)
}

/// Stored tiles at hand: what making a proof reads its hashes from.
#[derive(Clone, Debug, Default)]
pub struct Tiles(HashMap<(u8, u64), Vec<u8>>);

impl Tiles {
    /// Fetch `tiles`; those that are not stored are left out.
    pub async fn fetch(
        conn: &mut Conn<'_>,
        tiles: impl IntoIterator<Item = TileId>,
    ) -> Result<Self, StoreError> {
        let mut fetched = HashMap::new();
        for id in tiles {
            if let Some(bytes) = read_tile(conn, id.level, id.index).await? {
                fetched.insert((id.level, id.index), bytes);
            }
        }
        Ok(Tiles(fetched))
    }

    /// The hash at that index of a level.
    pub fn hash(&self, level: u8, index: u64) -> Result<Hash, StoreError> {
        let tile = self.0.get(&(level, index / TILE_WIDTH));
        tile.and_then(|bytes| hash_in(bytes, (index % TILE_WIDTH) as usize))
            .ok_or_else(|| StoreError::Damaged(format!("hash {index} of tile level {level}")))
    }

    fn bytes(&self, id: TileId) -> Option<&[u8]> {
        self.0.get(&(id.level, id.index)).map(Vec::as_slice)
    }
}

/// Root of the first `size` sealed events, from the stored tiles.
pub async fn root_at(conn: &mut Conn<'_>, size: u64) -> Result<Hash, StoreError> {
    let tiles = Tiles::fetch(conn, merkle::root_tiles(size)).await?;
    merkle::root(size, |level, index| tiles.hash(level, index))
}

/// One row of the order; `None` if there is none.
pub(crate) async fn order_row(conn: &mut Conn<'_>, tile_index: u64) -> Result<Option<OrderRow>, StoreError> {
    let sql = "SELECT first_id, event_ids FROM log_order WHERE tile_index = $1";
    let row: Option<(i64, Vec<u8>)> = portable!(conn, c => {
        sqlx::query_as(sql).bind(tile_index as i64).fetch_optional(&mut **c).await
    })?;
    Ok(row.map(|(first_id, event_ids)| OrderRow { tile_index, first_id, event_ids }))
}

/// The right edge, as it is stored. A tree is never extended on top of rows that contradict each other.
pub(crate) async fn load_edge(conn: &mut Conn<'_>, head: SealedHead) -> Result<Edge, StoreError> {
    let SealedHead { size, root } = head;
    let tiles = Tiles::fetch(conn, TileId::partial(size)).await?;
    let tree = Tree::load(size, &root, |id| tiles.bytes(id))
        .map_err(|error| StoreError::Damaged(error.to_string()))?;
    let Some(last) = size.checked_sub(1) else {
        return Ok(Edge { tree, order: OrderEdge::default() });
    };
    let row = order_row(conn, last / TILE_WIDTH).await?;
    let row = row.filter(|row| row.len() as u64 == last % TILE_WIDTH + 1);
    let row = row.ok_or_else(|| StoreError::Damaged(format!("order of tile {}", last / TILE_WIDTH)))?;
    Ok(Edge { tree, order: OrderEdge::behind(row) })
}

type CheckpointColumns = (i64, String, i64);

impl From<CheckpointColumns> for StoredCheckpoint {
    fn from((size, note, made_at): CheckpointColumns) -> Self {
        StoredCheckpoint { size: size as u64, note, made_at: Timestamp::from_micros(made_at) }
    }
}

/// The newest checkpoint; `None` before the first.
pub async fn newest_checkpoint(conn: &mut Conn<'_>) -> Result<Option<StoredCheckpoint>, StoreError> {
    let sql = "SELECT size, note, made_at FROM checkpoints ORDER BY size DESC LIMIT 1";
    let row: Option<CheckpointColumns> =
        portable!(conn, c => sqlx::query_as(sql).fetch_optional(&mut **c).await)?;
    Ok(row.map(StoredCheckpoint::from))
}

/// The checkpoint over exactly so many events, if it was kept.
pub async fn checkpoint_at(conn: &mut Conn<'_>, size: u64) -> Result<Option<StoredCheckpoint>, StoreError> {
    let sql = "SELECT size, note, made_at FROM checkpoints WHERE size = $1";
    let row: Option<CheckpointColumns> =
        portable!(conn, c => sqlx::query_as(sql).bind(size as i64).fetch_optional(&mut **c).await)?;
    Ok(row.map(StoredCheckpoint::from))
}
