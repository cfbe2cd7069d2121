//! Any byte of the file that SQLite keeps the log in.
//!
//! A change is found, or the log cannot be checked at all, or no row of the log reads otherwise than before. The last
//! happens in the places that [`Place`] names and nowhere else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bpc_eventstore::verify::{VerifyOptions, verify};
use bpc_eventstore::{Clock, Store, StoreOptions};
use bpc_testkit::TestDatabase;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::common::NOW;
use crate::scene::log_of;

/// The tables that are the log.
const LOG: [&str; 6] = ["events", "log_order", "tiles", "log_state", "late_events", "checkpoints"];

/// Where in the file a byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A page of the log's tables. What may be changed there is what no row reads: free space, and how cells are
    /// kept apart.
    Log,
    /// An index: made from the tables, and made again by REINDEX.
    Index,
    /// A view, or another table that is no part of the log.
    Other,
    /// The schema and the header of the file: names, rules for careless statements, counters.
    Schema,
    /// Pages in no use.
    Free,
}

/// Every row of the log, by scans of the tables alone; `None` if they cannot be read.
fn rows(file: &Path) -> Option<Vec<Vec<Value>>> {
    let conn = Connection::open(file).ok()?;
    let mut rows = Vec::new();
    for table in LOG {
        let mut statement =
            conn.prepare(&format!("SELECT rowid, * FROM {table} NOT INDEXED ORDER BY rowid")).ok()?;
        let width = statement.column_count();
        let mut found = statement.query([]).ok()?;
        while let Some(row) = found.next().ok()? {
            rows.push((0..width).map(|column| row.get(column)).collect::<Result<_, _>>().ok()?);
        }
    }
    Some(rows)
}

/// What each page is used for.
fn places(file: &Path) -> (usize, BTreeMap<usize, Place>) {
    let conn = Connection::open(file).unwrap();
    let size: u32 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    let sql = "SELECT pageno, name, (SELECT type FROM sqlite_schema WHERE sqlite_schema.name = dbstat.name) FROM dbstat";
    let mut statement = conn.prepare(sql).unwrap();
    let place = |(page, name, kind): (u32, String, Option<String>)| {
        let place = match kind.as_deref() {
            Some("index") => Place::Index,
            Some(_) if LOG.contains(&&*name) => Place::Log,
            Some(_) => Place::Other,
            None => Place::Schema,
        };
        (page as usize, place)
    };
    let pages = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    (size as usize, pages.map(|page| place(page.unwrap())).collect())
}

/// Is anything found, or is there no checking it?
async fn is_noticed(file: &Path) -> bool {
    let options = StoreOptions { clock: Clock::manual(NOW), ..StoreOptions::default() };
    let Ok(store) = Store::connect(&format!("sqlite://{}", file.display()), options).await else {
        return true;
    };
    let report = verify(&store, &VerifyOptions::default(), |_| {}).await;
    store.close().await;
    report.is_ok_and(|report| report.is_sound()).then_some(()).is_none()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_byte_of_the_file_is_found_or_changes_no_row() {
    let db = TestDatabase::sqlite();
    let store = log_of(&db, 30).await;
    // Everything goes from the write-ahead log into the file.
    store.close().await;
    let file = db.path().unwrap();
    let sound = fs::read(file).unwrap();
    let (page_size, places) = places(file);
    let before = rows(file).unwrap();
    assert!(!is_noticed(file).await);

    let copy = TestDatabase::sqlite();
    let changed = copy.path().unwrap();
    let is_long = std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1");
    let step = if is_long { 3 } else { 149 };
    let (mut noticed, mut silent): (BTreeMap<Place, u32>, BTreeMap<Place, u32>) = Default::default();
    let mut wrong = Vec::new();
    for (number, byte) in (0..sound.len()).step_by(step).enumerate() {
        let mut bytes = sound.clone();
        bytes[byte] ^= 1 << (number % 8);
        fs::write(changed, &bytes).unwrap();
        let place = match byte {
            0..100 => Place::Schema,
            _ => places.get(&(byte / page_size + 1)).copied().unwrap_or(Place::Free),
        };
        if is_noticed(changed).await {
            *noticed.entry(place).or_default() += 1;
        } else {
            *silent.entry(place).or_default() += 1;
            // Only what is read from the tables counts; a new copy, for checking may have written to this one.
            fs::write(changed, &bytes).unwrap();
            if rows(changed).as_ref() != Some(&before) {
                wrong.push(format!("byte {byte} bit {} ({place:?})", number % 8));
            }
        }
        for rest in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{rest}", changed.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "changed rows go unnoticed: {wrong:#?}\nnoticed {noticed:?}, silent {silent:?}"
    );
    assert!(
        noticed.get(&Place::Log).is_some_and(|found| *found > 50),
        "noticed {noticed:?}, silent {silent:?}"
    );
    assert!(silent.contains_key(&Place::Index), "noticed {noticed:?}, silent {silent:?}");
}
