//! Limits over all workers: how many jobs of a queue or type may run at once.
//!
//! They are held against the rows that are running, counted under a lock, so two workers that lease at
//! the same moment cannot both take the last place. Without limits none of this costs anything.

use std::collections::HashMap;

use bpc_eventstore::{Conn, StoreError};
use bpc_projections::{LaneRoom, Leasable, running_jobs};

use crate::registry::Registry;

/// Places left per limited queue and type.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    queues: HashMap<String, usize>,
    types: HashMap<String, usize>,
}

/// Any number will do, as long as nobody else uses it.
const LOCK: &str = "SELECT pg_advisory_xact_lock(4272951002)";

impl Limits {
    /// Count, under the lock, inside the transaction that leases.
    pub(crate) async fn read(conn: &mut Conn<'_>, registry: &Registry) -> Result<Limits, StoreError> {
        if !registry.has_limits() {
            return Ok(Limits::default());
        }
        if let Conn::Postgres(conn) = conn {
            sqlx::raw_sql(LOCK).execute(&mut **conn).await?;
        }
        Ok(Limits::of(registry, running_jobs(conn).await?))
    }

    fn of(registry: &Registry, running: Vec<(String, String, u64)>) -> Limits {
        let mut limits = Limits::default();
        for name in registry.type_names() {
            if let Some(most) = registry.type_limit(name) {
                limits.types.insert(name.to_owned(), most as usize);
            }
        }
        for (queue, most) in registry.queue_limits() {
            limits.queues.insert(queue.clone(), *most as usize);
        }
        for (queue, job_type, jobs) in running {
            for left in [limits.queues.get_mut(&queue), limits.types.get_mut(&job_type)].into_iter().flatten()
            {
                *left = left.saturating_sub(jobs as usize);
            }
        }
        limits
    }

    /// The lanes with no more room than their queue has places; full ones are left out.
    pub(crate) fn lanes(&self, lanes: &[LaneRoom]) -> Vec<LaneRoom> {
        let room = |lane: &LaneRoom| {
            self.queues.get(&lane.lane.queue).map_or(lane.room, |left| lane.room.min(*left))
        };
        let lanes = lanes.iter().map(|lane| LaneRoom { room: room(lane), ..lane.clone() });
        lanes.filter(|lane| lane.room > 0).collect()
    }

    /// Types with a handler here and a place left.
    pub(crate) fn open_types(&self, registry: &Registry) -> Vec<&'static str> {
        registry.type_names().filter(|name| self.types.get(*name) != Some(&0)).collect()
    }

    /// Of the jobs found, in order, those for which there is a place. The rest stay in the queue.
    pub(crate) fn within(mut self, jobs: Vec<Leasable>) -> impl Iterator<Item = Leasable> {
        jobs.into_iter().filter(move |found| {
            let queue = self.queues.get(&found.job.queue).copied().unwrap_or(1);
            let of_type = self.types.get(&found.job.job_type).copied().unwrap_or(1);
            if queue == 0 || of_type == 0 {
                return false;
            }
            for left in [self.queues.get_mut(&found.job.queue), self.types.get_mut(&found.job.job_type)]
                .into_iter()
                .flatten()
            {
                *left -= 1;
            }
            true
        })
    }
}
