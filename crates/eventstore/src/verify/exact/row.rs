//! A row of the log as stored, borrowed from what the driver holds.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row, Sqlite, TypeInfo, ValueRef};

use super::cell::Cell;

// Places of columns in `scan_events.sql`.
pub(super) const STREAM_TYPE: usize = 1;
pub(super) const STREAM_ID: usize = 2;
pub(super) const VERSION: usize = 3;
pub(super) const EVENT_HASH: usize = 6;
pub(super) const EVENT_BYTES: usize = 7;
pub(super) const ID: usize = 8;
/// So many are of one event.
pub(super) const COLUMNS: usize = 9;

/// The columns of one event.
pub(super) struct Stored<'r> {
    pub(super) tenant_id: Cell<'r>,
    pub(super) stream_type: Cell<'r>,
    pub(super) stream_id: Cell<'r>,
    pub(super) version: Cell<'r>,
    pub(super) event_type: Cell<'r>,
    pub(super) occurred_at: Cell<'r>,
    pub(super) event_hash: Cell<'r>,
    pub(super) event_bytes: Cell<'r>,
    /// Insertion id: not checked, but by it the event is found again.
    pub(super) id: Cell<'r>,
}

/// A row of either database. Reading a column of the wrong type never fails.
pub(super) trait EventRow: Send + 'static {
    /// Column number `index`.
    fn cell(&self, index: usize) -> Cell<'_>;

    /// Which stream it stands in.
    fn stream_id(&self) -> Cell<'_> {
        self.cell(STREAM_ID)
    }

    /// By which it is found again.
    fn id(&self) -> Option<i64> {
        self.cell(ID).as_integer()
    }

    /// About how much memory it holds.
    fn size(&self) -> usize {
        self.cell(EVENT_BYTES).bytes().len() + 512
    }

    /// Everything that is checked.
    fn stored(&self) -> Stored<'_> {
        Stored {
            tenant_id: self.cell(0),
            stream_type: self.cell(STREAM_TYPE),
            stream_id: self.cell(STREAM_ID),
            version: self.cell(VERSION),
            event_type: self.cell(4),
            occurred_at: self.cell(5),
            event_hash: self.cell(EVENT_HASH),
            event_bytes: self.cell(EVENT_BYTES),
            id: self.cell(ID),
        }
    }
}

/// PostgreSQL keeps to the types of its columns, so the place tells the type. A column whose type was
/// altered reads as the bytes that arrived.
impl EventRow for PgRow {
    fn cell(&self, index: usize) -> Cell<'_> {
        let Ok(bytes) =
            self.try_get_raw(index).and_then(|value| value.as_bytes().map_err(sqlx::Error::Decode))
        else {
            return Cell::Null;
        };
        match index {
            5 | ID => {
                bytes.try_into().map_or(Cell::blob(bytes), |bytes| Cell::Integer(i64::from_be_bytes(bytes)))
            }
            VERSION => bytes
                .try_into()
                .map_or(Cell::blob(bytes), |bytes| Cell::Integer(i32::from_be_bytes(bytes).into())),
            STREAM_TYPE | 4 => Cell::text(bytes),
            _ => Cell::blob(bytes),
        }
    }
}

impl EventRow for SqliteRow {
    fn cell(&self, index: usize) -> Cell<'_> {
        let Ok(value) = self.try_get_raw(index) else {
            return Cell::Null;
        };
        if value.is_null() {
            return Cell::Null;
        }
        let is_text = match value.type_info().name() {
            "INTEGER" => return <i64 as Decode<Sqlite>>::decode(value).map_or(Cell::Null, Cell::Integer),
            "REAL" => return <f64 as Decode<Sqlite>>::decode(value).map_or(Cell::Null, Cell::Real),
            name => name == "TEXT",
        };
        let bytes = <&[u8] as Decode<Sqlite>>::decode(value).unwrap_or_default();
        if is_text { Cell::text(bytes) } else { Cell::blob(bytes) }
    }
}
