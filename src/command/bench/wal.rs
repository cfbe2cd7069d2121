//! How much PostgreSQL has written to its write-ahead log so far.

use bpc_eventstore::{Database, Store, StoreError};

const POSITION: &str = "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint";

/// In bytes; `None` on SQLite. It counts everything the server does, so measure on a quiet one.
pub async fn position(store: &Store) -> Result<Option<i64>, StoreError> {
    match &store.database {
        Database::Postgres(pool) => Ok(Some(sqlx::query_scalar(POSITION).fetch_one(pool).await?)),
        Database::Sqlite(_) => Ok(None),
    }
}
