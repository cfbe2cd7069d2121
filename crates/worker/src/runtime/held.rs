//! The jobs that this worker holds: leased and not settled yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bpc_core::{JobId, Version};
use bpc_projections::LeaseId;

use crate::context::{Context, Stopping};

/// One job held.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) fence: Version,
    pub(super) lease_id: Option<LeaseId>,
    pub(super) since: Instant,
    /// When the lease ends, by this host's clock and on the safe side: counted from before it was asked for.
    pub(super) deadline: Instant,
    pub(super) cx: Context,
}

impl Held {
    /// Whatever the handler brings will be refused, so it need not go on.
    pub(super) fn lose(&self) {
        self.cx.ask_to_stop(Stopping::LeaseLost);
        self.cx.abandon();
    }
}

/// All jobs held, by id.
#[derive(Debug, Default)]
pub(super) struct HeldJobs {
    jobs: Mutex<HashMap<JobId, Held>>,
    leases: Mutex<Leases>,
}

/// The leases that the jobs were taken with.
#[derive(Debug, Default)]
struct Leases {
    /// How many jobs of each are still held.
    open: HashMap<LeaseId, usize>,
    /// Those of which none is.
    over: Vec<LeaseId>,
}

impl Leases {
    fn let_go(&mut self, lease: Option<LeaseId>) {
        let Some((lease, jobs)) = lease.and_then(|lease| Some((lease, self.open.get_mut(&lease)?))) else {
            return;
        };
        *jobs -= 1;
        if *jobs == 0 {
            self.open.remove(&lease);
            self.over.push(lease);
        }
    }
}

impl HeldJobs {
    pub(super) fn insert(&self, taken: impl Iterator<Item = (JobId, Held)>) {
        let (mut jobs, mut leases) = (self.lock(), self.leases());
        for (job, held) in taken {
            if let Some(lease) = held.lease_id {
                *leases.open.entry(lease).or_default() += 1;
            }
            // An attempt of the same job that lost its lease and is not over yet: nobody else can end it.
            if let Some(former) = jobs.insert(job, held) {
                former.lose();
                leases.let_go(former.lease_id);
            }
        }
    }

    /// Settled: let go of them. A job that was leased again meanwhile is another attempt and stays.
    pub(super) fn remove(&self, attempts: impl Iterator<Item = (JobId, Version)>) {
        let (mut jobs, mut leases) = (self.lock(), self.leases());
        for (job, fence) in attempts {
            if jobs.get(&job).is_some_and(|held| held.fence == fence)
                && let Some(held) = jobs.remove(&job)
            {
                leases.let_go(held.lease_id);
            }
        }
    }

    /// The leases since the last call of which no job is held any more.
    pub(super) fn leases_over(&self) -> Vec<LeaseId> {
        std::mem::take(&mut self.leases().over)
    }

    /// Can whatever this attempt brings only be refused?
    pub(super) fn is_lost(&self, job: JobId, fence: Version) -> bool {
        let now = Instant::now();
        !self.lock().get(&job).is_some_and(|held| held.fence == fence && held.deadline > now)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Those that `is_meant`, as they are now.
    pub(super) fn all(&self, is_meant: impl Fn(&Held) -> bool) -> Vec<(JobId, Held)> {
        let jobs = self.lock();
        jobs.iter().filter(|(_, held)| is_meant(held)).map(|(id, held)| (*id, held.clone())).collect()
    }

    /// When the first lease ends, of those that are not lost already.
    pub(super) fn first_deadline(&self) -> Option<Instant> {
        let jobs = self.lock();
        jobs.values().filter(|held| !held.cx.is_abandoned()).map(|held| held.deadline).min()
    }

    /// The lease of an attempt was renewed.
    pub(super) fn extend(&self, job: JobId, fence: Version, deadline: Instant) {
        if let Some(held) = self.lock().get_mut(&job).filter(|held| held.fence == fence) {
            held.deadline = deadline;
        }
    }

    /// Tell every handler why it should stop.
    pub(super) fn ask_all_to_stop(&self, why: Stopping) {
        self.lock().values().for_each(|held| held.cx.ask_to_stop(why));
    }

    /// End every attempt without waiting for its handler.
    pub(super) fn abandon_all(&self) {
        self.lock().values().for_each(|held| held.cx.abandon());
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, Held>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
