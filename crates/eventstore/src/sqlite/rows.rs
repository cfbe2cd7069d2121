//! Many rows per statement: SQLite has no arrays, so the one `VALUES` row of a statement is
//! repeated. Chunk sizes come from a short ladder, so that few texts are ever prepared; running
//! them row by row instead halves the throughput of everything.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{AssertSqlSafe, Sqlite, SqliteConnection};

use crate::error::StoreError;

/// By address of the statement and number of rows.
type Texts = HashMap<(usize, usize), Arc<str>>;

type Statement<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Rows per statement, largest first. 128 rows of 20 columns stay far below SQLite's 32,766
/// parameters.
const LADDER: [usize; 4] = [128, 32, 8, 1];

/// Run a writing statement with one `VALUES (?, ..)` row for all of `items`.
pub async fn execute_rows<T>(
    conn: &mut SqliteConnection,
    sql: &'static str,
    items: &[T],
    bind: impl for<'q> Fn(Statement<'q>, &'q T) -> Statement<'q>,
) -> Result<(), StoreError> {
    execute_rows_behind(conn, sql, as_it_is, items, bind).await.map(drop)
}

/// The same with parameters before the row, bound by `lead`. They are anonymous too: the driver counts
/// numbered ones apart. Returns how many rows it changed.
pub async fn execute_rows_behind<T>(
    conn: &mut SqliteConnection,
    sql: &'static str,
    lead: impl for<'q> Fn(Statement<'q>) -> Statement<'q>,
    items: &[T],
    bind: impl for<'q> Fn(Statement<'q>, &'q T) -> Statement<'q>,
) -> Result<u64, StoreError> {
    let mut changed = 0;
    for chunk in chunks(items) {
        let query = lead(sqlx::query(AssertSqlSafe(repeated(sql, chunk.len()))));
        changed += chunk.iter().fold(query, &bind).execute(&mut *conn).await?.rows_affected();
    }
    Ok(changed)
}

/// Run a statement that answers, with one `VALUES (?, ..)` row for all of `items`.
pub async fn fetch_rows<T>(
    conn: &mut SqliteConnection,
    sql: &'static str,
    items: &[T],
    bind: impl for<'q> Fn(Statement<'q>, &'q T) -> Statement<'q>,
) -> Result<Vec<SqliteRow>, StoreError> {
    fetch_rows_behind(conn, sql, as_it_is, items, bind).await
}

/// The same with parameters before the row, bound by `lead`. They are anonymous too: the driver counts
/// numbered ones apart.
pub async fn fetch_rows_behind<T>(
    conn: &mut SqliteConnection,
    sql: &'static str,
    lead: impl for<'q> Fn(Statement<'q>) -> Statement<'q>,
    items: &[T],
    bind: impl for<'q> Fn(Statement<'q>, &'q T) -> Statement<'q>,
) -> Result<Vec<SqliteRow>, StoreError> {
    let mut rows = Vec::new();
    for chunk in chunks(items) {
        let query = lead(sqlx::query(AssertSqlSafe(repeated(sql, chunk.len()))));
        rows.extend(chunk.iter().fold(query, &bind).fetch_all(&mut *conn).await?);
    }
    Ok(rows)
}

fn as_it_is(query: Statement<'_>) -> Statement<'_> {
    query
}

fn chunks<T>(mut items: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = LADDER.into_iter().find(|size| *size <= items.len())?;
        let (chunk, rest) = items.split_at(size);
        items = rest;
        Some(chunk)
    })
}

/// The statement with its one row of parameters repeated `rows` times.
fn repeated(sql: &'static str, rows: usize) -> Arc<str> {
    static TEXTS: LazyLock<Mutex<Texts>> = LazyLock::new(Mutex::default);
    let mut texts = TEXTS.lock().expect("no panic while held");
    let text = texts.entry((sql.as_ptr().addr(), rows)).or_insert_with(|| {
        let start = sql.find("VALUES (").expect("the statement has a VALUES row") + "VALUES ".len();
        let end = start + sql[start..].find(')').expect("the row ends") + 1;
        let row = &sql[start..end];
        let rows = vec![row; rows].join(", ");
        format!("{}{rows}{}", &sql[..start], &sql[end..]).into()
    });
    text.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_is_repeated_in_place() {
        let sql = "WITH w(a, b) AS (VALUES (?, ?)) SELECT * FROM w";
        assert_eq!(&*repeated(sql, 3), "WITH w(a, b) AS (VALUES (?, ?), (?, ?), (?, ?)) SELECT * FROM w");
    }

    #[test]
    fn chunks_cover_everything_in_order() {
        for len in [0, 1, 7, 8, 39, 128, 300, 1000] {
            let items: Vec<usize> = (0..len).collect();
            assert_eq!(chunks(&items).flatten().copied().collect::<Vec<_>>(), items);
        }
    }
}
