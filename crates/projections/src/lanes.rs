//! Lanes: where jobs wait. A lane is one queue of one tenant.

use bpc_core::{TenantId, Timestamp};
use bpc_eventstore::{Conn, StoreError};
use uuid::Uuid;

use crate::{postgres, sqlite};

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

/// Every lane with a job waiting, and when the first of it is due.
pub async fn lanes(conn: &mut Conn<'_>) -> Result<Vec<(Lane, Timestamp)>, StoreError> {
    match conn {
        Conn::Postgres(conn) => postgres::lanes(conn).await,
        Conn::Sqlite(conn) => sqlite::lanes(conn).await,
    }
}

pub(crate) fn lane_and_due((tenant, queue, due): (Uuid, String, i64)) -> (Lane, Timestamp) {
    (Lane { tenant_id: TenantId(tenant), queue }, Timestamp::from_micros(due))
}
