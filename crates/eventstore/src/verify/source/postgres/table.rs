//! One table, read in the order of its ids over a connection of its own.

use sqlx::postgres::PgConnectOptions;

use crate::error::StoreError;
use crate::verify::quick::{Batch, COHORT_COLUMNS, COLUMNS, ScanError};
use crate::verify::source::window::Window;

use super::copied::CopiedRows;
use super::wire::Wire;
use super::{Route, begin};

/// A table that holds events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    name: &'static str,
    columns: &'static [&'static str],
}

/// One event a row.
pub(super) const EVENTS: Table = Table { name: "events", columns: &COLUMNS };
/// Events of up to 64 jobs a row.
pub(super) const COHORTS: Table = Table { name: "cohort_events", columns: &COHORT_COLUMNS };

/// The rows of a table on their way.
pub(super) struct TableRows {
    rows: CopiedRows,
    /// For rows that come as they lie.
    window: Option<Window>,
}

impl TableRows {
    /// All rows at the moment of an exported snapshot.
    pub(super) fn read(
        table: Table,
        options: &PgConnectOptions,
        snapshot: &str,
        route: Route,
    ) -> Result<Self, StoreError> {
        let mut wire = Wire::connect(options)?;
        wire.execute(route.session())?;
        wire.execute(&begin(snapshot))?;
        let (order, window) = match route {
            Route::Table => ("", Some(Window::new())),
            Route::Index => ("ORDER BY id", None),
        };
        let (name, columns) = (table.name, table.columns.join(", "));
        wire.copy_out(&format!("COPY (SELECT {columns} FROM {name} {order}) TO STDOUT (FORMAT binary)"))?;
        Ok(TableRows { rows: CopiedRows::new(wire), window })
    }

    /// The next batch, in order; `None` once there are no more. `used` gives batches that may be written over.
    pub(super) fn next(&mut self, mut used: impl FnMut() -> Batch) -> Result<Option<Batch>, ScanError> {
        while !self.rows.is_over() {
            let batch = self.rows.next(used())?;
            let next = match &mut self.window {
                Some(window) => window.take(batch)?,
                None => Some(batch),
            };
            if next.is_some() {
                return Ok(next);
            }
        }
        self.window.as_mut().map_or(Ok(None), Window::rest)
    }

    /// Everything was read.
    pub(super) fn close(self) -> Result<(), StoreError> {
        self.rows.close()
    }
}
