//! A transaction on a connection that was at hand, and is again afterwards.
//!
//! Not the driver's own kind: that one gives its connection back to the pool, which asks the server for a sign of life
//! each time, and forgets that a transaction was begun if nobody waits for the answer any more.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Executor, PgConnection, PgPool, Postgres};
use tokio::runtime::Handle;

use crate::error::StoreError;

use super::AtHand;

/// Dropped without [`PgTx::commit`] it is undone, whatever state its connection is in.
#[derive(Debug)]
pub(crate) struct PgTx {
    /// Until it is over.
    conn: Option<PoolConnection<Postgres>>,
    pool: PgPool,
    at_hand: AtHand,
    /// A single statement is a transaction by itself.
    is_begun: bool,
}

const NOT_OVER: &str = "a transaction has its connection until it is over";

impl PgTx {
    /// Begin by this statement.
    pub(crate) async fn begin(
        pool: &PgPool,
        at_hand: &AtHand,
        statement: &'static str,
    ) -> Result<Self, StoreError> {
        let mut tx = PgTx::alone(pool, at_hand).await?;
        // First, so that what was begun is undone even if the wait for the answer is given up.
        tx.is_begun = true;
        tx.execute(sqlx::raw_sql(statement)).await?;
        Ok(tx)
    }

    /// For one statement, which needs no transaction around it.
    pub(crate) async fn alone(pool: &PgPool, at_hand: &AtHand) -> Result<Self, StoreError> {
        let conn = Some(at_hand.take(pool).await?);
        Ok(PgTx { conn, pool: pool.clone(), at_hand: at_hand.clone(), is_begun: false })
    }

    /// Make it durable. An error here may mean either: it is known only by looking.
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        if self.is_begun {
            self.execute(sqlx::raw_sql("COMMIT")).await?;
            self.is_begun = false;
        }
        let conn = self.conn.take().expect(NOT_OVER);
        self.at_hand.keep(&self.pool, conn);
        Ok(())
    }
}

impl Drop for PgTx {
    fn drop(&mut self) {
        let Some(mut conn) = self.conn.take() else {
            return;
        };
        let Ok(runtime) = Handle::try_current() else {
            // Without a runtime nobody can tell the server anything; closing the connection undoes what was begun.
            drop(conn.leak());
            return;
        };
        if self.is_begun {
            runtime.spawn(async move {
                // Then to the pool, and not to where it was at hand: whoever asked meanwhile waits there.
                if conn.execute(sqlx::raw_sql("ROLLBACK")).await.is_err() {
                    drop(conn.detach());
                }
            });
        }
    }
}

impl Deref for PgTx {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        self.conn.as_ref().expect(NOT_OVER)
    }
}

impl DerefMut for PgTx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.conn.as_mut().expect(NOT_OVER)
    }
}
