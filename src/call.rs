//! One call of the program: what it was told, and the way from there to a store and a tenant.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

use bpc_eventstore::seal::KeyFile;
use bpc_eventstore::{
    MIGRATIONS, Store, StoreError, StoreOptions, Tenant, add_tenant, portable, tenant_by_slug_or_id, tenants,
};
use bpc_worker::Engine;
use sqlx::sqlite::SqliteConnectOptions;

use crate::cli::Global;
use crate::config::Settings;
use crate::error::Failure;
use crate::output::Output;
use crate::packs;

/// Slug of the tenant that every log has.
pub const DEFAULT_TENANT: &str = "default";

/// What a command needs besides its own arguments.
pub struct Call<'o> {
    /// From the environment.
    pub settings: Settings,
    /// URL of the database.
    pub database: String,
    /// Slug or id of the tenant.
    pub tenant: String,
    /// Was the tenant named on the command line?
    pub tenant_is_asked_for: bool,
    /// Who calls, as events name them.
    pub actor: String,
    /// Where results go.
    pub output: &'o Output,
    opened: Mutex<Vec<Store>>,
}

/// Longer than any statement of a command that is over.
const CLOSE_MAX: Duration = Duration::from_secs(5);

impl<'o> Call<'o> {
    /// Arguments come before the environment.
    pub fn new(global: Global, settings: Settings, output: &'o Output) -> Self {
        Call {
            database: global.database.unwrap_or_else(|| settings.database_url.clone()),
            tenant_is_asked_for: global.tenant.is_some(),
            tenant: global.tenant.unwrap_or_else(|| settings.tenant.clone()),
            actor: format!("user:{}", login_name()),
            settings,
            output,
            opened: Mutex::default(),
        }
    }

    /// The same call on another database, for its default tenant.
    pub fn on(&self, database: String) -> Self {
        Call {
            settings: self.settings.clone(),
            database,
            tenant: DEFAULT_TENANT.to_owned(),
            tenant_is_asked_for: false,
            actor: self.actor.clone(),
            output: self.output,
            opened: Mutex::default(),
        }
    }

    /// The same call, signing with the key in this file.
    pub fn signing_with(mut self, key: PathBuf) -> Self {
        self.settings.packs = self.settings.packs.signing_with(key);
        self
    }

    /// A log that must exist: nothing is created, least of all an empty file by a typing error.
    pub async fn open(&self) -> Result<Store, Failure> {
        if let Some(file) = sqlite_file(&self.database).filter(|file| !file.exists()) {
            let problem = format!(
                "there is no database file {}: run `bpc init`, or name another with --database",
                file.display()
            );
            return Err(Failure::wrong_use("NOT_INITIALISED", problem));
        }
        let store = self.connect(false).await?;
        let known = MIGRATIONS.last().map_or(0, |migration| migration.version);
        match schema_version(&store).await? {
            0 => Err(StoreError::NotInitialised.into()),
            found if found > known => Err(StoreError::SchemaTooNew { found, known }.into()),
            found if found < known => {
                let problem =
                    format!("the database has schema {found}, this program needs {known}: run `bpc init`");
                Err(Failure::wrong_use("SCHEMA_TOO_OLD", problem))
            }
            _ => Ok(store),
        }
    }

    /// A log that is made if there is none, with its schema and the default tenant.
    pub async fn open_or_create(&self) -> Result<Store, Failure> {
        let store = self.connect(true).await?;
        store.migrate().await?;
        ensure_default_tenant(&store, &self.actor).await?;
        Ok(store)
    }

    /// A connection, and nothing else.
    pub async fn connect(&self, create: bool) -> Result<Store, Failure> {
        let options = StoreOptions { create, ..StoreOptions::default() };
        let store = Store::connect(&self.database, options).await?;
        self.opened.lock().expect("no panic while held").push(store.clone());
        Ok(store)
    }

    /// Close what was opened: SQLite then tidies up its files.
    pub async fn close(&self) {
        let opened = std::mem::take(&mut *self.opened.lock().expect("no panic while held"));
        for store in opened {
            // A task that still holds a connection must not keep the program from ending.
            let _ = tokio::time::timeout(CLOSE_MAX, store.close()).await;
        }
    }

    /// The tenant that is meant.
    pub async fn tenant(&self, store: &Store) -> Result<Tenant, Failure> {
        Ok(tenant_by_slug_or_id(store, &self.tenant).await?)
    }

    /// Where the log's private key is, or would be.
    pub fn key_file(&self) -> KeyFile {
        KeyFile::beside(sqlite_file(&self.database).as_deref())
    }

    /// What there is to know about passports here.
    pub fn passports(&self) -> bpc_passport::pack::Settings {
        self.settings.packs.passports(&self.database)
    }

    /// An engine with every pack.
    pub fn engine(&self, store: &Store) -> Engine {
        Engine::new(
            store.clone(),
            packs::registry(&self.passports(), self.settings.packs.webhooks(&self.database)),
        )
    }
}

/// Version of the schema; 0 if there is none.
pub async fn schema_version(store: &Store) -> Result<i64, StoreError> {
    let sql = "SELECT COALESCE(max(version), 0) FROM schema_migrations";
    let mut tx = store.begin_read().await?;
    let found = portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_one(c).await);
    match found.map_err(StoreError::from) {
        Err(StoreError::NotInitialised) => Ok(0),
        found => found,
    }
}

/// Add the default tenant if it is missing. Returns it, and whether it is new.
pub async fn ensure_default_tenant(store: &Store, actor: &str) -> Result<(Tenant, bool), StoreError> {
    if let Some(tenant) = tenants(store).await?.into_iter().find(|tenant| tenant.slug == DEFAULT_TENANT) {
        return Ok((tenant, false));
    }
    match add_tenant(store, DEFAULT_TENANT, "Default", actor).await {
        Ok(tenant) => Ok((tenant, true)),
        // Another process that starts on the same fresh log was faster.
        Err(StoreError::TenantExists(slug)) => Ok((tenant_by_slug_or_id(store, &slug).await?, false)),
        Err(error) => Err(error),
    }
}

/// The file of an SQLite URL; `None` for anything that has none.
pub fn sqlite_file(url: &str) -> Option<PathBuf> {
    if !url.starts_with("sqlite:") || url.contains(":memory:") || url.contains("mode=memory") {
        return None;
    }
    let options = SqliteConnectOptions::from_str(url).ok()?;
    Some(options.get_filename().to_owned())
}

/// The caller's login name, or user id where there is none, as in many containers.
fn login_name() -> String {
    use std::os::unix::fs::MetadataExt;
    let named = std::env::var("USER").ok().filter(|name| !name.is_empty() && name.len() <= 64);
    let numbered = || std::fs::metadata("/proc/self").map(|own| own.uid().to_string());
    named.or_else(|| numbered().ok()).unwrap_or_else(|| "unknown".to_owned())
}
