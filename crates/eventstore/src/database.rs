//! The two databases behind one set of enums. Portable SQL is written once and run through
//! [`portable!`](crate::portable); hot operations match on the enum and speak each tongue.

use std::path::PathBuf;
use std::time::Instant;

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool, Transaction};

use crate::error::StoreError;
use crate::fault::{Failure, Fault};
use crate::postgres::PgTx;
use crate::sqlite::{self, Scribe};

/// A pool of either database.
#[derive(Clone, Debug)]
pub enum Database {
    /// PostgreSQL.
    Postgres(PgPool),
    /// SQLite.
    Sqlite(SqlitePools),
}

/// SQLite has one writer at a time: one connection writes, the others read.
#[derive(Clone, Debug)]
pub struct SqlitePools {
    /// The one connection of this process that writes.
    pub writer: SqlitePool,
    /// Connections that only read.
    pub readers: SqlitePool,
    /// For what is a transaction of its own; none for a file that only one connection may open.
    pub scribes: Option<Scribes>,
}

/// Threads that are handed whole transactions.
#[derive(Clone, Debug)]
pub struct Scribes {
    pub(crate) writer: Scribe,
    pub(crate) reader: Scribe,
}

impl SqlitePools {
    /// The file that changes with everything that is written; none for a database that no other process can open.
    pub fn written_file(&self) -> Option<PathBuf> {
        let mut file = self.scribes.as_ref()?.writer.file().as_os_str().to_owned();
        file.push("-wal");
        Some(file.into())
    }

    /// Do this in a transaction that writes, on a thread that does nothing else; `None` if there is none.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<Result<T, StoreError>> {
        let scribes = self.scribes.as_ref()?;
        let turn = match self.turn().await {
            Ok(turn) => turn,
            Err(error) => return Some(Err(error)),
        };
        let done = scribes.writer.run(work).await;
        drop(turn);
        Some(done)
    }

    /// Do this in a transaction that reads, on a thread that does nothing else; `None` if there is none.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<Result<T, StoreError>> {
        Some(self.scribes.as_ref()?.reader.run(work).await)
    }

    /// The one connection that writes, not to use it but so that nobody else in this process writes:
    /// waiting in line is quicker than SQLite's looking again and again.
    async fn turn(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        let start = Instant::now();
        loop {
            match self.writer.acquire().await {
                Err(sqlx::Error::PoolTimedOut) if start.elapsed() < sqlite::BUSY_MAX => {}
                acquired => return Ok(acquired?),
            }
        }
    }
}

/// One connection of either database, borrowed from a transaction, ours or the caller's.
#[derive(Debug)]
pub enum Conn<'c> {
    /// PostgreSQL.
    Postgres(&'c mut PgConnection),
    /// SQLite.
    Sqlite(&'c mut SqliteConnection),
}

/// A transaction of either database. Dropped without [`Tx::commit`] it leaves nothing.
#[derive(Debug)]
pub struct Tx {
    pub(crate) inner: TxInner,
    pub(crate) fault: Fault,
}

#[derive(Debug)]
pub(crate) enum TxInner {
    Postgres(PgTx),
    Sqlite(Transaction<'static, Sqlite>),
}

/// Run the same statement on whichever connection this is.
#[macro_export]
macro_rules! portable {
    ($conn:expr, $c:ident => $body:expr) => {
        match $conn {
            $crate::Conn::Postgres($c) => $body,
            $crate::Conn::Sqlite($c) => $body,
        }
    };
}

impl Tx {
    /// Its connection.
    pub fn conn(&mut self) -> Conn<'_> {
        match &mut self.inner {
            TxInner::Postgres(tx) => Conn::Postgres(&mut *tx),
            TxInner::Sqlite(tx) => Conn::Sqlite(&mut *tx),
        }
    }

    /// Make it durable. An error here may mean either: it is known only by looking.
    pub async fn commit(self) -> Result<(), StoreError> {
        let failure = self.fault.next();
        if let Failure::NotPersisted = failure {
            return Err(Failure::error());
        }
        match self.inner {
            TxInner::Postgres(tx) => tx.commit().await?,
            TxInner::Sqlite(tx) => tx.commit().await?,
        }
        if let Failure::Persisted = failure { Err(Failure::error()) } else { Ok(()) }
    }
}

impl Conn<'_> {
    /// The same connection for a shorter time.
    pub fn reborrow(&mut self) -> Conn<'_> {
        match self {
            Conn::Postgres(conn) => Conn::Postgres(conn),
            Conn::Sqlite(conn) => Conn::Sqlite(conn),
        }
    }

    /// Run one portable statement without parameters or result.
    pub async fn execute(&mut self, sql: &'static str) -> Result<(), StoreError> {
        portable!(self, c => sqlx::raw_sql(sql).execute(&mut **c).await.map(drop))?;
        Ok(())
    }
}

impl<'c> From<&'c mut PgConnection> for Conn<'c> {
    fn from(conn: &'c mut PgConnection) -> Self {
        Conn::Postgres(conn)
    }
}

impl<'c> From<&'c mut SqliteConnection> for Conn<'c> {
    fn from(conn: &'c mut SqliteConnection) -> Self {
        Conn::Sqlite(conn)
    }
}

impl<'c, 't> From<&'c mut Transaction<'t, Postgres>> for Conn<'c> {
    fn from(tx: &'c mut Transaction<'t, Postgres>) -> Self {
        Conn::Postgres(&mut *tx)
    }
}

impl<'c, 't> From<&'c mut Transaction<'t, Sqlite>> for Conn<'c> {
    fn from(tx: &'c mut Transaction<'t, Sqlite>) -> Self {
        Conn::Sqlite(&mut *tx)
    }
}

impl<'c> From<&'c mut Tx> for Conn<'c> {
    fn from(tx: &'c mut Tx) -> Self {
        tx.conn()
    }
}
