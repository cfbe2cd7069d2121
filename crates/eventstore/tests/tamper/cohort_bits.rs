//! Any bit of any stored column of a row that holds events of many jobs.
//!
//! Every flip is found; only the id of a row that is not sealed says nothing. By default one bit of every second byte is
//! turned over, with `BPC_TEST_LONG=1` all bits there are.

use std::collections::BTreeMap;

use bpc_eventstore::verify::VerifyOptions;
use bpc_eventstore::{Conn, Store};
use bpc_testkit::TestDatabase;
use uuid::Uuid;

use crate::cohort::CohortRow;
use crate::log::lift_rules;
use crate::scene::{log_of_cohorts, report};

type Bits = fn(&CohortRow) -> usize;
type Flip = fn(&mut CohortRow, usize);

/// Columns whose changes are found in the row where they are made: they are made to all rows at once.
const TOGETHER: [(&str, Bits, Flip); 8] = [
    ("occurred_at", |_| 63, |row, bit| row.occurred_at ^= 1 << bit),
    ("tenant_id", |_| 128, |row, bit| uuid(&mut row.tenant_id, bit)),
    ("first_stream_id", |_| 128, |row, bit| uuid(&mut row.first_stream_id, bit)),
    ("last_stream_id", |_| 128, |row, bit| uuid(&mut row.last_stream_id, bit)),
    ("event_type", |row| row.event_type.len() * 8, |row, bit| text(&mut row.event_type, bit)),
    ("stream_ids", |row| row.stream_ids.len() * 8, |row, bit| bytes(&mut row.stream_ids, bit)),
    ("event_hashes", |row| row.event_hashes.len() * 8, |row, bit| bytes(&mut row.event_hashes, bit)),
    ("event_lines", |row| row.event_lines.len() * 8, |row, bit| bytes(&mut row.event_lines, bit)),
];

/// Columns that say which row it is.
const ALONE: [(&str, Bits, Flip); 2] =
    [("id", |_| 63, |row, bit| row.id ^= 1 << bit), ("version", |_| 31, |row, bit| row.version ^= 1 << bit)];

fn bytes(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

fn uuid(id: &mut Uuid, bit: usize) {
    let mut changed = id.into_bytes();
    bytes(&mut changed, bit);
    *id = Uuid::from_bytes(changed);
}

/// Text stays text: PostgreSQL keeps nothing else.
fn text(value: &mut String, bit: usize) {
    let mut letters = value.clone().into_bytes();
    bytes(&mut letters, bit);
    if let Some(changed) = String::from_utf8(letters).ok().filter(|changed| !changed.contains('\0')) {
        *value = changed;
    }
}

fn step() -> usize {
    // An odd number, so that all bits of a byte have their turn.
    if std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1") { 1 } else { 17 }
}

async fn sound_rows(db: &TestDatabase) -> (Store, Vec<CohortRow>) {
    let store = log_of_cohorts(db).await;
    lift_rules(&store).await;
    let mut tx = store.begin_read().await.unwrap();
    let Conn::Postgres(conn) = tx.conn() else { unreachable!() };
    let rows = CohortRow::load(conn).await;
    drop(tx);
    assert_eq!(rows.len(), 6);
    (store, rows)
}

async fn put(store: &Store, rows: &[CohortRow]) {
    let mut tx = store.begin().await.unwrap();
    let Conn::Postgres(conn) = tx.conn() else { unreachable!() };
    CohortRow::store(rows, conn).await;
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bit_of_a_row_turned_over_is_found_where_it_is() {
    let db = TestDatabase::postgres().await;
    let (store, sound) = sound_rows(&db).await;
    let (mut tried, mut silent) = (BTreeMap::new(), Vec::new());
    for (column, bits, flip) in TOGETHER {
        for bit in (0..sound.iter().map(bits).max().unwrap()).step_by(step()) {
            let mut rows = sound.clone();
            rows.iter_mut().filter(|row| bit < bits(row)).for_each(|row| flip(row, bit));
            put(&store, &rows).await;
            let found = report(&store, &VerifyOptions::default()).await;
            for (before, after) in sound.iter().zip(&rows).filter(|(before, after)| before != after) {
                *tried.entry(column).or_insert(0) += 1;
                // What another row lacks is told of this one too, and says nothing about it.
                let mut findings = found.findings.iter().filter(|it| it.code != "VERSION_GAP");
                let streams =
                    [before, after].map(|row| row.stream_ids.chunks(16).map(Vec::from).collect::<Vec<_>>());
                let is_here = findings.any(|it| {
                    let stream = it.stream.0;
                    let is_in_it = streams.concat().contains(&stream.as_bytes().to_vec())
                        || stream == after.first_stream_id;
                    it.version == Some(before.version.into()) && is_in_it
                });
                if !is_here {
                    silent.push(format!("{column} bit {bit} of row {}", before.id));
                }
            }
        }
    }
    assert!(silent.is_empty(), "of {tried:?} these were not found: {silent:#?}");
    assert_eq!(tried.len(), TOGETHER.len(), "{tried:?}");
    put(&store, &sound).await;
    assert!(report(&store, &VerifyOptions::default()).await.is_sound());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bit_of_an_id_or_a_version_of_a_row_turned_over_is_found() {
    let db = TestDatabase::postgres().await;
    let (store, sound) = sound_rows(&db).await;
    let unsealed = sound.last().unwrap().id;
    for (column, bits, flip) in ALONE {
        for (number, row) in sound.iter().enumerate() {
            for bit in (number % step()..bits(row)).step_by(step()) {
                let mut rows = sound.clone();
                flip(&mut rows[number], bit);
                // Another row has that one.
                if sound.iter().any(|other| other.id == rows[number].id) && column == "id" {
                    continue;
                }
                put(&store, &rows).await;
                let found = report(&store, &VerifyOptions::default()).await;
                // As with events in rows of their own, unless there is no place for a row.
                let is_silent = column == "id" && row.id == unsealed && bit >= 6;
                assert!(is_silent || !found.is_sound(), "{column} bit {bit} of row {}", row.id);
            }
        }
    }
}
