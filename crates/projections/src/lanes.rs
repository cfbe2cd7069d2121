//! Lanes: where jobs wait. A lane is one queue of one tenant.

use std::time::Duration;

use bpc_core::{TenantId, Timestamp};
use bpc_eventstore::{Clock, Conn, StoreError};
use uuid::Uuid;

/// One queue of one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    /// Whose.
    pub tenant_id: TenantId,
    /// Which queue.
    pub queue: String,
}

/// A lane and how many jobs may be taken from it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneRoom {
    /// The lane.
    pub lane: Lane,
    /// At most so many.
    pub room: usize,
    /// By priority: nothing that waits was due before, as far as the caller knows. A job that is
    /// overlooked for that is found by whoever knows less.
    pub since: [Timestamp; 4],
}

impl LaneRoom {
    /// All of a lane.
    pub fn new(lane: Lane, room: usize) -> Self {
        LaneRoom { lane, room, since: [Timestamp::default(); 4] }
    }
}

impl Lane {
    /// As it is written in a wake-up hint.
    pub fn hint(&self) -> String {
        format!("{}/{}", self.tenant_id, self.queue)
    }

    /// From a wake-up hint. Hints are not trusted: anything else is `None`.
    pub fn from_hint(text: &str) -> Option<Lane> {
        let (tenant, queue) = text.split_once('/')?;
        Some(Lane { tenant_id: tenant.parse().ok()?, queue: queue.to_owned() })
    }
}

/// A lane with a job waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingLane {
    /// The lane.
    pub lane: Lane,
    /// How long until its first job is due; zero if it is due already.
    pub due_in: Duration,
}

/// Every lane with a job waiting.
pub async fn waiting_lanes(conn: &mut Conn<'_>, clock: &Clock) -> Result<Vec<WaitingLane>, StoreError> {
    let rows: Vec<(i64, Uuid, String, i64)> = match conn {
        Conn::Postgres(conn) => {
            let fixed = clock.fixed().map(Timestamp::as_micros);
            sqlx::query_as(include_str!("postgres/sql/waiting_lanes.sql"))
                .bind(fixed)
                .fetch_all(&mut **conn)
                .await?
        }
        Conn::Sqlite(conn) => {
            let now = clock.host().as_micros();
            sqlx::query_as(include_str!("sqlite/sql/waiting_lanes.sql"))
                .bind(now)
                .fetch_all(&mut **conn)
                .await?
        }
    };
    let waiting = |(now, tenant, queue, due)| WaitingLane {
        lane: Lane { tenant_id: TenantId(tenant), queue },
        due_in: Timestamp::from_micros(due).since(Timestamp::from_micros(now)),
    };
    Ok(rows.into_iter().map(waiting).collect())
}
