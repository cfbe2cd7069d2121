//! One stream, folded event by event.

use std::error::Error;

use bpc_core::job::{self, FoldError, Occurrence, fold};
use bpc_core::{Envelope, Hash, Head, Job, JobEvent, JobId, StreamId, TenantId};
use bpc_eventstore::StoredEvent;

use super::drift::{Drift, DriftCode};
use super::folded::Folded;
use super::until::Until;

/// What is known of a stream after the events folded so far.
pub(super) struct StreamFold {
    pub(super) stream_id: StreamId,
    version: i32,
    /// Type and tenant that every event must name.
    owner: Option<(String, TenantId)>,
    job: Option<Job>,
    /// Nothing behind here counts: it lies after the moment asked for, or behind an event that cannot be.
    is_over: bool,
}

/// Where an event belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Into the job, or nowhere.
    Here,
    /// To the views that follow single events.
    ToViews,
}

/// Why an event cannot stand where it stands.
type Objection = (DriftCode, String);

impl StreamFold {
    pub(super) fn new(stream_id: StreamId) -> Self {
        StreamFold { stream_id, version: 0, owner: None, job: None, is_over: false }
    }

    /// Take the next event in. An event that cannot be ends the stream, and no row follows from it: what
    /// it would be after that is anybody's guess.
    pub(super) fn take(&mut self, event: &StoredEvent, until: Until, to: &mut Folded<'_>) -> Taken {
        if self.is_over {
            return Taken::Here;
        }
        self.step(event, until).unwrap_or_else(|(code, message)| {
            self.is_over = true;
            self.job = None;
            to.drift(|| Drift::of_event(code, event.stream_id, event.version, message));
            Taken::Here
        })
    }

    /// Did it begin before the replay ends?
    pub(super) fn has_begun(&self) -> bool {
        self.owner.is_some()
    }

    /// Is it the stream of a job?
    pub(super) fn is_job(&self) -> bool {
        self.owner.as_ref().is_some_and(|(stream_type, _)| stream_type == job::STREAM_TYPE)
    }

    /// The job that the stream folded to.
    pub(super) fn into_job(self) -> Option<Job> {
        self.job
    }

    fn step(&mut self, event: &StoredEvent, until: Until) -> Result<Taken, Objection> {
        let unreadable = |message| (DriftCode::ReplayEventUnreadable, message);
        let envelope = Envelope::read(&event.event_bytes).map_err(|error| unreadable(error.to_string()))?;
        let (stream_id, version) = (envelope.stream_id, envelope.version);
        if stream_id != event.stream_id || i64::from(version.0) != i64::from(event.version) {
            return Err(unreadable(format!("the event says it is version {version} of stream {stream_id}")));
        }
        // Within a stream the clock may have gone back; what counts is the first event that is later.
        if !until.includes(envelope.occurred_at) {
            self.is_over = true;
            return Ok(Taken::Here);
        }
        self.follow(event.version)?;
        self.belong(&envelope)?;
        if !self.is_job() {
            return Ok(Taken::ToViews);
        }
        let hash = Hash::from_slice(&event.event_hash)
            .ok_or_else(|| unreadable("the stored hash does not have 32 bytes".to_owned()))?;
        let job = next_job(self.job.take(), &envelope, hash);
        self.job = Some(job.map_err(|error| (DriftCode::ReplayIllegalHistory, with_cause(&error)))?);
        Ok(Taken::Here)
    }

    fn follow(&mut self, version: i32) -> Result<(), Objection> {
        let expected = self.version + 1;
        if version != expected {
            let message = format!("version {version} stands where version {expected} belongs");
            return Err((DriftCode::ReplayIllegalHistory, message));
        }
        self.version = version;
        Ok(())
    }

    fn belong(&mut self, envelope: &Envelope<'_>) -> Result<(), Objection> {
        let Some((stream_type, tenant)) = &self.owner else {
            self.owner = Some((envelope.stream_type.to_string(), envelope.tenant_id));
            return Ok(());
        };
        if *stream_type == envelope.stream_type && *tenant == envelope.tenant_id {
            return Ok(());
        }
        let here = format!("{} of tenant {}", envelope.stream_type, envelope.tenant_id);
        let message =
            format!("the events before are about a {stream_type} of tenant {tenant}, this one a {here}");
        Err((DriftCode::ReplayIllegalHistory, message))
    }
}

fn next_job(job: Option<Job>, envelope: &Envelope<'_>, hash: Hash) -> Result<Job, FoldError> {
    let event = JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload)?;
    let occurrence = Occurrence {
        tenant_id: envelope.tenant_id,
        job_id: JobId(envelope.stream_id.0),
        head: Head { version: envelope.version, hash },
        at: envelope.occurred_at,
    };
    fold(job, &event, occurrence)
}

fn with_cause(error: &FoldError) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
