//! Numbered migrations, never edited, embedded in the program.
//!
//! All missing ones run in one transaction under one lock, on either database, so that ten
//! processes that start together on a fresh file find either no schema or all of it.

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;
use crate::store::Store;

/// One step of the schema.
pub struct Migration {
    /// Its number.
    pub version: i64,
    /// Its name.
    pub name: &'static str,
    /// For PostgreSQL.
    pub postgres: &'static str,
    /// For SQLite.
    pub sqlite: &'static str,
}

macro_rules! migrations {
    ($($version:literal $name:literal),* $(,)?) => {
        /// Every migration, in order.
        pub const MIGRATIONS: &[Migration] = &[$(Migration {
            version: $version,
            name: $name,
            postgres: include_str!(concat!("../../../migrations/postgres/", $name, ".sql")),
            sqlite: include_str!(concat!("../../../migrations/sqlite/", $name, ".sql")),
        }),*];
    };
}

migrations! {
    1 "0001_log",
    2 "0002_jobs",
    3 "0003_blobs",
    4 "0004_drills",
    5 "0005_seals",
    6 "0006_leases",
    7 "0007_passport",
    8 "0008_webhooks",
    9 "0009_fresh_heads",
    10 "0010_room_for_leases",
    11 "0011_cohorts",
}

const CREATE: &str =
    "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL)";
const NEWEST: &str = "SELECT COALESCE(max(version), 0) FROM schema_migrations";

/// Any number will do, as long as nobody else uses it.
const LOCK: &str = "SELECT pg_advisory_xact_lock(4272951001)";

pub(crate) async fn run(store: &Store) -> Result<(), StoreError> {
    if is_current(store).await? {
        return Ok(());
    }
    let mut tx = store.begin().await?;
    if let Conn::Postgres(conn) = tx.conn() {
        sqlx::raw_sql(LOCK).execute(conn).await?;
    }
    tx.conn().execute(CREATE).await?;
    let newest: i64 = portable!(tx.conn(), c => sqlx::query_scalar(NEWEST).fetch_one(c).await)?;
    // Somebody newer may have been here since we looked.
    newest_known(newest)?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > newest) {
        match tx.conn() {
            Conn::Postgres(conn) => sqlx::raw_sql(migration.postgres).execute(conn).await.map(drop)?,
            Conn::Sqlite(conn) => sqlx::raw_sql(migration.sqlite).execute(conn).await.map(drop)?,
        }
        let insert = "INSERT INTO schema_migrations (version, name) VALUES ($1, $2)";
        portable!(tx.conn(), c => {
            sqlx::query(insert).bind(migration.version).bind(migration.name).execute(c).await.map(drop)
        })?;
    }
    tx.commit().await
}

/// The common case at every start: nothing to do, nothing locked.
async fn is_current(store: &Store) -> Result<bool, StoreError> {
    let mut tx = store.begin_read().await?;
    match portable!(tx.conn(), c => sqlx::query_scalar::<_, i64>(NEWEST).fetch_one(c).await.map_err(StoreError::from))
    {
        Ok(found) => Ok(newest_known(found)? == found),
        Err(StoreError::NotInitialised) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The newest version known here, unless the database is ahead of it.
fn newest_known(found: i64) -> Result<i64, StoreError> {
    let known = MIGRATIONS.last().map_or(0, |migration| migration.version);
    if found > known { Err(StoreError::SchemaTooNew { found, known }) } else { Ok(known) }
}
