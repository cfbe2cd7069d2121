//! Rows to take away from a live view and rows to put there.

use bpc_eventstore::{Conn, portable};
use futures_util::TryStreamExt;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe};
use uuid::Uuid;

use crate::domain::ViewTable;

use super::cell::Cell;
use super::columns::{column_types, in_key_order};
use super::compare::{Difference, Row, rows};
use super::error::ReplayError;

/// More rows than this are not kept in memory: the whole view is written anew.
const ROWS_MAX: usize = 10_000;
/// Values in one statement; SQLite takes 32,766.
const VALUES_MAX: usize = 4000;

/// What makes a live view what the log says.
#[derive(Default)]
pub(super) struct Patch {
    /// Rows whose keys have to go, those that come back otherwise included.
    delete: Vec<Row>,
    insert: Vec<Row>,
    changes: u64,
}

impl Patch {
    pub(super) fn add(&mut self, view: &ViewTable, difference: Difference) {
        self.changes += 1;
        if self.is_whole() {
            return;
        }
        let mut delete = |mut row: Row| {
            row.truncate(view.key_columns);
            self.delete.push(row);
        };
        match difference {
            Difference::Missing(row) => self.insert.push(row),
            Difference::Extra(row) => delete(row),
            Difference::Other { expected, found } => {
                delete(found);
                self.insert.push(expected);
            }
        }
    }

    /// Does nothing differ?
    pub(super) fn is_empty(&self) -> bool {
        self.changes == 0
    }

    /// Change the live view. Returns how many rows differed.
    pub(super) async fn apply(
        self,
        view: &ViewTable,
        rebuilt: &mut Conn<'_>,
        live: &mut Conn<'_>,
    ) -> Result<u64, ReplayError> {
        if self.is_empty() {
            return Ok(0);
        }
        let mut table = Table::of(view, live).await?;
        if self.is_whole() {
            table.clear(live).await?;
            let sql = in_key_order(rebuilt, view).await?;
            let mut rows = rows(rebuilt, sql, ReplayError::target);
            let mut page = Vec::with_capacity(table.page);
            while let Some(row) = rows.try_next().await? {
                page.push(row);
                if page.len() == table.page {
                    table.insert(live, &page).await?;
                    page.clear();
                }
            }
            table.insert(live, &page).await?;
        } else {
            // First what goes, so that nothing stands in the way of a unique index.
            for key in &self.delete {
                table.delete(live, key).await?;
            }
            for page in self.insert.chunks(table.page) {
                table.insert(live, page).await?;
            }
        }
        Ok(self.changes)
    }

    fn is_whole(&self) -> bool {
        self.changes > ROWS_MAX as u64
    }
}

/// A live view as statements see it.
struct Table<'v> {
    view: &'v ViewTable,
    /// Types of the columns on PostgreSQL.
    types: Vec<String>,
    /// Rows in one statement.
    page: usize,
}

impl<'v> Table<'v> {
    async fn of(view: &'v ViewTable, live: &mut Conn<'_>) -> Result<Table<'v>, ReplayError> {
        let types = match live {
            Conn::Sqlite(_) => Vec::new(),
            Conn::Postgres(conn) => {
                let types = column_types(conn, view).await?;
                view.columns.iter().map(|column| types[*column].clone()).collect()
            }
        };
        Ok(Table { view, types, page: (VALUES_MAX / view.columns.len()).max(1) })
    }

    async fn clear(&mut self, live: &mut Conn<'_>) -> Result<(), ReplayError> {
        let sql = AssertSqlSafe(format!("DELETE FROM {}", self.view.name));
        portable!(live, c => sqlx::query(sql).execute(&mut **c).await.map(drop)).map_err(ReplayError::source)
    }

    async fn delete(&mut self, live: &mut Conn<'_>, key: &[Cell]) -> Result<(), ReplayError> {
        let equals = |(index, column): (usize, &&str)| format!("{column} = ${}", index + 1);
        let conditions: Vec<String> =
            self.view.columns.iter().take(key.len()).enumerate().map(equals).collect();
        let sql = format!("DELETE FROM {} WHERE {}", self.view.name, conditions.join(" AND "));
        self.execute(live, sql, key.iter()).await
    }

    async fn insert(&mut self, live: &mut Conn<'_>, page: &[Row]) -> Result<(), ReplayError> {
        if page.is_empty() {
            return Ok(());
        }
        let width = self.view.columns.len();
        let values = |row: usize| {
            let numbers: Vec<String> =
                (1..=width).map(|column| format!("${}", row * width + column)).collect();
            format!("({})", numbers.join(", "))
        };
        let values: Vec<String> = (0..page.len()).map(values).collect();
        let (name, columns) = (self.view.name, self.view.columns.join(", "));
        let sql = format!("INSERT INTO {name} ({columns}) VALUES {}", values.join(", "));
        self.execute(live, sql, page.iter().flatten()).await
    }

    /// Run a statement whose values are of columns in order, again and again.
    async fn execute<'c>(
        &self,
        live: &mut Conn<'_>,
        sql: String,
        cells: impl Iterator<Item = &'c Cell>,
    ) -> Result<(), ReplayError> {
        let sql = AssertSqlSafe(sql);
        let done = match live {
            Conn::Sqlite(conn) => {
                let mut arguments = SqliteArguments::default();
                cells
                    .into_iter()
                    .try_for_each(|cell| add_sqlite(&mut arguments, cell))
                    .map_err(unwritable)?;
                sqlx::query_with(sql, arguments).persistent(false).execute(&mut **conn).await.map(drop)
            }
            Conn::Postgres(conn) => {
                let mut arguments = PgArguments::default();
                let mut typed = cells.zip(self.types.iter().cycle());
                typed
                    .try_for_each(|(cell, name)| add_postgres(&mut arguments, cell, name))
                    .map_err(unwritable)?;
                sqlx::query_with(sql, arguments).persistent(false).execute(&mut **conn).await.map(drop)
            }
        };
        done.map_err(ReplayError::source)
    }
}

fn unwritable(error: sqlx::error::BoxDynError) -> ReplayError {
    ReplayError::source(sqlx::Error::Encode(error))
}

type Added = Result<(), sqlx::error::BoxDynError>;

fn add_sqlite(arguments: &mut SqliteArguments, cell: &Cell) -> Added {
    match cell {
        Cell::Null => arguments.add(None::<i64>),
        Cell::Integer(value) => arguments.add(*value),
        Cell::Real(value) => arguments.add(*value),
        Cell::Text(text) => arguments.add(String::from_utf8(text.clone())?),
        Cell::Bytes(bytes) => arguments.add(bytes.clone()),
    }
}

/// A cell as a value of a type of [`POSTGRES_TYPES`](super::cell::POSTGRES_TYPES).
fn add_postgres(arguments: &mut PgArguments, cell: &Cell, type_name: &str) -> Added {
    let integer = match cell {
        Cell::Integer(value) => Some(*value),
        _ => None,
    };
    let bytes = match cell {
        Cell::Text(bytes) | Cell::Bytes(bytes) => Some(bytes.clone()),
        _ => None,
    };
    let real = match cell {
        Cell::Real(value) => Some(*value),
        _ => None,
    };
    match type_name {
        "bool" => arguments.add(integer.map(|value| value != 0)),
        "int2" => arguments.add(integer.map(i16::try_from).transpose()?),
        "int4" => arguments.add(integer.map(i32::try_from).transpose()?),
        "int8" => arguments.add(integer),
        "float8" => arguments.add(real.or(integer.map(|value| value as f64))),
        "uuid" => arguments.add(bytes.map(|bytes| Uuid::from_slice(&bytes)).transpose()?),
        "text" | "varchar" => arguments.add(bytes.map(String::from_utf8).transpose()?),
        _ => arguments.add(bytes),
    }
}
