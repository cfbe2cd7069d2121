//! The envelope: the one JSON object that an event is, its bytes, and reading them back.

use std::borrow::Cow;
use std::sync::Arc;

use uuid::Uuid;

use crate::canonical::{self, CanonicalJson, JsonError};
use crate::chain::{Hash, chain_hash};
use crate::id::{EventId, StreamId, TenantId, Version};
use crate::time::Timestamp;

/// Name of this byte format. It changes only together with the rules.
pub const FORMAT: &str = "BPC-EVENT-1";
/// The largest event; larger things are blobs.
pub const EVENT_BYTES_MAX: usize = 256 * 1024;
/// The smallest event; anything shorter is not an envelope.
pub const EVENT_BYTES_MIN: usize = 64;
/// Longest event type, stream type and actor.
const NAME_MAX: usize = 128;

/// The end of a stream: where the next event is chained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Version of the newest event.
    pub version: Version,
    /// Its hash.
    pub hash: Hash,
}

impl Head {
    /// A stream without events.
    pub const NONE: Head = Head { version: Version::NONE, hash: Hash::ZERO };
}

/// An event that somebody wants appended: what happened, without its place in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Upper snake case, past tense: `FACTS_PARSED`.
    pub event_type: Cow<'static, str>,
    /// Version of this event type's payload.
    pub schema: u16,
    /// The payload, an object.
    pub payload: CanonicalJson,
}

impl Draft {
    /// An event of that type, saying `payload`.
    pub fn new(
        event_type: impl Into<Cow<'static, str>>,
        schema: u16,
        payload: &impl serde::Serialize,
    ) -> Result<Self, JsonError> {
        Ok(Draft { event_type: event_type.into(), schema, payload: canonical::to_canonical(payload)? })
    }
}

/// All that one event says, borrowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope<'a> {
    /// Who caused it: `worker:<id>`, `user:<id>`, `system`.
    pub actor: Cow<'a, str>,
    /// The event that caused it.
    pub causation_id: Option<EventId>,
    /// The request it belongs to.
    pub correlation_id: Option<Uuid>,
    /// Its own id.
    pub event_id: EventId,
    /// What happened.
    pub event_type: Cow<'a, str>,
    /// When.
    pub occurred_at: Timestamp,
    /// Canonical bytes of the payload object.
    pub payload: &'a [u8],
    /// Version of the payload's shape.
    pub schema: u16,
    /// The stream.
    pub stream_id: StreamId,
    /// What the stream is about: `Job`, `DocumentVersion`, ...
    pub stream_type: Cow<'a, str>,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Place in the stream.
    pub version: Version,
}

/// An event with its bytes and hash, ready to store. The other fields are the copies that the
/// database keeps as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// What the stream is about.
    pub stream_type: Arc<str>,
    /// The stream.
    pub stream_id: StreamId,
    /// Place in the stream.
    pub version: Version,
    /// What happened.
    pub event_type: Cow<'static, str>,
    /// When.
    pub occurred_at: Timestamp,
    /// `SHA-256(prev_hash || event_bytes)`.
    pub event_hash: Hash,
    /// The envelope, canonical.
    pub event_bytes: Vec<u8>,
}

/// Why an event may not be hashed, or why stored bytes are not an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The JSON breaks a rule.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Too many bytes.
    #[error(
        "the event has {0} bytes, the limit is {EVENT_BYTES_MAX}: store the large part as a blob and put its hash into the event"
    )]
    TooLarge(usize),
    /// Too few bytes.
    #[error("the event has {0} bytes, which is too short for an envelope")]
    TooSmall(usize),
    /// The payload is a string, a list ...
    #[error("the payload must be a JSON object")]
    PayloadNotObject,
    /// A name does not follow the rules for names.
    #[error("{field} {value:?} is not allowed: {rule}")]
    BadName {
        /// Which name.
        field: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// Stored bytes are canonical JSON but not an envelope.
    #[error("not an event envelope: {0} is missing, misplaced or malformed")]
    Shape(&'static str),
}

impl EnvelopeError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            EnvelopeError::Json(error) => error.kind.code(),
            EnvelopeError::TooLarge(_) => "EVENT_TOO_LARGE",
            EnvelopeError::TooSmall(_) => "EVENT_TOO_SMALL",
            EnvelopeError::PayloadNotObject => "PAYLOAD_NOT_OBJECT",
            EnvelopeError::BadName { .. } => "EVENT_NAME_INVALID",
            EnvelopeError::Shape(_) => "EVENT_MALFORMED",
        }
    }
}

impl Envelope<'_> {
    /// Append the canonical bytes. Keys are fixed and stand in canonical order, so nothing is
    /// sorted; a property test holds this equal to the general canonical writer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(self.payload.len() + 420);
        out.extend_from_slice(b"{\"actor\":");
        canonical::write_string(&self.actor, out);
        if let Some(id) = self.causation_id {
            write_uuid(b",\"causation_id\":\"", id.0, out);
        }
        if let Some(id) = self.correlation_id {
            write_uuid(b",\"correlation_id\":\"", id, out);
        }
        write_uuid(b",\"event_id\":\"", self.event_id.0, out);
        out.extend_from_slice(b",\"event_type\":");
        canonical::write_string(&self.event_type, out);
        out.extend_from_slice(b",\"format\":\"BPC-EVENT-1\",\"occurred_at\":\"");
        self.occurred_at.write(out);
        out.extend_from_slice(b"\",\"payload\":");
        out.extend_from_slice(self.payload);
        out.extend_from_slice(b",\"schema\":");
        canonical::write_integer(self.schema.into(), out);
        write_uuid(b",\"stream_id\":\"", self.stream_id.0, out);
        out.extend_from_slice(b",\"stream_type\":");
        canonical::write_string(&self.stream_type, out);
        write_uuid(b",\"tenant_id\":\"", self.tenant_id.0, out);
        out.extend_from_slice(b",\"version\":");
        canonical::write_integer(self.version.0.into(), out);
        out.push(b'}');
    }

    /// Bytes and hash of this event behind `prev_hash`. `stream_type` is the caller's shared copy.
    pub fn record(
        &self,
        prev_hash: &Hash,
        stream_type: Arc<str>,
        event_type: Cow<'static, str>,
    ) -> Result<EventRecord, EnvelopeError> {
        self.check_names()?;
        let mut event_bytes = Vec::new();
        self.write(&mut event_bytes);
        check_size(event_bytes.len())?;
        check_depth(&event_bytes)?;
        Ok(EventRecord {
            tenant_id: self.tenant_id,
            stream_type,
            stream_id: self.stream_id,
            version: self.version,
            event_type,
            occurred_at: self.occurred_at,
            event_hash: chain_hash(prev_hash, &event_bytes),
            event_bytes,
        })
    }

    fn check_names(&self) -> Result<(), EnvelopeError> {
        let upper_snake = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
        name("event type", &self.event_type, "upper snake case such as FACTS_PARSED", upper_snake)?;
        name("stream type", &self.stream_type, "letters and digits such as PassportVersion", |c| {
            c.is_ascii_alphanumeric()
        })?;
        if self.actor.is_empty() || self.actor.len() > NAME_MAX {
            let rule = "worker:<id>, user:<id> or system, at most 128 bytes";
            return Err(EnvelopeError::BadName { field: "actor", value: self.actor.to_string(), rule });
        }
        if self.payload.first() != Some(&b'{') {
            return Err(EnvelopeError::PayloadNotObject);
        }
        // Both count from one.
        if self.schema == 0 {
            return Err(EnvelopeError::Shape("schema"));
        }
        if self.version == Version::NONE {
            return Err(EnvelopeError::Shape("version"));
        }
        Ok(())
    }
}

impl<'a> Envelope<'a> {
    /// Read stored bytes. Succeeds only for bytes that [`Envelope::write`] could have written.
    pub fn read(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        check_size(bytes.len())?;
        canonical::check(bytes)?;
        let mut cursor = Cursor { rest: bytes };
        cursor.expect(b"{\"actor\":", "actor")?;
        let actor = cursor.string("actor")?;
        let causation_id = cursor.optional_uuid(b",\"causation_id\":\"", "causation_id")?.map(EventId);
        let correlation_id = cursor.optional_uuid(b",\"correlation_id\":\"", "correlation_id")?;
        let event_id = EventId(cursor.uuid(b",\"event_id\":\"", "event_id")?);
        cursor.expect(b",\"event_type\":", "event_type")?;
        let event_type = cursor.string("event_type")?;
        cursor.expect(b",\"format\":\"BPC-EVENT-1\"", "format")?;
        cursor.expect(b",\"occurred_at\":", "occurred_at")?;
        let occurred_at =
            cursor.string("occurred_at")?.parse().map_err(|_| EnvelopeError::Shape("occurred_at"))?;
        cursor.expect(b",\"payload\":", "payload")?;
        let payload = cursor.value();
        cursor.expect(b",\"schema\":", "schema")?;
        let schema = cursor.number("schema")?;
        let stream_id = StreamId(cursor.uuid(b",\"stream_id\":\"", "stream_id")?);
        cursor.expect(b",\"stream_type\":", "stream_type")?;
        let stream_type = cursor.string("stream_type")?;
        let tenant_id = TenantId(cursor.uuid(b",\"tenant_id\":\"", "tenant_id")?);
        cursor.expect(b",\"version\":", "version")?;
        let version = Version(cursor.number("version")?);
        cursor.expect(b"}", "end")?;
        if !cursor.rest.is_empty() {
            return Err(EnvelopeError::Shape("end"));
        }
        let envelope = Envelope {
            actor,
            causation_id,
            correlation_id,
            event_id,
            event_type,
            occurred_at,
            payload,
            schema,
            stream_id,
            stream_type,
            tenant_id,
            version,
        };
        envelope.check_names()?;
        Ok(envelope)
    }
}

/// Size rules, also for a payload before it is known how large its envelope will be.
fn check_size(len: usize) -> Result<(), EnvelopeError> {
    match len {
        0..EVENT_BYTES_MIN => Err(EnvelopeError::TooSmall(len)),
        EVENT_BYTES_MIN..=EVENT_BYTES_MAX => Ok(()),
        _ => Err(EnvelopeError::TooLarge(len)),
    }
}

/// A payload lies deeper in its envelope than it did on its own, so it can be canonical and its event
/// not. Few events have enough brackets to be worth a look.
fn check_depth(bytes: &[u8]) -> Result<(), EnvelopeError> {
    let opening = bytes.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if opening > canonical::MAX_DEPTH { Ok(canonical::check(bytes)?) } else { Ok(()) }
}

fn name(
    field: &'static str,
    value: &str,
    rule: &'static str,
    allowed: impl Fn(u8) -> bool,
) -> Result<(), EnvelopeError> {
    let good = value.len() <= NAME_MAX
        && value.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && value.bytes().all(allowed);
    if good { Ok(()) } else { Err(EnvelopeError::BadName { field, value: value.to_owned(), rule }) }
}

fn write_uuid(key: &[u8], id: Uuid, out: &mut Vec<u8>) {
    out.extend_from_slice(key);
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    out.extend_from_slice(id.as_hyphenated().encode_lower(&mut text).as_bytes());
    out.push(b'"');
}

/// Walks bytes already known to be canonical JSON.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn expect(&mut self, text: &[u8], field: &'static str) -> Result<(), EnvelopeError> {
        self.rest = self.rest.strip_prefix(text).ok_or(EnvelopeError::Shape(field))?;
        Ok(())
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }

    fn string(&mut self, field: &'static str) -> Result<Cow<'a, str>, EnvelopeError> {
        if self.rest.first() != Some(&b'"') {
            return Err(EnvelopeError::Shape(field));
        }
        let text = self.value();
        let inner = &text[1..text.len() - 1];
        let malformed = EnvelopeError::Shape(field);
        if inner.contains(&b'\\') {
            serde_json::from_slice(text).map(Cow::Owned).map_err(|_| malformed)
        } else {
            std::str::from_utf8(inner).map(Cow::Borrowed).map_err(|_| malformed)
        }
    }

    /// The whole value that stands here.
    fn value(&mut self) -> &'a [u8] {
        let (mut depth, mut in_string, mut at) = (0usize, false, 0);
        while let Some(&byte) = self.rest.get(at) {
            match byte {
                b'\\' if in_string => at += 1,
                b'"' => {
                    in_string = !in_string;
                    if !in_string && depth == 0 {
                        return self.take(at + 1);
                    }
                }
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 1 => return self.take(at + 1),
                b'}' | b']' if depth > 1 => depth -= 1,
                b',' | b'}' | b']' if depth == 0 => return self.take(at),
                _ => {}
            }
            at += 1;
        }
        self.take(self.rest.len())
    }

    fn number<T: std::str::FromStr>(&mut self, field: &'static str) -> Result<T, EnvelopeError> {
        let text = std::str::from_utf8(self.value()).ok();
        text.and_then(|text| text.parse().ok()).ok_or(EnvelopeError::Shape(field))
    }

    fn uuid(&mut self, key: &[u8], field: &'static str) -> Result<Uuid, EnvelopeError> {
        self.expect(key, field)?;
        if self.rest.len() < 37 {
            return Err(EnvelopeError::Shape(field));
        }
        let text = self.take(36);
        // The parser also takes upper case; only one spelling is ours.
        if text.iter().any(u8::is_ascii_uppercase) {
            return Err(EnvelopeError::Shape(field));
        }
        self.expect(b"\"", field)?;
        Uuid::try_parse_ascii(text).map_err(|_| EnvelopeError::Shape(field))
    }

    fn optional_uuid(&mut self, key: &[u8], field: &'static str) -> Result<Option<Uuid>, EnvelopeError> {
        if self.rest.starts_with(key) { self.uuid(key, field).map(Some) } else { Ok(None) }
    }
}
