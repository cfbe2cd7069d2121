//! What sealing some events changes: pure.

use bpc_core::Hash;
use bpc_core::merkle::Tree;
use bpc_core::tile::{TILE_WIDTH, Tile};

/// An event that is to be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) id: i64,
    pub(crate) leaf: Hash,
    /// Of the log's own stream?
    pub(crate) is_of_log: bool,
}

/// The right edge of the sealed log: all that is needed to go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edge {
    pub(crate) tree: Tree,
    pub(crate) order: OrderEdge,
}

/// The last row of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OrderEdge {
    /// The highest id that is sealed.
    pub(crate) highest_id: i64,
    /// The row that is being filled; empty if the last one is full.
    pub(crate) open: OrderRow,
}

/// The ids behind the leaves of one tile of level 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OrderRow {
    pub(crate) tile_index: u64,
    /// One more than the highest id sealed before.
    pub(crate) first_id: i64,
    /// Eight bytes each.
    pub(crate) event_ids: Vec<u8>,
}

/// Everything that one pass writes.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Tiles that are new or have grown.
    pub(crate) tiles: Vec<Tile>,
    /// Rows of the order that are new or have grown.
    pub(crate) order: Vec<OrderRow>,
    /// Events behind a higher id, with their positions.
    pub(crate) late: Vec<(i64, u64)>,
    /// The edge afterwards.
    pub(crate) edge: Edge,
}

const ID_LEN: usize = size_of::<i64>();
const ROW_LEN: usize = TILE_WIDTH as usize * ID_LEN;

/// Seal `pending`, in that order, behind `edge`.
pub(crate) fn plan(mut edge: Edge, pending: &[Pending]) -> Plan {
    let mut late = Vec::new();
    let mut order = Vec::new();
    let OrderEdge { highest_id, open } = &mut edge.order;
    for (event, position) in pending.iter().zip(edge.tree.size()..) {
        if open.event_ids.is_empty() {
            *open = OrderRow {
                tile_index: position / TILE_WIDTH,
                first_id: *highest_id + 1,
                event_ids: Vec::with_capacity(ROW_LEN),
            };
        }
        if event.id < *highest_id {
            late.push((event.id, position));
        }
        *highest_id = event.id.max(*highest_id);
        open.event_ids.extend_from_slice(&event.id.to_be_bytes());
        if open.event_ids.len() == ROW_LEN {
            order.push(std::mem::take(open));
        }
    }
    if !pending.is_empty() && !open.event_ids.is_empty() {
        order.push(open.clone());
    }
    let tiles = edge.tree.extend(pending.iter().map(|event| event.leaf));
    Plan { tiles, order, late, edge }
}

impl OrderRow {
    /// The ids in it, in sealed order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = i64> {
        self.event_ids.chunks_exact(ID_LEN).map(|id| i64::from_be_bytes(id.try_into().expect("eight bytes")))
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.event_ids.len() / ID_LEN
    }
}

impl OrderEdge {
    /// From the last row of the order. Nothing else records the highest sealed id, so nothing else can
    /// contradict it.
    pub(crate) fn behind(last: OrderRow) -> Self {
        let highest_id = last.ids().fold(last.first_id - 1, i64::max);
        let open = if last.event_ids.len() < ROW_LEN { last } else { OrderRow::default() };
        OrderEdge { highest_id, open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(ids: impl IntoIterator<Item = i64>) -> Vec<Pending> {
        ids.into_iter().map(|id| Pending { id, leaf: Hash([id as u8; 32]), is_of_log: false }).collect()
    }

    #[test]
    fn the_order_of_many_passes_is_that_of_one() {
        let all = pending(1..=1000);
        let once = plan(Edge::default(), &all);
        let mut edge = Edge::default();
        let mut rows = std::collections::BTreeMap::new();
        for part in all.chunks(77) {
            let step = plan(edge, part);
            rows.extend(step.order.into_iter().map(|row| (row.tile_index, row)));
            edge = step.edge;
        }
        assert_eq!(edge.tree.root(), once.edge.tree.root());
        assert_eq!(rows.into_values().collect::<Vec<_>>(), once.order);
        assert_eq!((edge.order.highest_id, once.order.len()), (1000, 4));
    }

    #[test]
    fn an_id_behind_a_higher_one_is_late_and_does_not_move_the_highest() {
        let first = plan(Edge::default(), &pending([1, 2, 5]));
        assert_eq!(first.late, []);
        let second = plan(first.edge, &pending([3, 6, 4]));
        assert_eq!(second.late, [(3, 3), (4, 5)]);
        assert_eq!(second.edge.order.highest_id, 6);
    }

    #[test]
    fn rows_of_late_ids_only_begin_where_the_highest_id_left_off() {
        let edge = plan(Edge::default(), &pending(1000..1256)).edge;
        let late = plan(edge, &pending(1..=256));
        assert_eq!(late.order.len(), 1);
        assert_eq!((late.order[0].first_id, late.edge.order.highest_id), (1256, 1255));
        assert_eq!(OrderEdge::behind(late.order[0].clone()), late.edge.order);
        assert_eq!(plan(late.edge, &pending([1256])).order[0].first_id, 1256);
    }

    #[test]
    fn nothing_pending_changes_nothing() {
        let edge = plan(Edge::default(), &pending([1])).edge;
        let Plan { tiles, order, late, .. } = plan(edge, &[]);
        assert!(tiles.is_empty() && order.is_empty() && late.is_empty());
    }
}
