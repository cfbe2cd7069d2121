//! Completeness: every job enqueued in a window, and whether it came to an end.
//!
//! Read from the sealed log alone and checked on the way. The leaf of every event goes into the tree that
//! the checkpoint signs. Where an event decides the answer, its hash is made anew from its bytes: for the first
//! event of every stream, which says whether it is a job of the window, and for all events of those jobs. So
//! whoever hides a job or its end changes the root.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bpc_core::job::{FoldError, JobEvent, Occurrence, fold};
use bpc_core::merkle::{Frontier, event_leaf};
use bpc_core::{
    Envelope, Hash, Head, Job, JobId, Status, StreamId, TenantId, Timestamp, Version, chain_hash,
};
use bpc_eventstore::seal::{SealedEvent, read_sealed};
use bpc_eventstore::{Store, StoreError};

/// Events read at once.
const PAGE: usize = 4096;

/// Which jobs.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Enqueued at or after.
    pub from: Timestamp,
    /// Enqueued before.
    pub to: Timestamp,
    /// Only of this tenant.
    pub tenant: Option<TenantId>,
}

/// What the sealed log says about the jobs of a window.
#[derive(Clone, Debug)]
pub struct Completeness {
    /// Events that were read: positions below this.
    pub size: u64,
    /// Root over them, as computed here. Compare it with a signed checkpoint of this size.
    pub root: Hash,
    /// Jobs that came to an end, by status.
    pub ended: Vec<(Status, u64)>,
    /// Jobs that did not, oldest first.
    pub open: Vec<Job>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Why the log does not say it.
#[derive(Debug, thiserror::Error)]
pub enum CompletenessError {
    /// Reading failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A job's events are not a history of a job.
    #[error("the event at position {position} cannot have happened to job {job_id}: run `bpc verify`")]
    History {
        /// Where.
        position: u64,
        /// To which job.
        job_id: JobId,
        /// Why.
        #[source]
        source: FoldError,
    },
}

/// Read the first `size` events of the sealed order.
pub async fn completeness(
    store: &Store,
    window: Window,
    size: u64,
    mut progress: impl FnMut(u64),
) -> Result<Completeness, CompletenessError> {
    let start = Instant::now();
    let mut reading = Reading { window, tree: Frontier::new(), jobs: HashMap::new() };
    let mut tx = store.begin_read().await?;
    while reading.tree.size() < size {
        let from = reading.tree.size();
        let page = read_sealed(&mut tx.conn(), from, (size - from).min(PAGE as u64) as usize).await?;
        if page.is_empty() {
            return Err(StoreError::Damaged(format!("the order ends at position {from} of {size}")).into());
        }
        page.iter().try_for_each(|event| reading.take(event))?;
        progress(reading.tree.size());
    }
    let Reading { tree, jobs, .. } = reading;
    let mut open = Vec::new();
    let mut ended: Vec<(Status, u64)> = Vec::new();
    for job in jobs.into_values() {
        let status = job.status();
        match (is_ended(status), ended.iter_mut().find(|(known, _)| *known == status)) {
            (false, _) => open.push(job),
            (true, Some((_, jobs))) => *jobs += 1,
            (true, None) => ended.push((status, 1)),
        }
    }
    open.sort_by_key(|job| (job.created_at, job.job_id.0));
    ended.sort_by_key(|(status, _)| status.as_str());
    Ok(Completeness { size, root: tree.root(), ended, open, elapsed: start.elapsed() })
}

/// Nothing follows by itself.
fn is_ended(status: Status) -> bool {
    !matches!(status, Status::Queued | Status::Running)
}

struct Reading {
    window: Window,
    tree: Frontier,
    jobs: HashMap<StreamId, Job>,
}

impl Reading {
    fn take(&mut self, sealed: &SealedEvent) -> Result<(), CompletenessError> {
        let event = &sealed.event;
        let stored = event.hash()?;
        let damaged = |what: String| StoreError::Damaged(format!("position {}: {what}", sealed.position));
        let version = Version(u32::try_from(event.version).map_err(|error| damaged(error.to_string()))?);
        let is_followed = self.jobs.contains_key(&event.stream_id);
        if version.0 != 1 && !is_followed {
            // It decides nothing here: which event it is, the leaf says.
            self.tree.push(event_leaf(&event.stream_type, event.stream_id, version, &stored));
            return Ok(());
        }
        let envelope = event.envelope().map_err(|error| damaged(error.to_string()))?;
        let head = self.jobs.get(&envelope.stream_id).map(|job| job.head.hash);
        let hash = chain_hash(&head.unwrap_or(Hash::ZERO), &event.event_bytes);
        let Envelope { stream_id, version, ref stream_type, .. } = envelope;
        self.tree.push(event_leaf(stream_type, stream_id, version, &hash));
        if is_followed || self.is_wanted(&envelope) {
            self.fold(sealed.position, &envelope, hash)?;
        }
        Ok(())
    }

    fn is_wanted(&self, envelope: &Envelope<'_>) -> bool {
        let Window { from, to, tenant } = self.window;
        &*envelope.stream_type == "Job"
            && (from..to).contains(&envelope.occurred_at)
            && tenant.is_none_or(|tenant| envelope.tenant_id == tenant)
    }

    fn fold(&mut self, position: u64, envelope: &Envelope<'_>, hash: Hash) -> Result<(), CompletenessError> {
        let job_id = JobId(envelope.stream_id.0);
        let failed = |source| CompletenessError::History { position, job_id, source };
        let event = JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload)
            .map_err(|error| failed(error.into()))?;
        let occurrence = Occurrence {
            tenant_id: envelope.tenant_id,
            job_id,
            head: Head { version: envelope.version, hash },
            at: envelope.occurred_at,
        };
        let job = self.jobs.remove(&envelope.stream_id);
        let job = fold(job, &event, occurrence).map_err(failed)?;
        self.jobs.insert(envelope.stream_id, job);
        Ok(())
    }
}
