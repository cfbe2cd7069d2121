//! The handle on a log: connect, begin, read the clock.

use std::time::{Duration, Instant};

use bpc_core::Timestamp;

use crate::clock::{Clock, Heard};
use crate::database::{Database, Tx, TxInner};
use crate::error::StoreError;
use crate::fault::Fault;
use crate::postgres::{AtHand, PgTx};
use crate::{migrate, postgres, sqlite};

/// How to connect.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Most connections to hold (readers, on SQLite).
    pub connections_max: u32,
    /// How long to wait for a connection before the database counts as unavailable.
    pub acquire_timeout: Duration,
    /// Whose clock counts.
    pub clock: Clock,
    /// Create the SQLite file if it is missing.
    pub create: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions {
            connections_max: 8,
            acquire_timeout: Duration::from_secs(10),
            clock: Clock::Database,
            create: true,
        }
    }
}

/// A log. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    /// Its database.
    pub database: Database,
    /// Its clock.
    pub clock: Clock,
    /// Faults that a test wants.
    pub fault: Fault,
    /// What its database's clock said lately.
    pub heard: Heard,
    /// A connection to PostgreSQL between statements that stand alone.
    pub at_hand: AtHand,
}

impl Store {
    /// Connect to `sqlite://FILE` or `postgres://...`.
    pub async fn connect(url: &str, options: StoreOptions) -> Result<Store, StoreError> {
        let database = if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Database::Postgres(postgres::connect(url, &options).await?)
        } else if url.starts_with("sqlite:") {
            Database::Sqlite(sqlite::connect(url, &options).await?)
        } else {
            return Err(StoreError::bad_url(url));
        };
        Ok(Store { clock: options.clock, ..Store::on(database) })
    }

    /// A log on a database that is connected already, by its clock.
    pub fn on(database: Database) -> Store {
        let (clock, fault, heard, at_hand) = Default::default();
        Store { database, clock, fault, heard, at_hand }
    }

    /// The same log through a connection of one's own, where that helps: PostgreSQL. On SQLite all writers
    /// of a process share one.
    pub fn dedicated(&self) -> Store {
        match &self.database {
            Database::Postgres(pool) => {
                let database = Database::Postgres(postgres::dedicated(pool));
                Store { database, at_hand: AtHand::of_one(), ..self.clone() }
            }
            Database::Sqlite(_) => self.clone(),
        }
    }

    /// Create or update the schema. Safe to call from many processes at once.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        migrate::run(self).await
    }

    /// Begin a transaction that writes. On SQLite it waits its turn, so no caller ever sees
    /// `SQLITE_BUSY`.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        let inner = match &self.database {
            Database::Postgres(pool) => {
                TxInner::Postgres(PgTx::begin(pool, &self.at_hand, postgres::BEGIN).await?)
            }
            Database::Sqlite(pools) => {
                let start = Instant::now();
                loop {
                    match pools.writer.begin_with("BEGIN IMMEDIATE").await {
                        Ok(tx) => break TxInner::Sqlite(tx),
                        Err(error) if sqlite::is_busy(&error) && start.elapsed() < sqlite::BUSY_MAX => {}
                        Err(error) if sqlite::is_busy(&error) => {
                            return Err(StoreError::Busy(start.elapsed()));
                        }
                        // The other pool users hold the connection; they are waiting their turn too.
                        Err(sqlx::Error::PoolTimedOut) if start.elapsed() < sqlite::BUSY_MAX => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        };
        Ok(Tx { inner, fault: self.fault.clone() })
    }

    /// Begin a transaction that only reads, all of it at one moment of the log.
    pub async fn begin_read(&self) -> Result<Tx, StoreError> {
        let inner = match &self.database {
            Database::Postgres(pool) => {
                let statement = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                TxInner::Postgres(PgTx::begin(pool, &self.at_hand, statement).await?)
            }
            Database::Sqlite(pools) => TxInner::Sqlite(pools.readers.begin().await?),
        };
        Ok(Tx { inner, fault: Fault::default() })
    }

    /// Begin to read by a single statement, which sees one moment without a transaction around it.
    pub async fn glance(&self) -> Result<Tx, StoreError> {
        match &self.database {
            Database::Postgres(pool) => {
                let inner = TxInner::Postgres(PgTx::alone(pool, &self.at_hand).await?);
                Ok(Tx { inner, fault: Fault::default() })
            }
            Database::Sqlite(_) => self.begin_read().await,
        }
    }

    /// The time by the clock that counts.
    pub async fn now(&self) -> Result<Timestamp, StoreError> {
        if let Some(at) = self.clock.fixed() {
            return Ok(at);
        }
        match &self.database {
            Database::Postgres(pool) => self.at_hand.now(pool).await,
            Database::Sqlite(_) => Ok(self.clock.host()),
        }
    }

    /// The same for what happens now and is judged by nobody: by a clock of the database that was heard lately, which
    /// saves a round trip.
    pub async fn about_now(&self) -> Result<Timestamp, StoreError> {
        let Database::Postgres(pool) = &self.database else {
            return self.now().await;
        };
        if let Some(now) = self.clock.fixed().or_else(|| self.heard.now()) {
            return Ok(now);
        }
        let asked = Instant::now();
        let now = self.at_hand.now(pool).await?;
        self.heard.hear(now, asked);
        Ok(self.heard.now().unwrap_or(now))
    }

    /// Close all connections.
    pub async fn close(&self) {
        match &self.database {
            Database::Postgres(pool) => {
                // Closing waits for whatever is not in the pool.
                let closing = pool.close();
                self.at_hand.release();
                closing.await;
            }
            Database::Sqlite(pools) => {
                if let Some(scribes) = &pools.scribes {
                    scribes.reader.close().await;
                    scribes.writer.close().await;
                }
                pools.readers.close().await;
                pools.writer.close().await;
            }
        }
    }

    /// `postgres` or `sqlite`.
    pub fn kind(&self) -> &'static str {
        match self.database {
            Database::Postgres(_) => "postgres",
            Database::Sqlite(_) => "sqlite",
        }
    }
}
