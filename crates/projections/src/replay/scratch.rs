//! Stores for rebuilt views.

use std::path::Path;

use bpc_eventstore::{Database, SqlitePools, Store};
use sqlx::ConnectOptions;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqliteLockingMode, SqlitePoolOptions, SqliteSynchronous,
};
use tempfile::TempDir;

use super::error::ReplayError;

/// A migrated SQLite file in a directory of its own, removed with this value: for views that nobody will
/// look at again.
pub(super) struct Scratch {
    pub(super) store: Store,
    _directory: TempDir,
}

impl Scratch {
    pub(super) async fn create() -> Result<Scratch, ReplayError> {
        let directory =
            tempfile::Builder::new().prefix("bpc-replay-").tempdir().map_err(ReplayError::Scratch)?;
        let store = fast_store(&directory.path().join("views.sqlite")).await?;
        Ok(Scratch { store, _directory: directory })
    }

    /// Close the file before it is removed.
    pub(super) async fn remove(self) {
        self.store.close().await;
    }
}

/// A migrated SQLite file that is written once. A crash leaves it good for nothing, so nothing in it is
/// made durable on the way: no sync, and the rollback journal in memory.
pub(super) async fn fast_store(path: &Path) -> Result<Store, ReplayError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .disable_statement_logging()
        .journal_mode(SqliteJournalMode::Memory)
        .synchronous(SqliteSynchronous::Off)
        .locking_mode(SqliteLockingMode::Exclusive)
        .pragma("cache_size", "-65536")
        .pragma("temp_store", "memory");
    // The one connection writes first and reads later; a second would find the file locked.
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options)
        .await
        .map_err(ReplayError::target)?;
    let database = Database::Sqlite(SqlitePools { writer: pool.clone(), readers: pool, scribes: None });
    let store = Store::on(database);
    store.migrate().await.map_err(ReplayError::target)?;
    Ok(store)
}
