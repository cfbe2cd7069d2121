//! The statement that reads a view in the order of its key, the same order on both databases.

use std::collections::HashMap;

use bpc_eventstore::Conn;
use sqlx::PgConnection;

use crate::domain::ViewTable;

use super::cell::POSTGRES_TYPES;
use super::error::ReplayError;
use super::views::shown_by;

/// All rows of a view by key.
pub(super) async fn in_key_order(conn: &mut Conn<'_>, view: &ViewTable) -> Result<String, ReplayError> {
    let key = &view.columns[..view.key_columns];
    let order: Vec<String> = match conn {
        Conn::Sqlite(_) => key.iter().map(|column| (*column).to_owned()).collect(),
        Conn::Postgres(conn) => {
            let types = column_types(conn, view).await?;
            // Text sorts by the locale of the database unless told to sort by bytes, as SQLite does.
            let is_text = |column: &str| matches!(types[column].as_str(), "text" | "varchar");
            let by_bytes = |column: &&str| {
                if is_text(column) { format!("{column} COLLATE \"C\"") } else { (*column).to_owned() }
            };
            key.iter().map(by_bytes).collect()
        }
    };
    Ok(format!("SELECT {} FROM {} ORDER BY {}", view.columns.join(", "), shown_by(view), order.join(", ")))
}

const COLUMN_TYPES: &str = "SELECT a.attname::text, t.typname::text FROM pg_attribute a \
    JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = to_regclass($1) AND a.attnum > 0";

/// The type of each column of a view, each of them one that SQLite has too.
pub(super) async fn column_types(
    conn: &mut PgConnection,
    view: &ViewTable,
) -> Result<HashMap<String, String>, ReplayError> {
    let types: Vec<(String, String)> =
        sqlx::query_as(COLUMN_TYPES).bind(view.name).fetch_all(conn).await.map_err(ReplayError::source)?;
    let types: HashMap<String, String> = types.into_iter().collect();
    for &column in view.columns {
        let found = types.get(column).map_or("no type: there is no such column", String::as_str);
        if !POSTGRES_TYPES.contains(&found) {
            return Err(ReplayError::ColumnType { view: view.name, column, found: found.to_owned() });
        }
    }
    Ok(types)
}
