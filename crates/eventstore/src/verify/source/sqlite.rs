//! From SQLite: rows in the order of the table itself, which is that of their ids.
//!
//! Read through another driver than everything else: the usual one sends each row, copied value by value,
//! from a thread of its own, which takes longer than checking it.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use sqlx::SqlitePool;
use tokio::task::spawn_blocking;

use crate::error::StoreError;
use crate::verify::quick::{Batch, Batches, COLUMNS, Outlet, batches};

use super::{BATCH_BYTES_MAX, BATCH_ROWS_MAX};

/// All events as they are now, or a little later.
pub(in crate::verify) fn sqlite_batches(pool: &SqlitePool) -> Batches {
    let (mut outlet, batches) = batches();
    let file = pool.connect_options().get_filename().to_path_buf();
    spawn_blocking(move || {
        if let Err(error) = read(file, &mut outlet) {
            outlet.blocking_fail(unavailable(error).into());
        }
    });
    batches
}

fn read(file: PathBuf, outlet: &mut Outlet) -> rusqlite::Result<()> {
    // Not opened read-only: a reader of a write-ahead log may have to mend its index first.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(file, flags)?;
    conn.busy_timeout(Duration::from_secs(5))?;
    conn.pragma_update(None, "query_only", "on")?;
    let sql = format!("SELECT {} FROM events NOT INDEXED ORDER BY id", COLUMNS.join(", "));
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut batch = Batch::default();
    while let Some(row) = rows.next()? {
        batch.begin_row();
        for (index, kind) in KINDS.iter().enumerate() {
            column(&mut batch, *kind, row.get_ref(index)?);
        }
        batch.end_row();
        if batch.row_count() == BATCH_ROWS_MAX || batch.bytes.len() >= BATCH_BYTES_MAX {
            if !outlet.blocking_pass_on(batch) {
                return Ok(());
            }
            batch = outlet.empty();
        }
    }
    outlet.blocking_pass_on(batch);
    Ok(())
}

/// What a column holds.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    SmallNumber,
    Text,
    Bytes,
}

/// In the order of [`COLUMNS`].
const KINDS: [Kind; COLUMNS.len()] = [
    Kind::Number,
    Kind::Bytes,
    Kind::SmallNumber,
    Kind::Number,
    Kind::Bytes,
    Kind::Bytes,
    Kind::Text,
    Kind::Text,
    Kind::Bytes,
];

/// A value of another type than its column should have is left out: such a row is for the exact look.
fn column(batch: &mut Batch, kind: Kind, value: ValueRef<'_>) {
    match (kind, value) {
        (Kind::Number, ValueRef::Integer(number)) => batch.column(Some(&number.to_be_bytes())),
        (Kind::SmallNumber, ValueRef::Integer(number)) => {
            batch.column(i32::try_from(number).ok().map(i32::to_be_bytes).as_ref().map(|it| &it[..]));
        }
        (Kind::Text, ValueRef::Text(bytes)) | (Kind::Bytes, ValueRef::Blob(bytes)) => {
            batch.column(Some(bytes));
        }
        _ => batch.column(None),
    }
}

fn unavailable(error: rusqlite::Error) -> StoreError {
    StoreError::Unavailable(sqlx::Error::Io(std::io::Error::other(error)))
}
