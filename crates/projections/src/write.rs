//! Writing events together with the job views they change.

use bpc_core::job::{FinishedRow, Lease, Placement, QueueRow};
use bpc_core::{EventRecord, Job, JobId, TenantId, Timestamp};
use bpc_eventstore::{Conn, Database, Store, StoreError};

use crate::{postgres, sqlite};

/// Everything that one transaction writes about jobs: events, and the rows of the views that follow
/// from them.
#[derive(Debug, Default)]
pub struct JobWrites {
    pub(crate) events: Vec<EventRecord>,
    pub(crate) insert_queue: Vec<QueueRow>,
    pub(crate) lease_queue: Vec<JobId>,
    pub(crate) lease: Option<Lease>,
    pub(crate) update_queue: Vec<QueueRow>,
    pub(crate) delete_queue: Vec<JobId>,
    pub(crate) insert_finished: Vec<FinishedRow>,
    pub(crate) delete_finished: Vec<FinishedKey>,
    pub(crate) wake: Vec<String>,
}

/// Key of the view of finished jobs.
pub(crate) type FinishedKey = (TenantId, Timestamp, JobId);

impl JobWrites {
    /// Nothing to write?
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
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

    /// A job that waited in the queue, locked, and is leased now. All jobs leased by one of these have
    /// the same worker and end of lease.
    pub fn lease(&mut self, job: &Job, events: Vec<EventRecord>) {
        self.events.extend(events);
        self.lease_queue.push(job.job_id);
        self.lease = self.lease.take().or_else(|| job.lease().cloned());
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

/// Write in a transaction of its own; durable when it returns. On PostgreSQL this is one round trip.
pub async fn write_jobs_alone(store: &Store, writes: &JobWrites) -> Result<(), StoreError> {
    match &store.database {
        Database::Postgres(pool) if store.fault.is_spent() => {
            postgres::compose(writes)?.execute_alone(pool).await
        }
        _ => {
            let mut tx = store.begin().await?;
            write_jobs(&mut tx.conn(), writes).await?;
            tx.commit().await
        }
    }
}
