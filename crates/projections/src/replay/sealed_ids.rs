//! Which events were sealed before a size was reached.

use bpc_eventstore::{Conn, portable, seal};
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;

use super::error::ReplayError;

/// Events behind each row of the order.
const ORDER_WIDTH: u64 = 256;

/// Insertion ids of the first events of the sealed order, one bit each. PostgreSQL gives ids out by the word: a row of a
/// cohort fills one, a row of one event takes eight bytes.
pub(super) struct SealedIds {
    bits: Vec<u64>,
}

impl SealedIds {
    /// The first `size` of them. More than are sealed cannot be asked for.
    pub(super) async fn before(conn: &mut Conn<'_>, size: u64) -> Result<SealedIds, ReplayError> {
        let sealed = seal::sealed_head(conn).await.map_err(ReplayError::source)?.size;
        if size > sealed {
            return Err(ReplayError::NotSealed { size, sealed });
        }
        let sql = "SELECT event_ids FROM log_order WHERE tile_index < $1 ORDER BY tile_index";
        let tiles = size.div_ceil(ORDER_WIDTH) as i64;
        let mut rows: BoxStream<'_, Result<Vec<u8>, sqlx::Error>> =
            portable!(conn, c => sqlx::query_scalar(sql).bind(tiles).fetch(&mut **c));
        let mut ids = SealedIds { bits: Vec::new() };
        let mut left = size as usize;
        while let Some(row) = rows.try_next().await.map_err(ReplayError::source)? {
            let (entries, _) = row.as_chunks::<8>();
            entries.iter().take(left).for_each(|id| ids.insert(i64::from_be_bytes(*id)));
            left -= entries.len().min(left);
        }
        Ok(ids)
    }

    pub(super) fn contains(&self, id: i64) -> bool {
        let (word, bit) = place(id);
        self.bits.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn insert(&mut self, id: i64) {
        let (word, bit) = place(id);
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= bit;
    }
}

fn place(id: i64) -> (usize, u64) {
    let id = id.max(0) as u64;
    ((id / 64) as usize, 1 << (id % 64))
}
