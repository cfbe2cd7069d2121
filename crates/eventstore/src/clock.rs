//! Whose clock counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bpc_core::Timestamp;

use crate::database::Conn;
use crate::error::StoreError;

/// The clock by which leases and due times are judged: the database's, or one that a test moves.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// PostgreSQL's clock; on SQLite, which has none of its own, this host's.
    #[default]
    Database,
    /// Stands still until moved.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands at `at` until moved.
    pub fn manual(at: Timestamp) -> Self {
        Clock::Manual(Arc::new(AtomicI64::new(at.as_micros())))
    }

    /// Move a manual clock.
    pub fn advance(&self, by: Duration) {
        match self {
            Clock::Manual(micros) => micros.fetch_add(by.as_micros() as i64, Ordering::SeqCst),
            Clock::Database => panic!("the database's clock cannot be moved"),
        };
    }

    /// The time to use instead of PostgreSQL's own, if any.
    pub fn fixed(&self) -> Option<Timestamp> {
        match self {
            Clock::Database => None,
            Clock::Manual(micros) => Some(Timestamp::from_micros(micros.load(Ordering::SeqCst))),
        }
    }

    /// The time by this host's clock, for SQLite, which runs in this process.
    pub fn host(&self) -> Timestamp {
        self.fixed().unwrap_or_else(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::from_micros(since.as_micros() as i64)
        })
    }
}

/// The time by the clock that counts, on a connection already at hand.
pub async fn now_on(conn: &mut Conn<'_>, clock: &Clock) -> Result<Timestamp, StoreError> {
    match (conn, clock.fixed()) {
        (Conn::Postgres(conn), None) => {
            let micros = sqlx::query_scalar(crate::postgres::CLOCK).fetch_one(&mut **conn).await?;
            Ok(Timestamp::from_micros(micros))
        }
        _ => Ok(clock.host()),
    }
}
