//! Events in the order of their ids, against the order in which they were sealed.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use bpc_core::Hash;
use bpc_core::tile::{TILE_WIDTH, TileId};

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;
use crate::seal::{IdRange, OrderRow, SealedHead, Unsealed, order_rows, read_tile};
use crate::verify::finding::{Finding, Findings};
use crate::verify::lookup::leaf_of;
use crate::verify::quick::{Batch, Gather, Leaves};

use super::tree::{EventLeaf, TreeCheck, UpperTiles};

const ORDER_MISMATCH: &str = "ORDER_MISMATCH";
const EVENT_MISSING: &str = "EVENT_MISSING";
const EVENT_NOT_IN_ORDER: &str = "EVENT_NOT_IN_ORDER";
const LATE_EVENTS_MISMATCH: &str = "LATE_EVENTS_MISMATCH";

/// Tiles fetched at once.
const PAGE_TILES: u64 = 32;
/// Events kept until the order comes to them. What does not fit is fetched again when it does.
const WAITING_MAX: usize = 500_000;

/// What the database says about the sealed order, apart from the order itself.
#[derive(Clone)]
pub(in crate::verify) struct Seal {
    pub(in crate::verify) head: SealedHead,
    /// The highest id that is sealed.
    pub(in crate::verify) highest_id: i64,
    /// Ids below it that may still appear, ascending.
    pub(in crate::verify) gaps: Vec<IdRange>,
}

/// Goes through the sealed order as events come by.
pub(in crate::verify) struct OrderCheck<'t, P> {
    conn: Conn<'t>,
    seal: Seal,
    /// Positions that are done.
    done: u64,
    /// Events that were read and whose position has not come yet.
    waiting: HashMap<i64, Option<Hash>>,
    has_forgotten: bool,
    newest_id: i64,
    page: Page,
    /// Of the tile under way.
    tile: Vec<EventLeaf>,
    upper: UpperTiles,
    /// The highest id before the position that is next.
    highest_id: i64,
    /// Sums over the events that came late, as the order has them: an order of their own is not needed.
    late: LateSum,
    tree: TreeCheck,
    findings: Findings,
    unsealed: Unsealed,
    events: u64,
    rows: u64,
    progress: P,
}

#[derive(Default)]
struct Page {
    first_tile: u64,
    order: BTreeMap<u64, OrderRow>,
    tiles: BTreeMap<u64, Vec<u8>>,
    ids: Vec<i64>,
}

/// What came of it.
pub(in crate::verify) struct Ordered {
    pub(in crate::verify) roots: BTreeMap<u64, Hash>,
    pub(in crate::verify) findings: Findings,
    pub(in crate::verify) unsealed: Unsealed,
    pub(in crate::verify) events: u64,
    /// Rows that they came in.
    pub(in crate::verify) rows: u64,
}

impl<'t, P: FnMut(u64)> OrderCheck<'t, P> {
    pub(in crate::verify) fn new(
        conn: Conn<'t>,
        seal: Seal,
        wanted: impl IntoIterator<Item = u64>,
        findings_max: usize,
        progress: P,
    ) -> Self {
        OrderCheck {
            conn,
            done: 0,
            waiting: HashMap::new(),
            has_forgotten: false,
            newest_id: i64::MIN,
            page: Page { first_tile: u64::MAX, ..Page::default() },
            tile: Vec::with_capacity(TILE_WIDTH as usize),
            upper: UpperTiles::new(),
            highest_id: 0,
            late: LateSum::default(),
            tree: TreeCheck::new(seal.head, wanted, findings_max),
            findings: Findings::keeping(findings_max),
            unsealed: Unsealed::default(),
            events: 0,
            rows: 0,
            progress,
            seal,
        }
    }

    /// All events have come by.
    pub(in crate::verify) async fn finish(mut self) -> Result<Ordered, StoreError> {
        self.newest_id = i64::MAX;
        self.advance().await?;
        let mut strays: Vec<i64> = self.waiting.keys().copied().collect();
        strays.sort_unstable();
        for id in strays {
            self.findings.add(|| Finding {
                event_id: Some(id),
                message:
                    "no position leads to this event, though later ones are sealed: it was added behind the \
                          sealer's back, or its place in the order was changed"
                        .to_owned(),
                ..Finding::at_level(crate::verify::finding::L1, EVENT_NOT_IN_ORDER)
            });
        }
        self.check_late_events().await?;
        let (roots, of_tree) = self.tree.finish();
        self.findings.append(of_tree);
        let OrderCheck { findings, unsealed, events, rows, .. } = self;
        Ok(Ordered { roots, findings, unsealed, events, rows })
    }

    fn meet(&mut self, id: i64, occurred_at: Option<i64>, leaf: Option<Hash>) {
        self.newest_id = self.newest_id.max(id);
        if id > self.seal.highest_id || is_in(&self.seal.gaps, id) {
            self.unsealed.events += 1;
            self.unsealed.oldest_at = [self.unsealed.oldest_at, occurred_at].into_iter().flatten().min();
        } else if self.waiting.len() < WAITING_MAX {
            self.waiting.insert(id, leaf);
        } else {
            self.has_forgotten = true;
        }
    }

    /// Go on in the order as far as events have come by.
    async fn advance(&mut self) -> Result<(), StoreError> {
        while self.done < self.seal.head.size {
            let Some(id) = self.next_id().await? else {
                // Nothing says which event it is.
                self.place(EventLeaf { event_id: None, leaf: None }).await?;
                continue;
            };
            let event = match self.waiting.remove(&id) {
                Some(leaf) => EventLeaf { event_id: Some(id), leaf },
                None if id > self.newest_id => return Ok(()),
                None => self.fetch(id).await?,
            };
            if id < self.highest_id {
                self.late.add(id, self.done);
            }
            self.highest_id = self.highest_id.max(id);
            self.place(event).await?;
        }
        Ok(())
    }

    /// An event that did not come by while it was waited for: forgotten for want of room, not there, or
    /// in the order twice.
    async fn fetch(&mut self, id: i64) -> Result<EventLeaf, StoreError> {
        let position = self.done;
        let is_worth_a_look = self.has_forgotten || self.findings.has_room();
        let leaf = match is_worth_a_look {
            true => leaf_of(&mut self.conn, id).await?,
            false => None,
        };
        match leaf {
            Some(leaf) if self.has_forgotten => return Ok(EventLeaf { event_id: Some(id), leaf }),
            Some(_) => self.findings.add(|| Finding {
                event_id: Some(id),
                ..Finding::at_position(
                    ORDER_MISMATCH,
                    position,
                    "this event stands in the order more than once",
                )
            }),
            None => self.findings.add(|| Finding {
                found: Some(format!("nothing with id {id}")),
                ..Finding::at_position(EVENT_MISSING, position, "the event that was sealed here is gone")
            }),
        }
        Ok(EventLeaf { event_id: None, leaf: None })
    }

    /// The id at the position that is next, if the order says so.
    async fn next_id(&mut self) -> Result<Option<i64>, StoreError> {
        let tile = self.done / TILE_WIDTH;
        if self.done.is_multiple_of(TILE_WIDTH) {
            self.turn_to(tile).await?;
        }
        Ok(self.page.ids.get((self.done % TILE_WIDTH) as usize).copied())
    }

    /// Begin with a tile: have its rows at hand, and check what the order says of itself.
    async fn turn_to(&mut self, tile: u64) -> Result<(), StoreError> {
        if self.page.first_tile > tile || tile - self.page.first_tile >= PAGE_TILES {
            let last = tile + PAGE_TILES - 1;
            let order = order_rows(&mut self.conn, tile, last).await?;
            self.page.order = order.into_iter().map(|row| (row.tile_index, row)).collect();
            self.page.tiles = leaf_tiles(&mut self.conn, tile, last).await?;
            self.page.first_tile = tile;
        }
        for (level, index) in self.tree.upper_tiles(tile) {
            if !self.upper.contains_key(&(level, index)) {
                let bytes = read_tile(&mut self.conn, level, index).await?;
                self.upper.retain(|(other, _), _| *other != level);
                self.upper.insert((level, index), bytes);
            }
        }
        let width = (self.seal.head.size - self.done).min(TILE_WIDTH) as usize;
        let position = self.done;
        self.page.ids.clear();
        let Some(row) = self.page.order.get(&tile) else {
            self.findings.add(|| {
                Finding::at_position(ORDER_MISMATCH, position, format!("the order of tile {tile} is missing"))
            });
            return Ok(());
        };
        self.page.ids.extend(row.ids().take(width));
        if row.event_ids.len() != width * size_of::<i64>() {
            let found = row.event_ids.len();
            self.findings.add(|| {
                let message = format!("the order of tile {tile} has not the length it must have");
                Finding {
                    column: Some("event_ids"),
                    ..Finding::at_position(ORDER_MISMATCH, position, message)
                }
                .instead(width * size_of::<i64>(), found)
            });
        }
        if row.first_id != self.highest_id + 1 {
            let (expected, found) = (self.highest_id + 1, row.first_id);
            self.findings.add(|| {
                let message = "first_id is not one more than the highest id sealed before";
                Finding {
                    column: Some("first_id"),
                    ..Finding::at_position(ORDER_MISMATCH, position, message)
                }
                .instead(expected, found)
            });
        }
        Ok(())
    }

    /// What stands at the position that is next.
    async fn place(&mut self, event: EventLeaf) -> Result<(), StoreError> {
        self.tile.push(event);
        self.done += 1;
        if self.done.is_multiple_of(TILE_WIDTH) || self.done == self.seal.head.size {
            let index = (self.done - 1) / TILE_WIDTH;
            let stored = self.page.tiles.get(&index).map(Vec::as_slice);
            self.tree.take(&self.tile, stored, &self.upper);
            self.tile.clear();
        }
        Ok(())
    }

    /// The table of late events must say what the order says.
    async fn check_late_events(&mut self) -> Result<(), StoreError> {
        let sql = "SELECT event_id, position FROM late_events ORDER BY event_id";
        let rows: Vec<(i64, i64)> =
            portable!(&mut self.conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await)?;
        let mut stored = LateSum { keys: self.late.keys.clone(), ..LateSum::default() };
        rows.iter().for_each(|(id, position)| stored.add(*id, *position as u64));
        if stored == self.late {
            return Ok(());
        }
        let (expected, found) = (self.late.count, stored.count);
        self.findings.add(|| Finding {
            message: "the table of late events does not say which events were sealed behind a higher id: they will not be \
                      found by their id"
                .to_owned(),
            ..Finding::at_level(crate::verify::finding::L1, LATE_EVENTS_MISMATCH).instead(
                format!("{expected} events"),
                format!("{found} events"),
            )
        });
        Ok(())
    }
}

impl<P: FnMut(u64)> Gather for OrderCheck<'_, P> {
    async fn take(&mut self, batch: &Batch, leaves: Leaves) -> Result<(), StoreError> {
        for (number, (id, leaf)) in batch.ids().zip(leaves).enumerate() {
            let Some(id) = id else { continue };
            // The common case: events come in the order in which they were sealed.
            let is_next = self.waiting.is_empty()
                && !self.done.is_multiple_of(TILE_WIDTH)
                && self.page.ids.get((self.done % TILE_WIDTH) as usize) == Some(&id)
                && self.done < self.seal.head.size;
            if is_next {
                self.newest_id = id;
                self.highest_id = self.highest_id.max(id);
                self.place(EventLeaf { event_id: Some(id), leaf }).await?;
                continue;
            }
            let occurred_at = batch.event(number).map(|event| event.occurred_at);
            self.meet(id, occurred_at, leaf);
            self.advance().await?;
        }
        self.events += batch.len() as u64;
        self.rows += batch.row_count() as u64;
        (self.progress)(self.events);
        Ok(())
    }
}

fn is_in(ranges: &[IdRange], id: i64) -> bool {
    let at = ranges.partition_point(|range| range.last < id);
    ranges.get(at).is_some_and(|range| range.first <= id)
}

async fn leaf_tiles(
    conn: &mut Conn<'_>,
    first: u64,
    last: u64,
) -> Result<BTreeMap<u64, Vec<u8>>, StoreError> {
    let sql = "SELECT tile_index, hashes FROM tiles WHERE level = 0 AND tile_index BETWEEN $1 AND $2";
    let rows: Vec<(i64, Vec<u8>)> = portable!(conn, c => {
        sqlx::query_as(sql).bind(first as i64).bind(last as i64).fetch_all(&mut **c).await
    })?;
    Ok(rows.into_iter().map(|(index, hashes)| (index as u64, hashes)).collect())
}

/// A set of events with their positions, reduced to a sum under secret keys: two different sets have the
/// same one with a chance of one in 2^128.
#[derive(Clone, Debug, Default)]
struct LateSum {
    keys: [RandomState; 2],
    count: u64,
    sums: [u64; 2],
}

impl LateSum {
    fn add(&mut self, id: i64, position: u64) {
        self.count += 1;
        for (sum, key) in self.sums.iter_mut().zip(&self.keys) {
            *sum = sum.wrapping_add(key.hash_one((id, position)));
        }
    }
}

impl PartialEq for LateSum {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sums) == (other.count, other.sums)
    }
}

/// Rows of `tiles` and `log_order` that a log of this size has no place for.
pub(in crate::verify) async fn check_surplus(
    conn: &mut Conn<'_>,
    size: u64,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let tiles = size.div_ceil(TILE_WIDTH) as i64;
    let order =
        "SELECT tile_index FROM log_order WHERE tile_index < 0 OR tile_index >= $1 ORDER BY tile_index";
    let rows: Vec<i64> =
        portable!(conn, c => sqlx::query_scalar(order).bind(tiles).fetch_all(&mut **c).await)?;
    for index in rows {
        findings.add(|| Finding {
            message: format!("a log of {size} sealed events has no order of tile {index}"),
            ..Finding::at_level(crate::verify::finding::L1, ORDER_MISMATCH)
        });
    }
    let known = TileId::all(size).filter(|id| id.level > 0).count() as i64 + tiles;
    let count: i64 =
        portable!(conn, c => sqlx::query_scalar("SELECT count(*) FROM tiles").fetch_one(&mut **c).await)?;
    if count <= known {
        return Ok(());
    }
    let all = "SELECT level, tile_index FROM tiles ORDER BY level, tile_index";
    let rows: Vec<(i32, i64)> = match conn {
        Conn::Postgres(c) => {
            let sql = "SELECT level::int4, tile_index FROM tiles ORDER BY level, tile_index";
            sqlx::query_as(sql).fetch_all(&mut **c).await?
        }
        Conn::Sqlite(c) => sqlx::query_as(all).fetch_all(&mut **c).await?,
    };
    for (level, index) in rows {
        let has_place = |level: u8| TileId::holding(level, index as u64 * TILE_WIDTH, size).is_some();
        if index < 0 || !u8::try_from(level).is_ok_and(|level| level <= 7 && has_place(level)) {
            findings.add(|| Finding {
                tile: Some(format!("tile/{level}/{index}")),
                message: format!("a log of {size} sealed events has no such tile"),
                ..Finding::at_level(crate::verify::finding::L1, "TILE_SURPLUS")
            });
        }
    }
    Ok(())
}
