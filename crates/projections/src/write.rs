//! Writing events together with the job views they change.

use std::collections::HashMap;
use std::sync::Arc;

use bpc_core::job::{FinishedRow, Lease, Placement, QueueRow};
use bpc_core::{EventRecord, Job, JobId, Members, TenantId, Timestamp, Version};
use bpc_eventstore::{Conn, Database, Store, StoreError};
use rusqlite::Connection;

use crate::calendar::{self, LeaseId, LeaseRow};
use crate::cohort::CohortWrites;
use crate::leasing::Place;
use crate::{postgres, sqlite};

/// Everything that one transaction writes about jobs: events, and the rows of the views that follow
/// from them.
#[derive(Debug, Default)]
pub struct JobWrites {
    pub(crate) events: Vec<EventRecord>,
    pub(crate) insert_queue: Vec<QueueRow>,
    pub(crate) lease_queue: Vec<(JobId, Place)>,
    pub(crate) leased: Vec<JobId>,
    pub(crate) lease: Option<(LeaseId, Lease)>,
    pub(crate) update_queue: Vec<QueueRow>,
    pub(crate) delete_queue: Vec<JobId>,
    pub(crate) insert_finished: Vec<FinishedRow>,
    pub(crate) delete_finished: Vec<FinishedKey>,
    pub(crate) delete_leases: Vec<LeaseId>,
    pub(crate) cohorts: CohortWrites,
    pub(crate) wake: Vec<String>,
}

/// Key of the view of finished jobs.
pub(crate) type FinishedKey = (TenantId, Timestamp, JobId);

impl JobWrites {
    /// Nothing to write?
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.delete_leases.is_empty() && self.cohorts.is_empty()
    }

    /// Are the only jobs among it new ones and leased ones? A job at its first version is as it was enqueued, so
    /// the statements for one of those know most of its row.
    pub(crate) fn is_of_new_and_leased_jobs(&self) -> bool {
        self.insert_queue.iter().all(|row| row.version == Version(1))
            && self.update_queue.is_empty()
            && self.delete_queue.is_empty()
            && self.insert_finished.is_empty()
            && self.delete_finished.is_empty()
    }

    /// Are the only jobs among it members of cohorts that succeeded?
    fn is_of_members(&self) -> bool {
        self.events.is_empty() && !self.cohorts.held.is_empty()
    }

    /// Events that change no job, such as domain events.
    pub fn append(&mut self, events: Vec<EventRecord>) {
        self.events.extend(events);
    }

    /// Tell waiting workers, once committed, that this lane has work.
    pub fn wake(&mut self, lane: String) {
        if !self.wake.contains(&lane) {
            self.wake.push(lane);
        }
    }

    /// A job that did not exist before.
    pub fn create(&mut self, job: Job, events: Vec<EventRecord>) {
        self.events.extend(events);
        match Placement::of(job) {
            Placement::Queue(row) => self.insert_queue.push(row),
            Placement::Finished(row) => self.insert_finished.push(row),
        }
    }

    /// A job that waited in the queue and is leased now, for [`write_leases`]. All jobs leased by one of these
    /// have the same worker and end of lease.
    pub fn lease(&mut self, lease_id: LeaseId, job: &Job, place: Place, events: Vec<EventRecord>) {
        self.taken(lease_id, job, &place, events);
        self.lease_queue.push((job.job_id, place));
    }

    /// The same for a job whose row says so already, or that shares one.
    pub fn taken(&mut self, lease_id: LeaseId, job: &Job, place: &Place, events: Vec<EventRecord>) {
        if let Place::Member(member) = place {
            return self.cohorts.append(member, events);
        }
        self.events.extend(events);
        self.leased.push(job.job_id);
        self.lease = self.lease.take().or_else(|| Some((lease_id, job.lease()?.clone())));
    }

    /// A job of [`HeldMembers`] that succeeded, and nothing else.
    pub fn finish_held(&mut self, place: &Place, at: Timestamp, events: Vec<EventRecord>) {
        if let Place::Member(member) = place {
            self.cohorts.finish(member, at, events);
        }
    }

    /// A job that shares a row and succeeded, and nothing else; whether it is held is for the database to say.
    pub fn finish_member(&mut self, place: &Place, at: Timestamp, events: Vec<EventRecord>) {
        if let Place::Member(member) = place {
            self.cohorts.hold(Arc::clone(&member.piece), Members::default());
            self.cohorts.finish(member, at, events);
        }
    }

    /// A job of [`HeldMembers`] to which something else happened: it has a row of its own from now on.
    pub fn change_held(&mut self, place: &Place, job: Job, events: Vec<EventRecord>) {
        if let Place::Member(member) = place {
            self.cohorts.leave(member);
        }
        self.create(job, events);
    }

    /// Leases that name no job that still runs.
    pub fn end_leases(&mut self, leases: impl IntoIterator<Item = LeaseId>) {
        self.delete_leases.extend(leases);
    }

    /// The calendar's rows for everything here that runs.
    pub(crate) fn insert_leases(&self) -> Vec<LeaseRow> {
        let mut rows = calendar::rows_for(self.insert_queue.iter().chain(&self.update_queue));
        rows.extend(self.lease.as_ref().map(|(lease_id, lease)| {
            LeaseRow::new(*lease_id, lease.expires_at, self.leased.iter().copied())
        }));
        rows
    }

    /// A job that stood in the queue.
    pub fn change_live(&mut self, job: Job, events: Vec<EventRecord>) {
        self.events.extend(events);
        match Placement::of(job) {
            Placement::Queue(row) => self.update_queue.push(row),
            Placement::Finished(row) => {
                self.delete_queue.push(row.job_id);
                self.insert_finished.push(row);
            }
        }
    }

    /// A job that stood among the finished.
    pub fn change_finished(&mut self, job: Job, events: Vec<EventRecord>) {
        let key = (job.tenant_id, job.created_at, job.job_id);
        self.create(job, events);
        // One that stays among them is written over; one statement must not touch a row twice.
        if self.insert_finished.last().is_none_or(|row| row.job_id != key.2) {
            self.delete_finished.push(key);
        }
    }
}

/// Write inside a transaction, ours or the caller's.
pub async fn write_jobs(conn: &mut Conn<'_>, writes: &JobWrites) -> Result<(), StoreError> {
    if writes.is_empty() {
        return Ok(());
    }
    match conn {
        Conn::Postgres(conn) => postgres::compose(writes)?.execute(conn).await,
        Conn::Sqlite(conn) => sqlite::write_jobs(conn, writes).await,
    }
}

/// Write leases of jobs that were found leasable in the same transaction. Answers with the new places of their
/// rows, where rows have such.
pub async fn write_leases(
    conn: &mut Conn<'_>,
    writes: &JobWrites,
) -> Result<HashMap<JobId, Place>, StoreError> {
    let places = match conn {
        Conn::Postgres(conn) => postgres::lease_jobs(conn, writes).await?,
        Conn::Sqlite(_) => HashMap::new(),
    };
    write_jobs(conn, writes).await?;
    Ok(places)
}

/// Write in a transaction of its own; durable when it returns. On PostgreSQL this is one round trip, on
/// SQLite one hand-over to the thread that writes.
pub async fn write_jobs_alone(store: &Store, writes: JobWrites) -> Result<(), StoreError> {
    if store.fault.is_spent() {
        match &store.database {
            Database::Postgres(pool) => {
                return match postgres::alone::new_job(&writes) {
                    Some(statement) => store.at_hand.execute(pool, statement).await,
                    None => postgres::compose(&writes)?.execute_alone(pool, &store.at_hand).await,
                };
            }
            Database::Sqlite(pools) if pools.scribes.is_some() && writes.is_of_new_and_leased_jobs() => {
                let write = move |conn: &Connection| sqlite::alone::write_jobs(conn, &writes);
                return pools.write(write).await.expect("there are scribes");
            }
            Database::Sqlite(_) => {}
        }
    }
    let mut tx = store.begin().await?;
    write_jobs(&mut tx.conn(), &writes).await?;
    tx.commit().await
}

/// Attempts of one worker that succeeded with nothing to commit but that.
#[derive(Clone, Debug)]
pub struct Finishing {
    /// The worker.
    pub worker_id: String,
    /// When they succeeded.
    pub at: Timestamp,
    /// The jobs and the fences under which they are held.
    pub jobs: Vec<(JobId, Version)>,
}

/// Finish jobs and write what belongs to it, in a transaction of its own; durable when it returns. `false`, and
/// nothing is written, if one of the jobs is not held any more as it was leased, or the database has no
/// short way for this.
pub async fn finish_jobs_alone(
    store: &Store,
    finishing: Finishing,
    writes: JobWrites,
) -> Result<bool, StoreError> {
    if !store.fault.is_spent() || !writes.is_of_new_and_leased_jobs() {
        return Ok(false);
    }
    match &store.database {
        Database::Postgres(pool) => {
            if !writes.is_of_members() {
                return Ok(false);
            }
            let statement =
                postgres::cohort::finish_alone(&writes, &finishing.worker_id, store.clock.fixed())?;
            match statement.execute_alone(pool, &store.at_hand).await {
                Ok(()) => Ok(true),
                Err(error) if error.is_conflict() || postgres::cohort::are_not_held(&error) => Ok(false),
                Err(error) => Err(error),
            }
        }
        Database::Sqlite(pools) => {
            let clock = store.clock.clone();
            let write = move |conn: &Connection| {
                sqlite::alone::finish_jobs(conn, clock.host(), &finishing)?;
                sqlite::alone::write_jobs(conn, &writes)
            };
            match pools.write(write).await {
                Some(Ok(())) => Ok(true),
                Some(Err(StoreError::Conflict(_))) | None => Ok(false),
                Some(Err(error)) => Err(error),
            }
        }
    }
}
