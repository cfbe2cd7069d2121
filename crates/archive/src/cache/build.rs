//! From a segment to its parts.

use std::collections::HashMap;
use std::error::Error;

use bpc_core::job::{FoldError, STREAM_TYPE};
use bpc_core::{Envelope, EnvelopeError, Hash, JobEvent, StreamId, TenantId, Version, chain_hash};

use crate::segment::{EVENTS_PER_SEGMENT, Segment};

use super::PARTS;
use super::record::{Entry, Part, Run, Step, Unreadable};

/// Groups the events of one segment by stream, fed in order, and chains them on the way.
pub(crate) struct Builder<'s> {
    segment: &'s Segment,
    parts: Vec<PartBuilder>,
    streams: HashMap<StreamId, Newest>,
}

/// The newest run of a stream.
#[derive(Clone, Copy)]
struct Newest {
    part: usize,
    run: usize,
    version: Version,
    hash: Hash,
    tenant_id: TenantId,
    is_job: bool,
}

#[derive(Default)]
struct PartBuilder {
    part: Part,
    numbers: HashMap<String, u32>,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(segment: &'s Segment) -> Self {
        let parts = (0..PARTS).map(|_| PartBuilder::default()).collect();
        Builder { segment, parts, streams: HashMap::new() }
    }

    /// The next event. Returns its hash.
    pub(crate) fn take(&mut self, position: u64, envelope: &Envelope<'_>, event_bytes: &[u8]) -> Hash {
        let index = (position % EVENTS_PER_SEGMENT) as u16;
        let is_job = envelope.stream_type == STREAM_TYPE;
        let newest = self.goes_on(envelope, is_job);
        let (place, previous) = match newest {
            Some(newest) => (newest, newest.hash),
            None => self.begin(envelope, is_job, index),
        };
        let hash = chain_hash(&previous, event_bytes);
        let newest = Newest { version: envelope.version, hash, ..place };
        self.streams.insert(envelope.stream_id, newest);

        let part = &mut self.parts[place.part];
        let step = part.step(envelope, is_job);
        let entry = Entry { hash: hash.0, at: envelope.occurred_at.as_micros(), index, step };
        part.part.runs[place.run].events.push(entry);
        hash
    }

    /// Bytes that are no event.
    pub(crate) fn unreadable(&mut self, position: u64, error: &EnvelopeError) {
        let index = (position % EVENTS_PER_SEGMENT) as u16;
        let (code, reason) = (error.code().to_owned(), error.to_string());
        self.parts[0].part.unreadable.push(Unreadable { index, code, reason });
    }

    /// All parts.
    pub(crate) fn finish(self) -> Vec<Part> {
        self.parts.into_iter().map(|builder| builder.part).collect()
    }

    /// The run that an event goes on with.
    fn goes_on(&self, envelope: &Envelope<'_>, is_job: bool) -> Option<Newest> {
        let newest = self.streams.get(&envelope.stream_id)?;
        let part = &self.parts[newest.part].part;
        let stream_type = &part.names[part.runs[newest.run].stream_type as usize];
        let is_next = newest.version.next() == envelope.version;
        let is_same_owner = newest.is_job == is_job
            && newest.tenant_id == envelope.tenant_id
            && *stream_type == envelope.stream_type;
        (is_next && is_same_owner).then_some(*newest)
    }

    /// A new run, and what its first event is chained to.
    fn begin(&mut self, envelope: &Envelope<'_>, is_job: bool, index: u16) -> (Newest, Hash) {
        let stream_id = *envelope.stream_id.0.as_bytes();
        let number = usize::from(stream_id[15]);
        let previous = if envelope.version == Version(1) {
            Some(Hash::ZERO)
        } else {
            // A change of owner within a segment leaves the chain as it is.
            let before = self.streams.get(&envelope.stream_id);
            let before = before.filter(|newest| newest.version.next() == envelope.version);
            before.map(|newest| newest.hash).or_else(|| self.segment.previous(index).copied())
        };
        let part = &mut self.parts[number];
        let stream_type = part.number(&envelope.stream_type);
        part.part.runs.push(Run {
            stream_id,
            tenant_id: *envelope.tenant_id.0.as_bytes(),
            stream_type,
            first_version: envelope.version.0,
            previous: previous.map(|hash| hash.0),
            events: Vec::new(),
        });
        let newest = Newest {
            part: number,
            run: part.part.runs.len() - 1,
            version: envelope.version,
            hash: Hash::ZERO,
            tenant_id: envelope.tenant_id,
            is_job,
        };
        (newest, previous.unwrap_or(Hash::ZERO))
    }
}

impl PartBuilder {
    fn step(&mut self, envelope: &Envelope<'_>, is_job: bool) -> Step {
        if !is_job {
            return Step::Other;
        }
        match JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload) {
            Ok(event) => Step::of(&event, |name| self.number(name)),
            Err(error) => {
                let error = FoldError::from(error);
                let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                Step::Unfit { reason: self.number(&format!("{error}{cause}")) }
            }
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.part.names.len() as u32;
        self.part.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}
