//! Taking rows of the queue view: to lease them, to settle them, to reap them.
//!
//! Each returns the time by the clock that counts, read in the same statement as the rows.

use bpc_core::{Job, JobId, Timestamp, Version};
use bpc_eventstore::{Clock, Conn, StoreError};

use crate::lanes::LaneRoom;
use crate::{postgres, sqlite};

/// A job that may be leased, and the event that made it, which holds its payload.
#[derive(Clone, Debug)]
pub struct Leasable {
    /// Its state.
    pub job: Job,
    /// Bytes of its ENQUEUED event.
    pub enqueued_bytes: Vec<u8>,
}

/// Rows taken at a moment.
#[derive(Clone, Debug)]
pub struct Taken<T> {
    /// The moment.
    pub now: Timestamp,
    /// The rows, locked until the transaction ends.
    pub rows: Vec<T>,
}

/// Due jobs of these lanes, by priority then due time, at most `limit`, each locked.
pub async fn leasable_jobs(
    conn: &mut Conn<'_>,
    clock: &Clock,
    lanes: &[LaneRoom],
    excluded_types: &[String],
    limit: usize,
) -> Result<Taken<Leasable>, StoreError> {
    match conn {
        Conn::Postgres(conn) => {
            let fixed = clock.fixed();
            let (now, rows) = postgres::leasable_jobs(conn, fixed, lanes, excluded_types, limit).await?;
            Ok(Taken { now: now.unwrap_or_default(), rows })
        }
        Conn::Sqlite(conn) => {
            let now = clock.host();
            Ok(Taken { now, rows: sqlite::leasable_jobs(conn, now, lanes, excluded_types, limit).await? })
        }
    }
}

/// The live jobs among these whose attempt is the one with that fence, each locked. Whether its lease
/// still holds is for the rule book to say.
pub async fn held_leases(
    conn: &mut Conn<'_>,
    clock: &Clock,
    held: &[(JobId, Version)],
) -> Result<Taken<Job>, StoreError> {
    let (now, rows) = match conn {
        Conn::Postgres(conn) => {
            let (now, rows) = postgres::held_leases(conn, clock.fixed(), held).await?;
            (now.unwrap_or_default(), rows)
        }
        Conn::Sqlite(conn) => (clock.host(), sqlite::held_leases(conn, held).await?),
    };
    Ok(Taken { now, rows: rows.into_iter().map(Job::from).collect() })
}

/// Jobs whose lease has run out, each locked; rows that others hold are skipped.
pub async fn expired_leases(conn: &mut Conn<'_>, clock: &Clock, limit: u32) -> Result<Taken<Job>, StoreError> {
    let (now, rows) = match conn {
        Conn::Postgres(conn) => {
            let (now, rows) = postgres::expired_leases(conn, clock.fixed(), limit).await?;
            (now.unwrap_or_default(), rows)
        }
        Conn::Sqlite(conn) => {
            let now = clock.host();
            (now, sqlite::expired_leases(conn, now, limit).await?)
        }
    };
    Ok(Taken { now, rows: rows.into_iter().map(Job::from).collect() })
}
