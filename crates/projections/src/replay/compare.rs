//! A rebuilt view and the live one, row by row.

use std::cmp::Ordering;

use bpc_eventstore::Conn;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sqlx::AssertSqlSafe;

use crate::domain::ViewTable;

use super::cell::{Cell, cells_of_postgres, cells_of_sqlite};
use super::columns::in_key_order;
use super::drift::{Drift, DriftCode, Drifts};
use super::error::ReplayError;
use super::report::Progress;

/// Rows between two words about progress.
const PROGRESS_EVERY: u64 = 4096;

pub(super) type Row = Vec<Cell>;

/// One row that is not the same on both sides.
pub(super) enum Difference {
    /// Follows from the log and is not there.
    Missing(Row),
    /// Is there and does not follow from the log.
    Extra(Row),
    /// Has other values than follow from the log.
    Other { expected: Row, found: Row },
}

/// Merge both sides of a view in key order. Returns how many rows there are on either side.
pub(super) async fn compare(
    view: &ViewTable,
    rebuilt: &mut Conn<'_>,
    live: &mut Conn<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
    mut each: impl FnMut(Difference),
) -> Result<u64, ReplayError> {
    let (expected_sql, found_sql) = (in_key_order(rebuilt, view).await?, in_key_order(live, view).await?);
    let mut expected_rows = rows(rebuilt, expected_sql, ReplayError::target);
    let mut found_rows = rows(live, found_sql, ReplayError::source);
    let (mut expected, mut found) = (expected_rows.try_next().await?, found_rows.try_next().await?);
    let mut compared = 0;
    loop {
        (expected, found) = match (expected, found) {
            (None, None) => break,
            (Some(row), None) => {
                each(Difference::Missing(row));
                (expected_rows.try_next().await?, None)
            }
            (None, Some(row)) => {
                each(Difference::Extra(row));
                (None, found_rows.try_next().await?)
            }
            (Some(expected), Some(found)) => match by_key(view, &expected, &found) {
                Ordering::Less => {
                    each(Difference::Missing(expected));
                    (expected_rows.try_next().await?, Some(found))
                }
                Ordering::Greater => {
                    each(Difference::Extra(found));
                    (Some(expected), found_rows.try_next().await?)
                }
                Ordering::Equal => {
                    if expected.iter().zip(&found).any(|(a, b)| a.order(b) != Ordering::Equal) {
                        each(Difference::Other { expected, found });
                    }
                    (expected_rows.try_next().await?, found_rows.try_next().await?)
                }
            },
        };
        compared += 1;
        if compared % PROGRESS_EVERY == 0 {
            progress(Progress::Comparing { view: view.name, rows: compared });
        }
    }
    progress(Progress::Comparing { view: view.name, rows: compared });
    Ok(compared)
}

/// Report a difference: one drift for a row that is missing or extra, else one for each column.
pub(super) fn report(view: &ViewTable, difference: &Difference, drifts: &mut Drifts) {
    match difference {
        Difference::Missing(row) => drifts.add(|| {
            let message = format!("the log says there is a row in {}; there is none", view.name);
            whole_row(DriftCode::ViewRowMissing, view, row, message)
        }),
        Difference::Extra(row) => drifts.add(|| {
            let message = format!("the row in {} does not follow from the log", view.name);
            whole_row(DriftCode::ViewRowExtra, view, row, message)
        }),
        Difference::Other { expected, found } => report_columns(view, expected, found, drifts),
    }
}

fn report_columns(view: &ViewTable, expected: &[Cell], found: &[Cell], drifts: &mut Drifts) {
    let pairs = view.columns.iter().zip(expected.iter().zip(found)).skip(view.key_columns);
    for (&column, (expected, found_cell)) in pairs {
        if expected.order(found_cell) == Ordering::Equal {
            continue;
        }
        drifts.add(|| Drift {
            code: DriftCode::ViewRowDiffers,
            view: view.name,
            key: key_text(view, found),
            column: Some(column),
            expected: Some(expected.to_string()),
            found: Some(found_cell.to_string()),
            message: format!("{column} is {found_cell}, the log says {expected}"),
        });
    }
}

fn by_key(view: &ViewTable, a: &[Cell], b: &[Cell]) -> Ordering {
    let orders = a.iter().zip(b).take(view.key_columns).map(|(a, b)| a.order(b));
    orders.fold(Ordering::Equal, Ordering::then)
}

fn whole_row(code: DriftCode, view: &ViewTable, row: &[Cell], message: String) -> Drift {
    let key = key_text(view, row);
    Drift { code, view: view.name, key, column: None, expected: None, found: None, message }
}

fn key_text(view: &ViewTable, row: &[Cell]) -> String {
    let key = view.columns.iter().zip(row).take(view.key_columns);
    key.map(|(column, cell)| format!("{column}={cell}")).collect::<Vec<_>>().join(" ")
}

/// The rows of a statement as they arrive, a few of them in memory.
pub(super) fn rows<'c>(
    conn: &'c mut Conn<'_>,
    sql: String,
    failed: fn(sqlx::Error) -> ReplayError,
) -> BoxStream<'c, Result<Row, ReplayError>> {
    match conn {
        Conn::Postgres(conn) => sqlx::query(AssertSqlSafe(sql))
            .fetch(&mut **conn)
            .map(move |row| row.and_then(|row| cells_of_postgres(&row)).map_err(failed))
            .boxed(),
        Conn::Sqlite(conn) => sqlx::query(AssertSqlSafe(sql))
            .fetch(&mut **conn)
            .map(move |row| row.and_then(|row| cells_of_sqlite(&row)).map_err(failed))
            .boxed(),
    }
}
