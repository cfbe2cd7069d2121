//! A log taken out of its database, so that anything can be done to it, and put back.

use std::collections::HashMap;

use bpc_core::merkle::{Tree, event_leaf};
use bpc_core::note::{Checkpoint, SignedNote};
use bpc_core::tile::TILE_WIDTH;
use bpc_core::{Hash, StreamId, Timestamp, Version, chain_hash};
use bpc_eventstore::seal::LogSecret;
use bpc_eventstore::{Conn, Database, Store, portable};
use sqlx::{AssertSqlSafe, Executor};
use uuid::Uuid;

use crate::cohort::CohortRow;

/// Every table of the log, as somebody sees it who holds the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    pub events: Vec<Event>,
    /// Ids by position.
    pub order: Vec<i64>,
    /// Rows of the order where they differ from what `order` makes.
    pub first_ids: HashMap<u64, i64>,
    pub tiles: Vec<(i64, i64, Vec<u8>)>,
    pub size: i64,
    pub root: Vec<u8>,
    pub checkpoints: Vec<(i64, String, i64)>,
    pub late: Vec<(i64, i64)>,
    /// Stored as NULL instead of what is here.
    pub null_hashes: Vec<i64>,
    /// What is done to rows of cohorts once they are put together.
    pub bends: Vec<Bend>,
}

/// A change of the row of a cohort with that id.
#[derive(Clone, Copy, Debug)]
pub struct Bend {
    pub id: i64,
    pub change: fn(&mut CohortRow),
}

/// Of each row there is one.
impl PartialEq for Bend {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// One row of `events`, or one event in a row of `cohort_events`.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: i64,
    pub tenant_id: Uuid,
    pub stream_type: String,
    pub stream_id: Uuid,
    pub version: i32,
    pub event_type: String,
    pub occurred_at: i64,
    pub event_hash: Vec<u8>,
    pub event_bytes: Vec<u8>,
    /// The row that it is in with others. Where it stands there is where it stands among these.
    pub cohort: Option<i64>,
}

type Columns = (i64, Uuid, String, Uuid, i32, String, i64, Vec<u8>, Vec<u8>);

impl Log {
    /// Take it out.
    pub async fn load(store: &Store) -> Self {
        let mut tx = store.begin_read().await.unwrap();
        let mut conn = tx.conn();
        let sql = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes \
             FROM events ORDER BY id";
        let events: Vec<Columns> =
            portable!(&mut conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await).unwrap();
        let events = events.into_iter().map(|row| Event {
            id: row.0,
            tenant_id: row.1,
            stream_type: row.2,
            stream_id: row.3,
            version: row.4,
            event_type: row.5,
            occurred_at: row.6,
            event_hash: row.7,
            event_bytes: row.8,
            cohort: None,
        });
        let mut events: Vec<Event> = events.collect();
        if let Conn::Postgres(conn) = &mut conn {
            events.extend(CohortRow::load(conn).await.iter().flat_map(CohortRow::events));
            events.sort_by_key(|event| event.id);
        }
        let sql = "SELECT event_ids FROM log_order ORDER BY tile_index";
        let order: Vec<Vec<u8>> =
            portable!(&mut conn, c => sqlx::query_scalar(sql).fetch_all(&mut **c).await).unwrap();
        let order = order.concat().chunks(8).map(|id| i64::from_be_bytes(id.try_into().unwrap())).collect();
        let sql = "SELECT CAST(level AS BIGINT), tile_index, hashes FROM tiles ORDER BY level, tile_index";
        let tiles = portable!(&mut conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await).unwrap();
        let sql = "SELECT size, root FROM log_state";
        let (size, root) = portable!(&mut conn, c => sqlx::query_as(sql).fetch_one(&mut **c).await).unwrap();
        let sql = "SELECT size, note, made_at FROM checkpoints ORDER BY size";
        let checkpoints = portable!(&mut conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await).unwrap();
        let sql = "SELECT event_id, position FROM late_events ORDER BY event_id";
        let late = portable!(&mut conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await).unwrap();
        let (first_ids, null_hashes, bends) = (HashMap::new(), Vec::new(), Vec::new());
        Log { events, order, first_ids, tiles, size, root, checkpoints, late, null_hashes, bends }
    }

    /// Put it back, whatever became of it.
    pub async fn store(&self, store: &Store) {
        let mut tx = store.begin().await.unwrap();
        let tables = ["events", "log_state"];
        for table in tables {
            let sql = AssertSqlSafe(format!("DELETE FROM {table}"));
            portable!(tx.conn(), c => c.execute(sqlx::raw_sql(sql)).await.map(drop)).unwrap();
        }
        let mut conn = tx.conn();
        let overriding = if let Conn::Postgres(_) = conn { "OVERRIDING SYSTEM VALUE" } else { "" };
        let sql = format!(
            "INSERT INTO events (id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, \
             event_bytes) {overriding} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
        );
        for it in self.events.iter().filter(|event| event.cohort.is_none()) {
            let hash = (!self.null_hashes.contains(&it.id)).then(|| it.event_hash.clone());
            portable!(&mut conn, c => sqlx::query(AssertSqlSafe(sql.as_str()))
                .bind(it.id).bind(it.tenant_id).bind(&it.stream_type).bind(it.stream_id).bind(it.version)
                .bind(&it.event_type).bind(it.occurred_at).bind(hash).bind(&it.event_bytes)
                .execute(&mut **c).await.map(drop))
            .unwrap();
        }
        if let Conn::Postgres(conn) = &mut conn {
            CohortRow::store(&self.cohorts(), conn).await;
        }
        self.store_order(&mut conn).await;
        self.store_tiles(&mut conn).await;
        self.store_checkpoints(&mut conn).await;
        self.store_late(&mut conn).await;
        let sql = "INSERT INTO log_state (only_row, size, root) VALUES (1, $1, $2)";
        portable!(&mut conn, c => sqlx::query(sql)
            .bind(self.size).bind(&self.root).execute(&mut **c).await.map(drop))
        .unwrap();
        tx.commit().await.unwrap();
    }

    /// Put it back where it differs from what is stored, which must have the same events by id.
    pub async fn store_changes(&self, stored: &Log, store: &Store) {
        let mut tx = store.begin().await.unwrap();
        let mut conn = tx.conn();
        for (it, _) in self.events.iter().zip(&stored.events).filter(|(it, stored)| it != stored) {
            let sql = "UPDATE events SET tenant_id = $2, stream_type = $3, stream_id = $4, version = $5, event_type = $6, \
                 occurred_at = $7, event_hash = $8, event_bytes = $9 WHERE id = $1";
            portable!(&mut conn, c => sqlx::query(sql)
                .bind(it.id).bind(it.tenant_id).bind(&it.stream_type).bind(it.stream_id).bind(it.version)
                .bind(&it.event_type).bind(it.occurred_at).bind(&it.event_hash).bind(&it.event_bytes)
                .execute(&mut **c).await.map(drop))
            .unwrap();
        }
        if self.order_rows() != stored.order_rows() {
            self.store_order(&mut conn).await;
        }
        if self.tiles != stored.tiles {
            self.store_tiles(&mut conn).await;
        }
        if self.checkpoints != stored.checkpoints {
            self.store_checkpoints(&mut conn).await;
        }
        if self.late != stored.late {
            self.store_late(&mut conn).await;
        }
        if (self.size, &self.root) != (stored.size, &stored.root) {
            let sql = "UPDATE log_state SET size = $1, root = $2";
            portable!(&mut conn, c => sqlx::query(sql)
                .bind(self.size).bind(&self.root).execute(&mut **c).await.map(drop))
            .unwrap();
        }
        tx.commit().await.unwrap();
    }

    /// The rows that hold events of many jobs.
    fn cohorts(&self) -> Vec<CohortRow> {
        let mut ids: Vec<i64> = self.events.iter().filter_map(|event| event.cohort).collect();
        ids.sort_unstable();
        ids.dedup();
        let row = |id: i64| {
            let events: Vec<&Event> = self.events.iter().filter(|event| event.cohort == Some(id)).collect();
            let mut row = CohortRow::of(id, &events);
            self.bends.iter().filter(|bend| bend.id == id).for_each(|bend| (bend.change)(&mut row));
            row
        };
        ids.into_iter().map(row).collect()
    }

    async fn store_order(&self, conn: &mut Conn<'_>) {
        portable!(&mut *conn, c => sqlx::query("DELETE FROM log_order").execute(&mut **c).await.map(drop))
            .unwrap();
        for (index, first_id, ids) in self.order_rows() {
            let sql = "INSERT INTO log_order (tile_index, first_id, event_ids) VALUES ($1, $2, $3)";
            portable!(&mut *conn, c => sqlx::query(sql)
                .bind(index as i64).bind(first_id).bind(&ids).execute(&mut **c).await.map(drop))
            .unwrap();
        }
    }

    async fn store_late(&self, conn: &mut Conn<'_>) {
        portable!(&mut *conn, c => sqlx::query("DELETE FROM late_events").execute(&mut **c).await.map(drop))
            .unwrap();
        for (id, position) in &self.late {
            let sql = "INSERT INTO late_events (event_id, position) VALUES ($1, $2)";
            portable!(&mut *conn, c => sqlx::query(sql).bind(id).bind(position).execute(&mut **c).await.map(drop))
                .unwrap();
        }
    }

    async fn store_tiles(&self, conn: &mut Conn<'_>) {
        portable!(&mut *conn, c => sqlx::query("DELETE FROM tiles").execute(&mut **c).await.map(drop))
            .unwrap();
        for (level, index, hashes) in &self.tiles {
            let sql = "INSERT INTO tiles (level, tile_index, hashes) VALUES ($1, $2, $3)";
            portable!(&mut *conn, c => sqlx::query(sql)
                .bind(*level as i16).bind(index).bind(hashes).execute(&mut **c).await.map(drop))
            .unwrap();
        }
    }

    async fn store_checkpoints(&self, conn: &mut Conn<'_>) {
        portable!(&mut *conn, c => sqlx::query("DELETE FROM checkpoints").execute(&mut **c).await.map(drop))
            .unwrap();
        for (size, note, made_at) in &self.checkpoints {
            let sql = "INSERT INTO checkpoints (size, note, made_at) VALUES ($1, $2, $3)";
            portable!(&mut *conn, c => sqlx::query(sql)
                .bind(size).bind(note).bind(made_at).execute(&mut **c).await.map(drop))
            .unwrap();
        }
    }

    fn order_rows(&self) -> Vec<(u64, i64, Vec<u8>)> {
        let mut highest = 0;
        let rows = self.order.chunks(TILE_WIDTH as usize).zip(0..).map(|(ids, index)| {
            let first_id = self.first_ids.get(&index).copied().unwrap_or(highest + 1);
            highest = ids.iter().copied().fold(highest, i64::max);
            (index, first_id, ids.iter().flat_map(|id| id.to_be_bytes()).collect())
        });
        rows.collect()
    }

    /// The event of a stream with that version.
    pub fn event(&mut self, stream: StreamId, version: i32) -> &mut Event {
        let is_it = |event: &&mut Event| event.stream_id == stream.0 && event.version == version;
        self.events.iter_mut().find(is_it).expect("there is such an event")
    }

    /// Where that event was sealed.
    pub fn position(&mut self, stream: StreamId, version: i32) -> usize {
        let id = self.event(stream, version).id;
        self.order.iter().position(|it| *it == id).expect("it is sealed")
    }

    pub fn tile(&mut self, level: i64, index: i64) -> &mut Vec<u8> {
        let is_it = |tile: &&mut (i64, i64, Vec<u8>)| (tile.0, tile.1) == (level, index);
        &mut self.tiles.iter_mut().find(is_it).expect("there is such a tile").2
    }

    /// Every hash that follows from the events of a stream, as its versions now are.
    pub fn rehash(&mut self, stream: StreamId) {
        let mut before = Hash::ZERO;
        let mut events: Vec<&mut Event> =
            self.events.iter_mut().filter(|event| event.stream_id == stream.0).collect();
        events.sort_by_key(|event| event.version);
        for event in events {
            before = chain_hash(&before, &event.event_bytes);
            event.event_hash = before.0.to_vec();
        }
    }

    /// What the best forger without the key does: versions dense again, all hashes right, the order without
    /// what is gone and with what is new, tiles and root made anew.
    pub fn repair(&mut self) {
        self.close_ranks();
        let mut streams: Vec<Uuid> = self.events.iter().map(|event| event.stream_id).collect();
        streams.sort_unstable();
        streams.dedup();
        for stream in streams {
            self.renumber(StreamId(stream));
            self.rehash(StreamId(stream));
        }
        let sealed_to = self.order.iter().copied().max().unwrap_or(0);
        let mut ids: Vec<i64> = self.events.iter().map(|event| event.id).collect();
        ids.sort_unstable();
        self.order.retain(|id| ids.contains(id));
        let missing: Vec<i64> =
            ids.into_iter().filter(|id| *id <= sealed_to && !self.order.contains(id)).collect();
        self.order.extend(missing);
        self.reseal();
    }

    /// The ids that events in rows of cohorts have there, and the order by those.
    fn close_ranks(&mut self) {
        let before: Vec<i64> = self.events.iter().map(|event| event.id).collect();
        let mut taken: HashMap<i64, i64> = HashMap::new();
        for event in &mut self.events {
            if let Some(row) = event.cohort {
                let place = taken.entry(row).or_insert(0);
                event.id = row + *place;
                *place += 1;
            }
        }
        let now: HashMap<i64, i64> =
            before.into_iter().zip(self.events.iter().map(|event| event.id)).collect();
        self.order = self.order.iter().filter_map(|id| now.get(id).copied()).collect();
    }

    fn renumber(&mut self, stream: StreamId) {
        let mut events: Vec<&mut Event> =
            self.events.iter_mut().filter(|event| event.stream_id == stream.0).collect();
        events.sort_by_key(|event| (event.version, event.id));
        for (event, version) in events.into_iter().zip(1..) {
            if event.version != version {
                event.say(&format!("\"version\":{}}}", event.version), &format!("\"version\":{version}}}"));
                event.version = version;
            }
        }
    }

    /// Tiles, root and late events anew from events and order.
    pub fn reseal(&mut self) {
        let leaves: Vec<Hash> = self
            .order
            .iter()
            .map(|id| {
                let event =
                    self.events.iter().find(|event| event.id == *id).expect("sealed events are there");
                let hash = Hash::from_slice(&event.event_hash).unwrap_or(Hash::ZERO);
                let version = Version(event.version as u32);
                event_leaf(&event.stream_type, StreamId(event.stream_id), version, &hash)
            })
            .collect();
        let mut tree = Tree::new();
        let tiles = tree.extend(leaves);
        self.tiles =
            tiles.into_iter().map(|tile| (tile.id.level.into(), tile.id.index as i64, tile.bytes)).collect();
        (self.size, self.root) = (tree.size() as i64, tree.root().0.to_vec());
        self.first_ids.clear();
        let mut highest = 0;
        self.late.clear();
        for (id, position) in self.order.iter().zip(0..) {
            if *id < highest {
                self.late.push((*id, position));
            }
            highest = highest.max(*id);
        }
        self.late.sort_unstable();
    }

    /// What whoever has the key can do on top: sign for what is there now.
    pub fn sign(&mut self, secret: &LogSecret, origin: &str) {
        let sizes: Vec<(i64, i64)> = self.checkpoints.iter().map(|it| (it.0.min(self.size), it.2)).collect();
        self.checkpoints.clear();
        for (size, made_at) in sizes {
            if self.checkpoints.iter().any(|it| it.0 == size) {
                continue;
            }
            let root = self.root_at(size as u64);
            let text = Checkpoint::new(origin, size as u64, root).text();
            let note = secret.sign_note(origin, &text, Timestamp::from_micros(made_at)).unwrap();
            self.checkpoints.push((size, note.to_string(), made_at));
        }
    }

    pub fn root_at(&self, size: u64) -> Hash {
        bpc_core::merkle::root::<()>(size, |level, index| {
            let tile =
                self.tiles.iter().find(|tile| (tile.0, tile.1 as u64) == (level.into(), index / TILE_WIDTH));
            let bytes = &tile.ok_or(())?.2;
            bpc_core::tile::hash_in(bytes, (index % TILE_WIDTH) as usize).ok_or(())
        })
        .unwrap_or(Hash::ZERO)
    }

    /// The checkpoint over all that is sealed.
    pub fn newest_note(&self) -> SignedNote {
        SignedNote::parse(self.checkpoints.last().expect("a checkpoint").1.as_bytes()).unwrap()
    }
}

impl Event {
    /// Replace part of what the event says.
    pub fn say(&mut self, before: &str, after: &str) {
        let text = String::from_utf8(self.event_bytes.clone()).unwrap();
        assert!(text.contains(before), "{before} in {text}");
        self.event_bytes = text.replacen(before, after, 1).into_bytes();
    }
}

/// Take away every rule that the database keeps, as somebody can who owns it.
pub async fn lift_rules(store: &Store) {
    match &store.database {
        Database::Postgres(pool) => {
            let sql = "DROP TRIGGER events_append_only ON events; DROP TRIGGER cohort_events_append_only ON cohort_events; \
                 ALTER TABLE cohort_events DROP CONSTRAINT cohort_events_stream_version; \
                 CREATE INDEX cohort_events_by_stream ON cohort_events (first_stream_id, version); ALTER TABLE events DROP CONSTRAINT events_stream_version; \
                 ALTER TABLE events ALTER event_hash DROP NOT NULL; ALTER TABLE checkpoints DROP CONSTRAINT checkpoints_pkey";
            pool.execute(sqlx::raw_sql(sql)).await.map(drop).unwrap();
        }
        Database::Sqlite(pools) => {
            let sql = "DROP TRIGGER events_refuse_update; DROP TRIGGER events_refuse_delete; DROP VIEW log_events; \
                 ALTER TABLE events RENAME TO before; \
                 CREATE TABLE events (id INTEGER PRIMARY KEY, occurred_at, version, tenant_id, stream_id, stream_type, \
                     event_type, event_hash, event_bytes); \
                 INSERT INTO events SELECT * FROM before; DROP TABLE before; \
                 CREATE VIEW log_events AS SELECT * FROM events; \
                 CREATE INDEX events_by_stream ON events (stream_id, version); \
                 ALTER TABLE checkpoints RENAME TO before; CREATE TABLE checkpoints (size INTEGER, note TEXT, made_at INTEGER); \
                 INSERT INTO checkpoints SELECT * FROM before; DROP TABLE before";
            pools.writer.execute(sqlx::raw_sql(sql)).await.map(drop).unwrap();
        }
    }
}
