//! One step of a job: decide, write the events, fold them in. Every change of a job goes through here.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use uuid::Uuid;

use crate::envelope::{Envelope, EnvelopeError, EventRecord, Head};
use crate::id::{EventId, JobId, TenantId};
use crate::time::Timestamp;

use super::command::Command;
use super::decide::{Refusal, decide};
use super::event::{JobEvent, SCHEMA};
use super::fold::{FoldError, Occurrence, fold};
use super::state::Job;

/// Who does it, when, and why; and where ids get their entropy.
pub struct Stamp<'a> {
    /// Who causes it.
    pub actor: &'a str,
    /// The database's time.
    pub now: Timestamp,
    /// The event that caused it.
    pub causation_id: Option<EventId>,
    /// The request it belongs to.
    pub correlation_id: Option<Uuid>,
    /// Random bytes for event ids.
    pub entropy: &'a mut (dyn FnMut() -> [u8; 10] + Send),
}

/// The state after a step, and the events that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The new state.
    pub job: Job,
    /// The events to append, in order.
    pub records: Vec<EventRecord>,
    /// Id of the last of them.
    pub event_id: EventId,
}

/// Why a step was not taken.
#[derive(Debug, thiserror::Error)]
pub enum TransitionError {
    /// The rules say no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The event may not be hashed.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// `decide` and `fold` disagree: a fault of the rule book itself.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl TransitionError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            TransitionError::Refused(refusal) => refusal.code(),
            TransitionError::Envelope(error) => error.code(),
            TransitionError::Fold(_) => "ILLEGAL_TRANSITION",
        }
    }
}

static STREAM_TYPE: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(super::STREAM_TYPE));

/// Carry a command out on a job.
pub fn transition(
    tenant_id: TenantId,
    job_id: JobId,
    job: Option<Job>,
    command: Command,
    stamp: &mut Stamp<'_>,
) -> Result<Transition, TransitionError> {
    let events = decide(job.as_ref(), command, stamp.now)?;
    advance(tenant_id, job_id, job, &events, stamp)
}

/// Add events that were decided elsewhere (a refusal that is kept). `events` is not empty.
pub fn advance(
    tenant_id: TenantId,
    job_id: JobId,
    mut job: Option<Job>,
    events: &[JobEvent],
    stamp: &mut Stamp<'_>,
) -> Result<Transition, TransitionError> {
    let mut records = Vec::with_capacity(events.len());
    let mut payload = Vec::with_capacity(256);
    let mut event_id = EventId(Uuid::nil());
    for event in events {
        let head = job.as_ref().map_or(Head::NONE, |job| job.head);
        event_id = EventId::fresh(stamp.now, (stamp.entropy)());
        payload.clear();
        event.write_payload(&mut payload);
        let envelope = Envelope {
            actor: Cow::Borrowed(stamp.actor),
            causation_id: stamp.causation_id,
            correlation_id: stamp.correlation_id,
            event_id,
            event_type: Cow::Borrowed(event.event_type()),
            occurred_at: stamp.now,
            payload: &payload,
            schema: SCHEMA,
            stream_id: job_id.into(),
            stream_type: Cow::Borrowed(super::STREAM_TYPE),
            tenant_id,
            version: head.version.next(),
        };
        let record = envelope.record(&head.hash, STREAM_TYPE.clone(), Cow::Borrowed(event.event_type()))?;
        let head = Head { version: record.version, hash: record.event_hash };
        job = Some(fold(job, event, Occurrence { tenant_id, job_id, head, at: stamp.now })?);
        records.push(record);
    }
    let job = job.ok_or(Refusal::NotFound)?;
    Ok(Transition { job, records, event_id })
}
