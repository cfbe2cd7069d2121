//! What an event says by itself, whatever came before it.

use bpc_core::merkle::written_leaf;
use bpc_core::{Hash, StreamId, Version, job};
use uuid::Uuid;

use super::envelope::{Envelopes, QuickEvent};
use super::facts::Facts;
use super::job::JobBits;
use super::keys::Keys;

/// Reads events one by one.
pub(super) struct Reader {
    envelopes: Envelopes,
    /// Stream type, tenant and what stands for them, of the event before.
    owner: (String, [u8; 16], u32),
    pub(super) keys: Keys,
}

/// What one event says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) event: QuickEvent<'a>,
    /// Stands for stream type and tenant.
    pub(super) owner: u32,
    pub(super) step: Step,
}

/// What an event means for the life of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A step of a job.
    Job(Facts),
    /// The stream is no job, and anything may follow.
    Other,
    /// An event of a job that no job has.
    Unreadable,
}

impl Reader {
    pub(super) fn new(keys: Keys) -> Self {
        let owner = (String::new(), [0; 16], keys.owner("", [0; 16]));
        Reader { envelopes: Envelopes::new(keys.names.clone()), owner, keys }
    }

    /// `None` for bytes that are no event.
    pub(super) fn read<'a>(&mut self, event_bytes: &'a [u8]) -> Option<Said<'a>> {
        let event = match self.envelopes.read(event_bytes) {
            Some(event) => event,
            None => QuickEvent::carefully(event_bytes)?,
        };
        let step = match event.facts {
            Some(facts) => Step::Job(facts),
            None if event.stream_type != job::STREAM_TYPE => Step::Other,
            None => {
                let QuickEvent { event_type, schema, payload, .. } = event;
                let facts = Facts::careful(event_type, schema, payload, &self.keys.names);
                facts.map_or(Step::Unreadable, Step::Job)
            }
        };
        Some(Said { event, owner: self.owner(&event), step })
    }

    /// Neighbouring events mostly have the same.
    fn owner(&mut self, event: &QuickEvent<'_>) -> u32 {
        let (stream_type, tenant, _) = &self.owner;
        if stream_type != event.stream_type || *tenant != event.tenant_id {
            let owner = self.keys.owner(event.stream_type, event.tenant_id);
            self.owner = (event.stream_type.to_owned(), event.tenant_id, owner);
        }
        self.owner.2
    }
}

impl Step {
    /// The state of a stream that begins with this, if one may.
    pub(super) fn begin(self) -> Option<JobBits> {
        match self {
            Step::Job(facts) => JobBits::begin(facts),
            Step::Other => Some(JobBits::NO_JOB),
            Step::Unreadable => None,
        }
    }

    /// The state after it, if it may follow.
    pub(super) fn after(self, before: JobBits) -> Option<JobBits> {
        match self {
            Step::Job(facts) => before.next(facts),
            Step::Other => Some(JobBits::NO_JOB),
            Step::Unreadable => None,
        }
    }
}

impl Said<'_> {
    pub(super) fn stream(&self) -> StreamId {
        StreamId(Uuid::from_bytes(self.event.stream_id))
    }

    /// The leaf of this event if its hash is this one.
    pub(super) fn leaf(&self, hash: &Hash) -> Hash {
        let QuickEvent { stream_type, stream_text, version, .. } = self.event;
        written_leaf(stream_type, stream_text, Version(version), hash)
    }
}
