//! SQLite tells nobody what other processes write. But the file that holds what was written last changes.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bpc_eventstore::Database;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;

use super::Hint;

/// How often the file is looked at, which takes microseconds.
const INTERVAL: Duration = Duration::from_millis(20);

/// While `is_idle`, any change of the log's file may mean work, until `stop`. A change within the same moment as
/// another may be missed: as with any hint, polling makes up for it.
pub(crate) async fn watch_file(engine: Engine, is_idle: impl Fn() -> bool, stop: CancellationToken) {
    let Some(file) = file_of(&engine) else {
        return;
    };
    let mut seen = changed_at(&file);
    while tokio::time::timeout(INTERVAL, stop.cancelled()).await.is_err() {
        if !is_idle() {
            continue;
        }
        let found = changed_at(&file);
        if found != seen {
            seen = found;
            engine.hints.send(Hint::Anything);
        }
    }
}

fn file_of(engine: &Engine) -> Option<PathBuf> {
    match &engine.store.database {
        Database::Sqlite(pools) => pools.written_file(),
        Database::Postgres(_) => None,
    }
}

fn changed_at(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
