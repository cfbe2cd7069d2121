//! The log that is measured: where it is, how it is made and opened.

use std::path::{Path, PathBuf};

use bpc_eventstore::add_log_key;
use bpc_worker::{Engine, KeyFile, Registry, Store, StoreOptions, TenantId, add_tenant};

use crate::error::ClientError;
use crate::noop::Noop;
use crate::options::Options;

/// Who enqueues.
pub const ACTOR: &str = "user:bench";
const TENANT: &str = "bench";

/// A database and the key of the log in it.
pub struct Place {
    url: String,
    key_file: KeyFile,
}

impl Place {
    /// As the environment names it: `BENCH_SQLITE` a file, or `BENCH_PG` a URL; `BENCH_KEY` where the log's key is to
    /// be, if not beside the SQLite file or in the working directory.
    pub fn from_env() -> Result<Self, ClientError> {
        let named = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let file = named("BENCH_SQLITE").map(PathBuf::from);
        let url = match &file {
            Some(file) => format!("sqlite://{}", file.display()),
            None => named("BENCH_PG").ok_or(ClientError::NoDatabase)?,
        };
        let beside = || KeyFile::beside(file.as_deref());
        Ok(Place { url, key_file: named("BENCH_KEY").map_or_else(beside, KeyFile::at) })
    }

    /// Make a log on an empty database: schema, tenant and key, as `bpc init` does. A key that is left from a
    /// database of that name which was thrown away has signed another log, so it goes.
    pub async fn make(&self) -> Result<(), ClientError> {
        let store = Store::connect(&self.url, StoreOptions::default()).await?;
        store.migrate().await?;
        add_tenant(&store, TENANT, "Benchmark", ACTOR).await?;
        remove(self.key_file.path())?;
        remove(&self.key_file.state_path())?;
        let secret = self.key_file.create()?;
        add_log_key(&store, &secret.origin(), secret.public_hex(), ACTOR).await?;
        store.close().await;
        Ok(())
    }

    /// An engine on connections of its own.
    pub async fn open(&self, options: &Options) -> Result<Engine, ClientError> {
        let default = StoreOptions::default();
        let connections_max = options.pool.unwrap_or(default.connections_max);
        let store =
            Store::connect(&self.url, StoreOptions { connections_max, create: false, ..default }).await?;
        let mut registry = Registry::new();
        registry.job(Noop);
        Ok(Engine::new(store, registry))
    }

    /// Where the log's key is.
    pub fn key_file(&self) -> &KeyFile {
        &self.key_file
    }
}

/// Whose jobs they are.
pub fn tenant() -> TenantId {
    TenantId::from_slug(TENANT)
}

fn remove(file: &Path) -> Result<(), ClientError> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ClientError::OldKey(error)),
        _ => Ok(()),
    }
}
