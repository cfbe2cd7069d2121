//! One value of a view, the same on both databases: booleans are integers, uuids are bytes.

use std::cmp::Ordering;
use std::fmt;

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Postgres, Row, Sqlite, TypeInfo, ValueRef};
use uuid::Uuid;

/// A value. SQLite keeps any value in any column, so each row brings its own types.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Bytes(Vec<u8>),
}

impl Cell {
    /// The order in which SQLite sorts, and PostgreSQL too within the type of a key column.
    pub(super) fn order(&self, other: &Cell) -> Ordering {
        let rank = |cell: &Cell| match cell {
            Cell::Null => 0,
            Cell::Integer(_) | Cell::Real(_) => 1,
            Cell::Text(_) => 2,
            Cell::Bytes(_) => 3,
        };
        match (self, other) {
            (Cell::Integer(a), Cell::Integer(b)) => a.cmp(b),
            (Cell::Real(a), Cell::Real(b)) => a.total_cmp(b),
            (Cell::Integer(a), Cell::Real(b)) => (*a as f64).total_cmp(b),
            (Cell::Real(a), Cell::Integer(b)) => a.total_cmp(&(*b as f64)),
            (Cell::Text(a), Cell::Text(b)) | (Cell::Bytes(a), Cell::Bytes(b)) => a.cmp(b),
            (a, b) => rank(a).cmp(&rank(b)),
        }
    }
}

/// As a report shows it.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: usize = 120;
        match self {
            Cell::Null => f.write_str("NULL"),
            Cell::Integer(value) => value.fmt(f),
            Cell::Real(value) => write!(f, "{value:?}"),
            Cell::Text(text) => {
                let shown = &text[..text.len().min(SHOWN_MAX)];
                f.write_str(&String::from_utf8_lossy(shown))?;
                if text.len() > SHOWN_MAX { write!(f, "… ({} bytes)", text.len()) } else { Ok(()) }
            }
            Cell::Bytes(bytes) => match Uuid::from_slice(bytes) {
                Ok(id) => id.fmt(f),
                Err(_) => {
                    bytes.iter().take(SHOWN_MAX).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                    if bytes.len() > SHOWN_MAX { write!(f, "… ({} bytes)", bytes.len()) } else { Ok(()) }
                }
            },
        }
    }
}

/// The types of PostgreSQL that SQLite has too, as the catalogue spells them.
pub(super) const POSTGRES_TYPES: &[&str] =
    &["bool", "int2", "int4", "int8", "float8", "text", "varchar", "bytea", "uuid"];

/// The cells of a row, whose columns have one of [`POSTGRES_TYPES`].
pub(super) fn cells_of_postgres(row: &PgRow) -> Result<Vec<Cell>, sqlx::Error> {
    (0..row.len()).map(|index| cell_of_postgres(row, index).map_err(sqlx::Error::Decode)).collect()
}

fn cell_of_postgres(row: &PgRow, index: usize) -> Result<Cell, sqlx::error::BoxDynError> {
    let value = row.try_get_raw(index)?;
    if value.is_null() {
        return Ok(Cell::Null);
    }
    let bytes = value.as_bytes()?;
    Ok(match value.type_info().name() {
        "BOOL" => Cell::Integer(<bool as Decode<Postgres>>::decode(value)?.into()),
        "INT2" => Cell::Integer(<i16 as Decode<Postgres>>::decode(value)?.into()),
        "INT4" => Cell::Integer(<i32 as Decode<Postgres>>::decode(value)?.into()),
        "INT8" => Cell::Integer(<i64 as Decode<Postgres>>::decode(value)?),
        "FLOAT8" => Cell::Real(<f64 as Decode<Postgres>>::decode(value)?),
        "TEXT" | "VARCHAR" => Cell::Text(bytes.to_vec()),
        _ => Cell::Bytes(bytes.to_vec()),
    })
}

/// The cells of a row.
pub(super) fn cells_of_sqlite(row: &SqliteRow) -> Result<Vec<Cell>, sqlx::Error> {
    (0..row.len()).map(|index| cell_of_sqlite(row, index).map_err(sqlx::Error::Decode)).collect()
}

fn cell_of_sqlite(row: &SqliteRow, index: usize) -> Result<Cell, sqlx::error::BoxDynError> {
    let value = row.try_get_raw(index)?;
    if value.is_null() {
        return Ok(Cell::Null);
    }
    let is_text = match value.type_info().name() {
        "INTEGER" => return Ok(Cell::Integer(<i64 as Decode<Sqlite>>::decode(value)?)),
        "REAL" => return Ok(Cell::Real(<f64 as Decode<Sqlite>>::decode(value)?)),
        name => name == "TEXT",
    };
    let bytes = <Vec<u8> as Decode<Sqlite>>::decode(value)?;
    Ok(if is_text { Cell::Text(bytes) } else { Cell::Bytes(bytes) })
}
