//! Everything that can happen to a job, and its payload bytes.

use serde::{Deserialize, Serialize};

use crate::canonical::{CanonicalJson, write_integer, write_string};
use crate::envelope::Head;
use crate::id::{JobId, StreamId, TenantId, Version};
use crate::time::Timestamp;

use super::state::{Job, Phase};

/// One event of a job's stream.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// Somebody asked for the job.
    Enqueued {
        /// Type of the job, which names its handler.
        job_type: String,
        /// Queue it waits in.
        queue: String,
        /// 0 to 3, lower first.
        priority: u8,
        /// Attempts in all.
        max_attempts: u32,
        /// When it is due.
        scheduled_at: Timestamp,
        /// Key that makes enqueueing idempotent.
        idempotency_key: Option<String>,
        /// What the handler gets.
        payload: CanonicalJson,
    },
    /// A worker has the right to run it until a time. The attempt is counted here, so a job that
    /// kills its worker still runs out of attempts.
    Leased {
        /// Who holds the lease.
        worker_id: String,
        /// 1 for the first.
        attempt: u32,
        /// Until when.
        lease_expires_at: Timestamp,
    },
    /// The lease goes on.
    Renewed {
        /// Who holds it.
        worker_id: String,
        /// Until when now.
        lease_expires_at: Timestamp,
    },
    /// The handler said how far it is.
    Progressed {
        /// 0 to 100, never backwards within an attempt.
        percent: u8,
        /// The step it is at.
        step: Option<String>,
        /// In words.
        message: Option<String>,
    },
    /// Done.
    Succeeded {
        /// How long the handler ran.
        duration_ms: u64,
        /// What it returned.
        result: Option<CanonicalJson>,
        /// The events committed with it.
        emitted: Vec<Emitted>,
    },
    /// An attempt failed.
    Failed {
        /// Which.
        attempt: u32,
        /// Why.
        error: ErrorInfo,
    },
    /// It will be tried again.
    RetryScheduled {
        /// When.
        scheduled_at: Timestamp,
        /// After how long.
        delay_ms: u64,
    },
    /// No attempts are left: a person has to look.
    DeadLettered {
        /// How many there were.
        attempts: u32,
    },
    /// The worker was not heard of in time.
    LeaseExpired {
        /// Who held it.
        worker_id: String,
    },
    /// The worker stopped and gave it back unfinished; the attempt does not count.
    Released {
        /// Who gave it back.
        worker_id: String,
    },
    /// The handler said "not yet"; the attempt does not count.
    Snoozed {
        /// Not before then.
        until: Timestamp,
    },
    /// Somebody wants a running job to stop.
    CancelRequested {
        /// Why.
        reason: Option<String>,
    },
    /// It will not run (any more).
    Cancelled {
        /// Why.
        reason: Option<String>,
    },
    /// A person sent a failed job back into the queue.
    Replayed {
        /// Who.
        actor: String,
        /// Why.
        justification: String,
    },
    /// A person closed a failed job for good.
    Resolved {
        /// Who.
        actor: String,
        /// What they found.
        notes: String,
    },
    /// A worker came back after its lease was lost. Nothing of what it brought was kept.
    StaleCompletionRefused {
        /// Who came.
        worker_id: String,
        /// With which attempt.
        attempt: u32,
    },
}

/// An event that a successful attempt committed besides its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emitted {
    /// Its stream.
    pub stream_id: StreamId,
    /// What that stream is about; `Job` for follow-up jobs.
    pub stream_type: String,
    /// Its version there.
    pub version: Version,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorInfo {
    /// Stable, upper snake case.
    pub code: String,
    /// For people.
    pub message: String,
    /// May another attempt help?
    pub retryable: bool,
    /// Anything more, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Stored bytes are not the payload of a job event of that type.
#[derive(Debug, thiserror::Error)]
pub enum JobEventError {
    /// No such event.
    #[error("{0} is not a job event of schema 1")]
    UnknownType(String),
    /// The payload does not fit.
    #[error("the payload of {event_type} does not have its shape")]
    Payload {
        /// Of which event.
        event_type: String,
        /// What serde says.
        #[source]
        source: serde_json::Error,
    },
}

/// Version of all job event payloads.
pub const SCHEMA: u16 = 1;

impl JobEvent {
    /// The name in the envelope.
    pub fn event_type(&self) -> &'static str {
        match self {
            JobEvent::Enqueued { .. } => "ENQUEUED",
            JobEvent::Leased { .. } => "LEASED",
            JobEvent::Renewed { .. } => "RENEWED",
            JobEvent::Progressed { .. } => "PROGRESSED",
            JobEvent::Succeeded { .. } => "SUCCEEDED",
            JobEvent::Failed { .. } => "FAILED",
            JobEvent::RetryScheduled { .. } => "RETRY_SCHEDULED",
            JobEvent::DeadLettered { .. } => "DEAD_LETTERED",
            JobEvent::LeaseExpired { .. } => "LEASE_EXPIRED",
            JobEvent::Released { .. } => "RELEASED",
            JobEvent::Snoozed { .. } => "SNOOZED",
            JobEvent::CancelRequested { .. } => "CANCEL_REQUESTED",
            JobEvent::Cancelled { .. } => "CANCELLED",
            JobEvent::Replayed { .. } => "REPLAYED",
            JobEvent::Resolved { .. } => "RESOLVED",
            JobEvent::StaleCompletionRefused { .. } => "STALE_COMPLETION_REFUSED",
        }
    }

    /// Append the canonical payload. Written by hand, keys in canonical order: the general way
    /// through a JSON tree costs five times as much on the hottest path there is.
    pub fn write_payload(&self, out: &mut Vec<u8>) {
        let mut object = Object::open(out);
        match self {
            JobEvent::Enqueued {
                job_type,
                queue,
                priority,
                max_attempts,
                scheduled_at,
                idempotency_key,
                payload,
            } => {
                object.optional_string("idempotency_key", idempotency_key);
                object.string("job_type", job_type);
                object.integer("max_attempts", i64::from(*max_attempts));
                object.raw("payload", payload.as_bytes());
                object.integer("priority", i64::from(*priority));
                object.string("queue", queue);
                object.time("scheduled_at", *scheduled_at);
            }
            JobEvent::Leased { worker_id, attempt, lease_expires_at } => {
                object.integer("attempt", i64::from(*attempt));
                object.time("lease_expires_at", *lease_expires_at);
                object.string("worker_id", worker_id);
            }
            JobEvent::Renewed { worker_id, lease_expires_at } => {
                object.time("lease_expires_at", *lease_expires_at);
                object.string("worker_id", worker_id);
            }
            JobEvent::Progressed { percent, step, message } => {
                object.optional_string("message", message);
                object.integer("percent", i64::from(*percent));
                object.optional_string("step", step);
            }
            JobEvent::Succeeded { duration_ms, result, emitted } => {
                object.integer("duration_ms", *duration_ms as i64);
                object.emitted("emitted", emitted);
                if let Some(result) = result {
                    object.raw("result", result.as_bytes());
                }
            }
            JobEvent::Failed { attempt, error } => {
                object.integer("attempt", i64::from(*attempt));
                object.error("error", error);
            }
            JobEvent::RetryScheduled { scheduled_at, delay_ms } => {
                object.integer("delay_ms", *delay_ms as i64);
                object.time("scheduled_at", *scheduled_at);
            }
            JobEvent::DeadLettered { attempts } => object.integer("attempts", i64::from(*attempts)),
            JobEvent::LeaseExpired { worker_id } | JobEvent::Released { worker_id } => {
                object.string("worker_id", worker_id);
            }
            JobEvent::Snoozed { until } => object.time("until", *until),
            JobEvent::CancelRequested { reason } | JobEvent::Cancelled { reason } => {
                object.optional_string("reason", reason);
            }
            JobEvent::Replayed { actor, justification } => {
                object.string("actor", actor);
                object.string("justification", justification);
            }
            JobEvent::Resolved { actor, notes } => {
                object.string("actor", actor);
                object.string("notes", notes);
            }
            JobEvent::StaleCompletionRefused { worker_id, attempt } => {
                object.integer("attempt", i64::from(*attempt));
                object.string("worker_id", worker_id);
            }
        }
        object.close();
    }

    /// Read a payload back, whose bytes are canonical JSON. Succeeds only for bytes that
    /// [`JobEvent::write_payload`] writes: a log that says more, less or the same otherwise was not
    /// written by this rule book.
    pub fn read(event_type: &str, schema: u16, payload: &[u8]) -> Result<JobEvent, JobEventError> {
        if schema != SCHEMA {
            return Err(JobEventError::UnknownType(format!("{event_type} (schema {schema})")));
        }
        let event = payloads::read(event_type, payload)?;
        let mut written = Vec::with_capacity(payload.len());
        event.write_payload(&mut written);
        if written == payload {
            return Ok(event);
        }
        // Such as null for a field that is left out, a list for an object, or a UUID in capitals.
        let source = serde::de::Error::custom("it reads, but is never written like this");
        Err(JobEventError::Payload { event_type: event_type.to_owned(), source })
    }
}

/// What the stored bytes of an `ENQUEUED` event say of its job, and what the handler gets. Nothing else of
/// the event is read.
pub fn read_enqueued(event_bytes: &[u8]) -> Result<(Job, &[u8]), serde_json::Error> {
    #[derive(Deserialize)]
    struct Event<'a> {
        occurred_at: Timestamp,
        #[serde(borrow)]
        payload: Enqueued<'a>,
        stream_id: JobId,
        tenant_id: TenantId,
    }
    #[derive(Deserialize)]
    struct Enqueued<'a> {
        job_type: String,
        max_attempts: u32,
        #[serde(borrow)]
        payload: &'a serde_json::value::RawValue,
        priority: u8,
        queue: String,
        scheduled_at: Timestamp,
    }
    let event = serde_json::from_slice::<Event<'_>>(event_bytes)?;
    let enqueued = event.payload;
    let job = Job {
        tenant_id: event.tenant_id,
        job_id: event.stream_id,
        job_type: enqueued.job_type,
        queue: enqueued.queue,
        priority: enqueued.priority,
        max_attempts: enqueued.max_attempts,
        attempts: 0,
        created_at: event.occurred_at,
        scheduled_at: enqueued.scheduled_at,
        head: Head::NONE,
        phase: Phase::Queued,
        last_error: None,
        settled_fence: Version::NONE,
    };
    Ok((job, enqueued.payload.get().as_bytes()))
}

/// Writes one object with keys already in canonical order.
struct Object<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Object<'a> {
    fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Object { out, first: true }
    }

    fn close(self) {
        self.out.push(b'}');
    }

    /// Keys are plain ASCII names, so they need no escapes.
    fn key(&mut self, key: &'static str) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn raw(&mut self, key: &'static str, json: &[u8]) {
        self.key(key);
        self.out.extend_from_slice(json);
    }

    fn string(&mut self, key: &'static str, value: &str) {
        self.key(key);
        write_string(value, self.out);
    }

    fn optional_string(&mut self, key: &'static str, value: &Option<String>) {
        if let Some(value) = value {
            self.string(key, value);
        }
    }

    fn integer(&mut self, key: &'static str, value: i64) {
        self.key(key);
        write_integer(value, self.out);
    }

    fn time(&mut self, key: &'static str, value: Timestamp) {
        self.key(key);
        self.out.push(b'"');
        value.write(self.out);
        self.out.push(b'"');
    }

    fn error(&mut self, key: &'static str, error: &ErrorInfo) {
        self.key(key);
        let mut inner = Object::open(self.out);
        inner.string("code", &error.code);
        inner.optional_string("detail", &error.detail);
        inner.string("message", &error.message);
        inner.raw("retryable", if error.retryable { b"true" } else { b"false" });
        inner.close();
    }

    fn emitted(&mut self, key: &'static str, list: &[Emitted]) {
        self.key(key);
        self.out.push(b'[');
        for (n, emitted) in list.iter().enumerate() {
            if n > 0 {
                self.out.push(b',');
            }
            let mut inner = Object::open(self.out);
            inner.string("stream_id", &emitted.stream_id.to_string());
            inner.string("stream_type", &emitted.stream_type);
            inner.integer("version", i64::from(emitted.version.0));
            inner.close();
        }
        self.out.push(b']');
    }
}

/// The shapes that serde reads.
mod payloads {
    use serde::Deserializer;
    use serde::de::DeserializeOwned;
    use serde_json::value::RawValue;

    use super::*;

    macro_rules! shapes {
        ($($name:ident { $($(#[$meta:meta])* $field:ident: $ty:ty),* $(,)? })*) => {
            $(#[derive(Deserialize)] #[serde(deny_unknown_fields)]
            struct $name { $($(#[$meta])* $field: $ty),* })*
        };
    }

    shapes! {
        Enqueued {
            #[serde(default)] idempotency_key: Option<String>,
            job_type: String,
            max_attempts: u32,
            payload: Box<RawValue>,
            priority: u8,
            queue: String,
            scheduled_at: Timestamp,
        }
        Leased { attempt: u32, lease_expires_at: Timestamp, worker_id: String }
        Renewed { lease_expires_at: Timestamp, worker_id: String }
        Progressed { #[serde(default)] message: Option<String>, percent: u8, #[serde(default)] step: Option<String> }
        Succeeded {
            duration_ms: u64,
            emitted: Vec<Emitted>,
            #[serde(default, deserialize_with = "present")] result: Option<Box<RawValue>>,
        }
        Failed { attempt: u32, error: ErrorInfo }
        RetryScheduled { delay_ms: u64, scheduled_at: Timestamp }
        DeadLettered { attempts: u32 }
        ByWorker { worker_id: String }
        Snoozed { until: Timestamp }
        Because { #[serde(default)] reason: Option<String> }
        Replayed { actor: String, justification: String }
        Resolved { actor: String, notes: String }
        Stale { attempt: u32, worker_id: String }
    }

    /// What stands there is a value, even if that value is null.
    fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
        Box::deserialize(deserializer).map(Some)
    }

    pub(super) fn read(event_type: &str, payload: &[u8]) -> Result<JobEvent, JobEventError> {
        fn shape<T: DeserializeOwned>(event_type: &str, payload: &[u8]) -> Result<T, JobEventError> {
            serde_json::from_slice(payload)
                .map_err(|source| JobEventError::Payload { event_type: event_type.to_owned(), source })
        }
        // The bytes come out of a canonical envelope, so every part of them is canonical.
        let raw = |json: Box<RawValue>| {
            CanonicalJson::from_trusted(Box::<str>::from(json).into_string().into_bytes())
        };
        Ok(match event_type {
            "ENQUEUED" => {
                let it: Enqueued = shape(event_type, payload)?;
                JobEvent::Enqueued {
                    job_type: it.job_type,
                    queue: it.queue,
                    priority: it.priority,
                    max_attempts: it.max_attempts,
                    scheduled_at: it.scheduled_at,
                    idempotency_key: it.idempotency_key,
                    payload: raw(it.payload),
                }
            }
            "LEASED" => {
                let it: Leased = shape(event_type, payload)?;
                JobEvent::Leased {
                    worker_id: it.worker_id,
                    attempt: it.attempt,
                    lease_expires_at: it.lease_expires_at,
                }
            }
            "RENEWED" => {
                let it: Renewed = shape(event_type, payload)?;
                JobEvent::Renewed { worker_id: it.worker_id, lease_expires_at: it.lease_expires_at }
            }
            "PROGRESSED" => {
                let it: Progressed = shape(event_type, payload)?;
                JobEvent::Progressed { percent: it.percent, step: it.step, message: it.message }
            }
            "SUCCEEDED" => {
                let it: Succeeded = shape(event_type, payload)?;
                JobEvent::Succeeded {
                    duration_ms: it.duration_ms,
                    result: it.result.map(raw),
                    emitted: it.emitted,
                }
            }
            "FAILED" => {
                let it: Failed = shape(event_type, payload)?;
                JobEvent::Failed { attempt: it.attempt, error: it.error }
            }
            "RETRY_SCHEDULED" => {
                let it: RetryScheduled = shape(event_type, payload)?;
                JobEvent::RetryScheduled { scheduled_at: it.scheduled_at, delay_ms: it.delay_ms }
            }
            "DEAD_LETTERED" => {
                JobEvent::DeadLettered { attempts: shape::<DeadLettered>(event_type, payload)?.attempts }
            }
            "LEASE_EXPIRED" => {
                JobEvent::LeaseExpired { worker_id: shape::<ByWorker>(event_type, payload)?.worker_id }
            }
            "RELEASED" => JobEvent::Released { worker_id: shape::<ByWorker>(event_type, payload)?.worker_id },
            "SNOOZED" => JobEvent::Snoozed { until: shape::<Snoozed>(event_type, payload)?.until },
            "CANCEL_REQUESTED" => {
                JobEvent::CancelRequested { reason: shape::<Because>(event_type, payload)?.reason }
            }
            "CANCELLED" => JobEvent::Cancelled { reason: shape::<Because>(event_type, payload)?.reason },
            "REPLAYED" => {
                let it: Replayed = shape(event_type, payload)?;
                JobEvent::Replayed { actor: it.actor, justification: it.justification }
            }
            "RESOLVED" => {
                let it: Resolved = shape(event_type, payload)?;
                JobEvent::Resolved { actor: it.actor, notes: it.notes }
            }
            "STALE_COMPLETION_REFUSED" => {
                let it: Stale = shape(event_type, payload)?;
                JobEvent::StaleCompletionRefused { worker_id: it.worker_id, attempt: it.attempt }
            }
            other => return Err(JobEventError::UnknownType(other.to_owned())),
        })
    }
}
