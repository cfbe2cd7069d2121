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

type Row = Vec<Cell>;

/// Compare a view, merging both sides in key order. Returns how many rows there are on either side.
pub(super) async fn compare(
    view: &ViewTable,
    rebuilt: &mut Conn<'_>,
    live: &mut Conn<'_>,
    drifts: &mut Drifts,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<u64, ReplayError> {
    let (expected_sql, found_sql) = (in_key_order(rebuilt, view).await?, in_key_order(live, view).await?);
    let mut expected_rows = rows(rebuilt, expected_sql, ReplayError::target);
    let mut found_rows = rows(live, found_sql, ReplayError::source);
    let (mut expected, mut found) = (expected_rows.try_next().await?, found_rows.try_next().await?);
    let mut compared = 0;
    loop {
        match by_key(view, expected.as_ref(), found.as_ref()) {
            None => break,
            Some(Ordering::Less) => {
                drifts.add(|| missing(view, expected.as_deref().unwrap_or_default()));
                expected = expected_rows.try_next().await?;
            }
            Some(Ordering::Greater) => {
                drifts.add(|| extra(view, found.as_deref().unwrap_or_default()));
                found = found_rows.try_next().await?;
            }
            Some(Ordering::Equal) => {
                if let (Some(expected), Some(found)) = (&expected, &found) {
                    compare_columns(view, expected, found, drifts);
                }
                expected = expected_rows.try_next().await?;
                found = found_rows.try_next().await?;
            }
        }
        compared += 1;
        if compared % PROGRESS_EVERY == 0 {
            progress(Progress::Comparing { view: view.name, rows: compared });
        }
    }
    progress(Progress::Comparing { view: view.name, rows: compared });
    Ok(compared)
}

/// Which side has the smaller key; a side that has ended has the largest. `None` once both have.
fn by_key(view: &ViewTable, expected: Option<&Row>, found: Option<&Row>) -> Option<Ordering> {
    let key = |row| -> &[Cell] { &Vec::as_slice(row)[..view.key_columns] };
    match (expected, found) {
        (None, None) => None,
        (Some(_), None) => Some(Ordering::Less),
        (None, Some(_)) => Some(Ordering::Greater),
        (Some(expected), Some(found)) => {
            let orders = key(expected).iter().zip(key(found)).map(|(a, b)| a.order(b));
            Some(orders.fold(Ordering::Equal, Ordering::then))
        }
    }
}

fn compare_columns(view: &ViewTable, expected: &[Cell], found: &[Cell], drifts: &mut Drifts) {
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

fn missing(view: &ViewTable, row: &[Cell]) -> Drift {
    let message = format!("the log says there is a row in {}; there is none", view.name);
    whole_row(DriftCode::ViewRowMissing, view, row, message)
}

fn extra(view: &ViewTable, row: &[Cell]) -> Drift {
    let message = format!("the row in {} does not follow from the log", view.name);
    whole_row(DriftCode::ViewRowExtra, view, row, message)
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
fn rows<'c>(
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
