//! The events of a proof as a part of one stream: chain, versions, order, places in the tree.

use crate::chain::{Hash, chain_hash};
use crate::envelope::{Envelope, Head};
use crate::id::{JobId, Version};
use crate::job::{self, FoldError, Job, JobEvent, Occurrence, fold};
use crate::merkle::{event_leaf, verify_inclusion};
use crate::note::Checkpoint;

use super::{Proof, ProofError, ProvenEvent, Subject};

/// Walks the events from first to last.
pub(super) struct Walk<'a> {
    subject: Subject,
    checkpoint: &'a Checkpoint,
    head: Head,
    before: Option<(Envelope<'a>, u64)>,
    job: Option<Job>,
}

/// Where a walk came out.
pub(super) struct Walked<'a> {
    pub(super) last: Envelope<'a>,
    pub(super) head: Head,
    pub(super) job: Option<Job>,
}

impl<'a> Walk<'a> {
    /// All events of the proof against a checkpoint that holds.
    pub(super) fn all(proof: &'a Proof, checkpoint: &'a Checkpoint) -> Result<Walked<'a>, ProofError> {
        let head = first_head(proof)?;
        let mut walk = Walk { subject: proof.subject, checkpoint, head, before: None, job: None };
        for (at, proven) in proof.events.iter().enumerate() {
            let envelope = read(at, proven)?;
            walk.take(envelope, proven)?;
        }
        let (last, _) = walk.before.ok_or(ProofError::Count(0))?;
        Ok(Walked { last, head: walk.head, job: walk.job })
    }

    fn take(&mut self, envelope: Envelope<'a>, proven: &ProvenEvent) -> Result<(), ProofError> {
        let version = envelope.version;
        self.check_place(&envelope, proven)?;
        let hash = chain_hash(&self.head.hash, proven.event.as_bytes());
        self.head = Head { version, hash };

        let leaf = event_leaf(&envelope.stream_type, envelope.stream_id, version, &hash);
        let Checkpoint { size, root, .. } = self.checkpoint;
        verify_inclusion(&leaf, proven.position, *size, &proven.path, root)
            .map_err(|cause| ProofError::NotIncluded { version, position: proven.position, cause })?;

        if self.subject == Subject::Job {
            let job = self.fold(&envelope).map_err(|cause| ProofError::History { version, cause })?;
            self.job = Some(job);
        }
        self.before = Some((envelope, proven.position));
        Ok(())
    }

    fn check_place(&self, envelope: &Envelope<'_>, proven: &ProvenEvent) -> Result<(), ProofError> {
        let (expected, found) = (self.head.version.0 + 1, envelope.version);
        if found.0 != expected {
            return Err(ProofError::VersionGap { expected: Version(expected), found });
        }
        if self.subject == Subject::Job && envelope.stream_type != job::STREAM_TYPE {
            return Err(ProofError::NotAJob(envelope.stream_type.to_string()));
        }
        let Some((before, position)) = &self.before else { return Ok(()) };
        let same = before.stream_id == envelope.stream_id
            && before.stream_type == envelope.stream_type
            && before.tenant_id == envelope.tenant_id;
        if !same {
            return Err(ProofError::StreamMixed { version: found });
        }
        if proven.position <= *position {
            return Err(ProofError::Order { version: found, position: proven.position });
        }
        Ok(())
    }

    fn fold(&mut self, envelope: &Envelope<'_>) -> Result<Job, FoldError> {
        let event = JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload)?;
        let occurrence = Occurrence {
            tenant_id: envelope.tenant_id,
            job_id: JobId(envelope.stream_id.0),
            head: self.head,
            at: envelope.occurred_at,
        };
        fold(self.job.take(), &event, occurrence)
    }
}

/// What the first event is chained to: nothing at version 1, else what the file says. A hash that is not
/// the right one leads to another leaf than the log has.
fn first_head(proof: &Proof) -> Result<Head, ProofError> {
    let count = proof.events.len();
    if count == 0 || (proof.subject == Subject::Event && count > 1) {
        return Err(ProofError::Count(count));
    }
    let first = read(0, &proof.events[0])?.version;
    match (proof.subject, first, proof.prev_hash) {
        (Subject::Job, _, Some(_)) => Err(ProofError::PrevHash(first)),
        (Subject::Job, ..) | (Subject::Event, Version(1), None) => Ok(Head::NONE),
        (Subject::Event, Version(1), Some(_)) | (Subject::Event, _, None) => Err(ProofError::PrevHash(first)),
        (Subject::Event, Version(version), Some(hash)) => Ok(head_before(version, hash)),
    }
}

fn head_before(version: u32, hash: Hash) -> Head {
    Head { version: Version(version - 1), hash }
}

fn read(at: usize, proven: &ProvenEvent) -> Result<Envelope<'_>, ProofError> {
    Envelope::read(proven.event.as_bytes()).map_err(|cause| ProofError::Event { number: at + 1, cause })
}
