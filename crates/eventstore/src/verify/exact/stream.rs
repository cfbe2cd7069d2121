//! One stream, checked event by event, as far as it has been read.

use std::error::Error;

use bpc_core::job::{self, FoldError, Occurrence, fold};
use bpc_core::{Envelope, Hash, Head, Job, JobEvent, JobId, TenantId};

use super::cell::Cell;
use super::chain::{Chain, Step};
use super::place::Place;
use super::row::Stored;
use crate::verify::finding::{
    Finding, Findings, HASH_MISMATCH, ILLEGAL_HISTORY, STREAM_MIXED, VERSION_DUPLICATE, VERSION_GAP,
};

/// What is known of a stream after the events checked so far.
#[derive(Default)]
pub(super) struct StreamCheck {
    chain: Chain,
    /// Type and tenant that every event must name.
    owner: Option<(String, TenantId)>,
    /// The job so far.
    job: Option<Job>,
    /// No job, or a job with an event that is missing or wrong: what follows cannot be judged, and one
    /// broken event must not be a finding for each behind it.
    is_opaque: bool,
}

impl StreamCheck {
    /// Check the next event of the stream.
    pub(super) fn take(&mut self, stored: &Stored<'_>, findings: &mut Findings) {
        let envelope = Envelope::read(stored.event_bytes.bytes());
        let place = Place { stored, envelope: envelope.as_ref().ok() };
        if let Err(error) = &envelope {
            findings.add(|| Finding { message: error.to_string(), ..place.finding(error.code()) });
        }
        place.check_columns(findings);
        let Some(version) = stored.version.as_integer() else {
            // A finding already, and it stands nowhere in the stream: where it should, there is a gap.
            self.is_opaque = true;
            return;
        };
        let step = self.chain.step(version);
        report_step(step, place, findings);
        let hash = self.check_hash(place, findings);
        match place.envelope {
            Some(envelope) => {
                let is_mixed = self.check_owner(envelope, place, findings);
                self.is_opaque |= is_mixed || step != Step::Next || !self.is_job();
                self.fold(envelope, hash, place, findings);
            }
            None => self.is_opaque = true,
        }
    }

    /// Is it the stream of a job?
    pub(super) fn is_job(&self) -> bool {
        self.owner.as_ref().is_some_and(|(stream_type, _)| stream_type == job::STREAM_TYPE)
    }

    fn check_hash(&mut self, place: Place<'_>, findings: &mut Findings) -> Hash {
        let event_hash = &place.stored.event_hash;
        let stored = if let Cell::Blob(bytes) = event_hash { Hash::from_slice(bytes) } else { None };
        let link = self.chain.link(place.stored.event_bytes.bytes(), stored);
        if !link.is_sound {
            findings.add(|| Finding {
                column: Some("event_hash"),
                expected: link.expected.map(|hash| hash.to_string()),
                found: Some(event_hash.to_string()),
                message: "the hash does not cover these bytes behind the event before them".to_owned(),
                ..place.finding(HASH_MISMATCH)
            });
        }
        link.hash
    }

    /// The first event says whose stream this is, and every later one must agree. After a change the
    /// new owner counts, so that each change is one finding.
    fn check_owner(&mut self, envelope: &Envelope<'_>, place: Place<'_>, findings: &mut Findings) -> bool {
        let owner = || Some((envelope.stream_type.to_string(), envelope.tenant_id));
        let Some((stream_type, tenant)) = &self.owner else {
            self.owner = owner();
            return false;
        };
        let mut mixed = |column, before: String, here: String| {
            findings.add(|| Finding {
                column: Some(column),
                message: format!("the events before have {column} {before}, this one has {here}"),
                expected: Some(before),
                found: Some(here),
                ..place.finding(STREAM_MIXED)
            });
        };
        let (same_type, same_tenant) = (*stream_type == envelope.stream_type, *tenant == envelope.tenant_id);
        if !same_type {
            mixed("stream_type", stream_type.clone(), envelope.stream_type.to_string());
        }
        if !same_tenant {
            mixed("tenant_id", tenant.to_string(), envelope.tenant_id.to_string());
        }
        if same_type && same_tenant {
            return false;
        }
        self.owner = owner();
        true
    }

    fn fold(&mut self, envelope: &Envelope<'_>, hash: Hash, place: Place<'_>, findings: &mut Findings) {
        if self.is_opaque {
            return;
        }
        let occurrence = Occurrence {
            tenant_id: envelope.tenant_id,
            job_id: JobId(envelope.stream_id.0),
            head: Head { version: envelope.version, hash },
            at: envelope.occurred_at,
        };
        let event = JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload);
        match event.map_err(FoldError::from).and_then(|event| fold(self.job.take(), &event, occurrence)) {
            Ok(job) => self.job = Some(job),
            Err(error) => {
                self.is_opaque = true;
                findings.add(|| Finding { message: with_cause(&error), ..place.finding(ILLEGAL_HISTORY) });
            }
        }
    }
}

fn report_step(step: Step, place: Place<'_>, findings: &mut Findings) {
    let version = place.version();
    match step {
        Step::Next => {}
        Step::Duplicate => findings.add(|| Finding {
            message: format!("version {version} is there more than once"),
            ..place.finding(VERSION_DUPLICATE)
        }),
        Step::Gap { expected } => findings.add(|| Finding {
            expected: Some(expected.to_string()),
            found: Some(version.to_string()),
            message: match version.saturating_sub(expected) {
                1 => format!("version {expected} is missing"),
                2.. => format!("versions {expected} to {} are missing", version - 1),
                _ => format!("the stream begins with version {version}, not 1"),
            },
            ..place.finding(VERSION_GAP)
        }),
    }
}

fn with_cause(error: &FoldError) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
