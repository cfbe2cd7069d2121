//! A connection that stays at hand between statements that follow each other closely.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bpc_core::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgPool, Postgres};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::error::StoreError;

use super::CLOCK;

/// How long a connection may lie unused at hand before it goes back to its pool. Whoever needs the last one of a pool
/// waits at most twice that long.
const LINGER: Duration = Duration::from_millis(50);

/// A connection of a store's pool, kept from one statement that stands alone to the next.
///
/// A pool asks the server for a sign of life whenever a connection comes back, in a task of its own. Whoever sends one
/// statement after the other pays for it twice: with a round trip for each, and because meanwhile the next statement
/// takes another connection, whose server process has to wake up.
#[derive(Clone, Debug, Default)]
pub struct AtHand(Arc<Place>);

#[derive(Debug, Default)]
struct Place {
    held: Mutex<Held>,
    /// The pool has one connection, for whoever has this: it stays.
    is_only_one: bool,
}

#[derive(Debug, Default)]
struct Held {
    conn: Option<PoolConnection<Postgres>>,
    uses: u64,
    watch: Option<JoinHandle<()>>,
}

impl Drop for Held {
    /// Without a runtime nobody can give a connection back; then it is closed.
    fn drop(&mut self) {
        if Handle::try_current().is_err() {
            drop(self.conn.take().map(PoolConnection::leak));
        }
    }
}

impl AtHand {
    /// For a pool of one connection, of which nobody takes it but by this.
    pub(crate) fn of_one() -> Self {
        AtHand(Arc::new(Place { held: Mutex::default(), is_only_one: true }))
    }

    /// Run a statement alone: one round trip, durable when it returns.
    pub async fn execute(
        &self,
        pool: &PgPool,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<(), StoreError> {
        let mut conn = self.take(pool).await?;
        // If this fails or nobody waits for it any more, the pool sees to what is left of the connection.
        query.execute(&mut *conn).await?;
        self.keep(pool, conn);
        Ok(())
    }

    /// The time by the server's clock, for what is sent next.
    pub(crate) async fn now(&self, pool: &PgPool) -> Result<Timestamp, StoreError> {
        let mut conn = self.take(pool).await?;
        let micros: i64 = sqlx::query_scalar(CLOCK).fetch_one(&mut *conn).await?;
        self.keep(pool, conn);
        Ok(Timestamp::from_micros(micros))
    }

    /// Let go of what is at hand, for the end.
    pub(crate) fn release(&self) {
        self.lock().conn = None;
    }

    pub(crate) async fn take(&self, pool: &PgPool) -> Result<PoolConnection<Postgres>, sqlx::Error> {
        let kept = self.lock().conn.take();
        match kept {
            Some(conn) => Ok(conn),
            None => pool.acquire().await,
        }
    }

    /// Whoever gives one back while another is at hand, or one that others may wait for, gives it to the pool.
    pub(crate) fn keep(&self, pool: &PgPool, conn: PoolConnection<Postgres>) {
        let is_last = pool.num_idle() == 0 && pool.size() >= pool.options().get_max_connections();
        if pool.is_closed() || (is_last && !self.0.is_only_one) {
            return;
        }
        let mut held = self.lock();
        held.uses += 1;
        if held.conn.is_some() {
            return;
        }
        held.conn = Some(conn);
        if !self.0.is_only_one && held.watch.as_ref().is_none_or(JoinHandle::is_finished) {
            held.watch = Some(tokio::spawn(self.clone().watch()));
        }
    }

    /// Until it was not used for a while.
    async fn watch(self) {
        let mut seen = 0;
        loop {
            tokio::time::sleep(LINGER).await;
            let mut held = self.lock();
            if held.uses == seen {
                (held.conn, held.watch) = (None, None);
                return;
            }
            seen = held.uses;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
