//! The envelope's bytes: one spelling, read back exactly, and nothing else is read.

#[path = "common/arbitrary.rs"]
mod arbitrary;

use std::borrow::Cow;

use bpc_core::canonical::{MAX_DEPTH, canonicalize};
use bpc_core::envelope::{EVENT_BYTES_MAX, EVENT_BYTES_MIN, FORMAT};
use bpc_core::{
    CanonicalJson, Envelope, EnvelopeError, EventId, EventRecord, Hash, StreamId, TenantId, Timestamp,
    Version, chain_hash,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use arbitrary::{canonical, cases, moment, text, uuid, value};

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn the_writer_agrees_with_the_general_canonical_writer(event in event(text(), text(), text())) {
        let mut bytes = Vec::new();
        event.envelope().write(&mut bytes);
        let general = serde_json_canonicalizer::to_string(&event.as_value()).unwrap();
        prop_assert_eq!(std::str::from_utf8(&bytes).unwrap(), general);
    }

    #[test]
    fn what_is_recorded_reads_back(event in named_event()) {
        let record = event.record().unwrap();
        prop_assert_eq!(Envelope::read(&record.event_bytes), Ok(event.envelope()));
    }

    #[test]
    fn a_record_carries_copies_and_is_chained_to_its_predecessor(
        event in named_event(),
        prev in any::<[u8; 32]>(),
    ) {
        let (envelope, prev) = (event.envelope(), Hash(prev));
        let record = envelope.record(&prev, "Job".into(), "LEASED".into()).unwrap();
        prop_assert_eq!(record.event_hash, chain_hash(&prev, &record.event_bytes));
        prop_assert_eq!(record.tenant_id, event.tenant_id);
        prop_assert_eq!(record.stream_id, event.stream_id);
        prop_assert_eq!(record.version, event.version);
        prop_assert_eq!(record.occurred_at, event.occurred_at);
    }

    #[test]
    fn no_change_of_a_byte_goes_unseen(
        event in named_event(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = event.record().unwrap().event_bytes;
        let place = place.index(bytes.len());
        prop_assume!(bytes[place] != byte);
        bytes[place] = byte;
        prop_assert_ne!(Envelope::read(&bytes), Ok(event.envelope()));
    }

    #[test]
    fn reading_never_panics(bytes in vec(any::<u8>(), 0..400)) {
        let _ = Envelope::read(&bytes);
    }
}

#[test]
fn an_event_looks_like_this() {
    let text = String::from_utf8(sample().record().unwrap().event_bytes).unwrap();
    assert_eq!(text, SAMPLE.replace('\n', ""));
    assert_eq!(Envelope::read(text.as_bytes()), Ok(sample().envelope()));
}

#[test]
fn no_change_of_any_single_byte_goes_unseen() {
    let event = sample();
    let original = event.record().unwrap().event_bytes;
    let mut changed = original.clone();
    for place in 0..original.len() {
        for byte in (0..=255).filter(|byte| *byte != original[place]) {
            changed[place] = byte;
            assert_ne!(Envelope::read(&changed), Ok(event.envelope()), "byte {place} as {byte}");
        }
        changed[place] = original[place];
    }
}

#[test]
fn no_byte_lost_or_added_goes_unseen() {
    let event = sample();
    let original = event.record().unwrap().event_bytes;
    for place in 0..original.len() {
        let mut shorter = original.clone();
        shorter.remove(place);
        assert_ne!(Envelope::read(&shorter), Ok(event.envelope()), "without byte {place}");
        assert!(Envelope::read(&original[..place]).is_err(), "cut at byte {place}");
        for byte in *b" \t\n\r0\"\\,{}" {
            let mut longer = original.clone();
            longer.insert(place, byte);
            assert_ne!(Envelope::read(&longer), Ok(event.envelope()), "{byte} before byte {place}");
        }
    }
    for byte in 0..=255 {
        let longer = [&original[..], &[byte]].concat();
        assert!(Envelope::read(&longer).is_err(), "{byte} at the end");
    }
}

#[test]
fn other_spellings_of_an_event_are_not_events() {
    let id = "0000000a-0000-4000-8000-000000000001";
    for (from, to, code) in [
        // The JSON is not canonical.
        (",\"schema\"", ", \"schema\"", "JSON_NOT_CANONICAL"),
        ("\"schema\":1", "\"schema\":1.0", "JSON_NUMBER_NOT_INTEGER"),
        ("\"schema\":1", "\"schema\":1e0", "JSON_NUMBER_NOT_INTEGER"),
        ("\"schema\":1", "\"schema\":01", "JSON_SYNTAX"),
        ("worker:", "\\u0077orker:", "JSON_NOT_CANONICAL"),
        ("\\n", "\\u000a", "JSON_NOT_CANONICAL"),
        (",\"schema\":1", ",\"schema\":1,\"schema\":1", "JSON_DUPLICATE_KEY"),
        ("{\"b\":1,\"é\":[2]}", "{\"é\":[2],\"b\":1}", "JSON_NOT_CANONICAL"),
        ("{\"b\":1,", "{\"b\":1,\"b\":1,", "JSON_DUPLICATE_KEY"),
        ("{\"b\":1,", "{\"b\":9007199254740993,", "JSON_NUMBER_OUT_OF_RANGE"),
        // Keys are missing, added, null or out of place.
        (",\"schema\":1", "", "EVENT_MALFORMED"),
        (",\"schema\":1", ",\"schema\":1,\"seal\":1", "EVENT_MALFORMED"),
        ("{\"actor\"", "{\"a\":1,\"actor\"", "EVENT_MALFORMED"),
        ("\"version\":7", "\"version\":7,\"x\":1", "EVENT_MALFORMED"),
        (id, "", "EVENT_MALFORMED"),
        (&format!("\"correlation_id\":\"{id}\""), "\"correlation_id\":null", "EVENT_MALFORMED"),
        // Values have another type or range.
        (FORMAT, "BPC-EVENT-2", "EVENT_MALFORMED"),
        ("\"actor\":\"worker:é\\n\"", "\"actor\":1", "EVENT_MALFORMED"),
        ("\"event_type\":\"LEASED\"", "\"event_type\":[\"LEASED\"]", "EVENT_MALFORMED"),
        ("\"schema\":1", "\"schema\":\"1\"", "EVENT_MALFORMED"),
        ("\"schema\":1", "\"schema\":65536", "EVENT_MALFORMED"),
        ("\"schema\":1", "\"schema\":-1", "EVENT_MALFORMED"),
        ("\"version\":7", "\"version\":4294967296", "EVENT_MALFORMED"),
        ("\"version\":7", "\"version\":{}", "EVENT_MALFORMED"),
        ("19:48:31.000000Z", "19:48:31Z", "EVENT_MALFORMED"),
        ("19:48:31.000000Z", "19:48:61.000000Z", "EVENT_MALFORMED"),
        ("2026-11-16", "2026-02-30", "EVENT_MALFORMED"),
        // Ids have one spelling.
        (id, "0000000A-0000-4000-8000-000000000001", "EVENT_MALFORMED"),
        (id, "0000000a000040008000000000000001", "EVENT_MALFORMED"),
        (id, "{0000000a-0000-4000-8000-000000000001}", "EVENT_MALFORMED"),
        (id, "urn:uuid:0000000a-0000-4000-8000-000000000001", "EVENT_MALFORMED"),
        (id, "0000000g-0000-4000-8000-000000000001", "EVENT_MALFORMED"),
        // Names and payload keep their rules when read, too.
        ("LEASED", "leased", "EVENT_NAME_INVALID"),
        ("\"Job\"", "\"My Job\"", "EVENT_NAME_INVALID"),
        ("worker:é\\n", "", "EVENT_NAME_INVALID"),
        ("{\"b\":1,\"é\":[2]}", "[1,2]", "PAYLOAD_NOT_OBJECT"),
    ] {
        let sample = SAMPLE.replace('\n', "");
        let changed = sample.replacen(from, to, 1);
        assert_ne!(changed, sample, "{from} is not in the sample");
        let refused = Envelope::read(changed.as_bytes()).expect_err(to);
        assert_eq!(refused.code(), code, "{from} as {to}: {refused}");
    }
}

#[test]
fn an_event_has_at_most_256_kib() {
    let empty = padded(0).record().unwrap().event_bytes.len();
    let largest = padded(EVENT_BYTES_MAX - empty).record().unwrap();
    assert_eq!(largest.event_bytes.len(), 256 * 1024);
    assert!(Envelope::read(&largest.event_bytes).is_ok());

    let over = padded(EVENT_BYTES_MAX - empty + 1);
    let refused = over.record().unwrap_err();
    assert_eq!(refused, EnvelopeError::TooLarge(256 * 1024 + 1));
    assert_eq!(refused.code(), "EVENT_TOO_LARGE");
    let mut bytes = Vec::new();
    over.envelope().write(&mut bytes);
    assert_eq!(Envelope::read(&bytes), Err(refused));
}

#[test]
fn an_event_has_at_least_64_bytes() {
    let of_length = |len: usize| format!("{{\"actor\":\"{}\"}}", "x".repeat(len - 12)).into_bytes();
    for short in [vec![], of_length(12), of_length(EVENT_BYTES_MIN - 1)] {
        let refused = Envelope::read(&short).unwrap_err();
        assert_eq!(refused, EnvelopeError::TooSmall(short.len()));
        assert_eq!(refused.code(), "EVENT_TOO_SMALL");
    }
    assert_eq!(EVENT_BYTES_MIN, 64);
    assert_eq!(Envelope::read(&of_length(64)).unwrap_err().code(), "EVENT_MALFORMED");
}

#[test]
fn the_smallest_envelope_is_well_above_the_smallest_size() {
    let event = Event {
        actor: "x".to_owned(),
        event_type: "X".to_owned(),
        stream_type: "X".to_owned(),
        causation_id: None,
        correlation_id: None,
        payload: CanonicalJson::empty_object(),
        ..sample()
    };
    let record = event.record().unwrap();
    assert!(record.event_bytes.len() > 2 * EVENT_BYTES_MIN);
    assert_eq!(Envelope::read(&record.event_bytes), Ok(event.envelope()));
}

/// A payload is canonical by itself, but lies one level deeper in its envelope.
#[test]
fn what_is_too_deep_to_be_read_is_not_recorded() {
    let nested = |depth: usize| Event {
        payload: canonicalize(format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)).as_bytes())
            .unwrap(),
        ..sample()
    };
    let deepest = nested(MAX_DEPTH - 1);
    let record = deepest.record().unwrap();
    assert_eq!(Envelope::read(&record.event_bytes), Ok(deepest.envelope()));

    let refused = nested(MAX_DEPTH).record().unwrap_err();
    assert_eq!(refused.code(), "JSON_TOO_DEEP");
    let mut bytes = Vec::new();
    nested(MAX_DEPTH).envelope().write(&mut bytes);
    assert_eq!(Envelope::read(&bytes), Err(refused));
}

#[test]
fn many_brackets_are_not_depth() {
    let wide = Event {
        payload: canonicalize(
            format!("{{\"a\":[{}[]],\"b\":\"{}\"}}", "{},".repeat(500), "[{".repeat(500)).as_bytes(),
        )
        .unwrap(),
        ..sample()
    };
    let record = wide.record().unwrap();
    assert_eq!(Envelope::read(&record.event_bytes), Ok(wide.envelope()));
}

#[test]
fn names_have_rules() {
    let long = |len: usize| "X".repeat(len);
    for good in [
        Event { event_type: "A".to_owned(), ..sample() },
        Event { event_type: "FACTS_PARSED_2".to_owned(), ..sample() },
        Event { event_type: long(128), ..sample() },
        Event { stream_type: "Job".to_owned(), ..sample() },
        Event { stream_type: "rulePackage2".to_owned(), ..sample() },
        Event { stream_type: long(128), ..sample() },
        Event { actor: "system".to_owned(), ..sample() },
        Event { actor: "é".repeat(64), ..sample() },
        Event { actor: "user:\"\u{0}".to_owned(), ..sample() },
    ] {
        assert!(good.record().is_ok(), "{good:?}");
    }
    let bad_types = ["", "_A", "1A", "a", "Aa", "A B", "A-B", "A.B", "Ä", "A\n"];
    for bad in bad_types.into_iter().map(str::to_owned).chain([long(129)]) {
        refuses_name(Event { event_type: bad.clone(), ..sample() }, "event type", &bad);
    }
    let bad_streams = ["", "1Job", "My Job", "Job_", "Job-1", "Jöb", "Job:"];
    for bad in bad_streams.into_iter().map(str::to_owned).chain([long(129)]) {
        refuses_name(Event { stream_type: bad.clone(), ..sample() }, "stream type", &bad);
    }
    for bad in [String::new(), long(129), "é".repeat(65)] {
        refuses_name(Event { actor: bad.clone(), ..sample() }, "actor", &bad);
    }
}

#[track_caller]
fn refuses_name(event: Event, field: &str, value: &str) {
    let refused = event.record().expect_err(value);
    assert_eq!(refused.code(), "EVENT_NAME_INVALID");
    assert!(refused.to_string().starts_with(&format!("{field} {value:?} is not allowed: ")), "{refused}");
}

#[test]
fn a_payload_is_an_object() {
    for payload in ["null", "true", "1", "\"{}\"", "[]", "[{}]"] {
        let event = Event { payload: canonicalize(payload.as_bytes()).unwrap(), ..sample() };
        let refused = event.record().expect_err(payload);
        assert_eq!(refused, EnvelopeError::PayloadNotObject);
        assert_eq!(refused.code(), "PAYLOAD_NOT_OBJECT");
    }
    let sample = sample();
    let nothing = Envelope { payload: b"", ..sample.envelope() };
    let refused = nothing.record(&Hash::ZERO, "Job".into(), "LEASED".into()).unwrap_err();
    assert_eq!(refused, EnvelopeError::PayloadNotObject);
}

/// An envelope that owns what it says.
#[derive(Clone, Debug)]
struct Event {
    actor: String,
    causation_id: Option<Uuid>,
    correlation_id: Option<Uuid>,
    event_id: EventId,
    event_type: String,
    occurred_at: Timestamp,
    payload: CanonicalJson,
    schema: u16,
    stream_id: StreamId,
    stream_type: String,
    tenant_id: TenantId,
    version: Version,
}

impl Event {
    fn envelope(&self) -> Envelope<'_> {
        Envelope {
            actor: Cow::Borrowed(&self.actor),
            causation_id: self.causation_id.map(EventId),
            correlation_id: self.correlation_id,
            event_id: self.event_id,
            event_type: Cow::Borrowed(&self.event_type),
            occurred_at: self.occurred_at,
            payload: self.payload.as_bytes(),
            schema: self.schema,
            stream_id: self.stream_id,
            stream_type: Cow::Borrowed(&self.stream_type),
            tenant_id: self.tenant_id,
            version: self.version,
        }
    }

    fn record(&self) -> Result<EventRecord, EnvelopeError> {
        self.envelope().record(
            &Hash::ZERO,
            self.stream_type.as_str().into(),
            Cow::Owned(self.event_type.clone()),
        )
    }

    /// The same, said in general JSON.
    fn as_value(&self) -> Value {
        let mut value = json!({
            "version": self.version.0,
            "tenant_id": self.tenant_id.to_string(),
            "stream_type": self.stream_type,
            "stream_id": self.stream_id.to_string(),
            "schema": self.schema,
            "payload": serde_json::from_slice::<Value>(self.payload.as_bytes()).unwrap(),
            "occurred_at": self.occurred_at.to_string(),
            "format": "BPC-EVENT-1",
            "event_type": self.event_type,
            "event_id": self.event_id.to_string(),
            "actor": self.actor,
        });
        for (key, id) in [("correlation_id", self.correlation_id), ("causation_id", self.causation_id)] {
            if let Some(id) = id {
                value[key] = id.to_string().into();
            }
        }
        value
    }
}

/// The bytes of [`sample`]; line breaks are for readers.
const SAMPLE: &str = r#"{"actor":"worker:é\n",
"causation_id":"0000000a-0000-4000-8000-000000000002",
"correlation_id":"0000000a-0000-4000-8000-000000000001",
"event_id":"0000000a-0000-4000-8000-000000000003",
"event_type":"LEASED",
"format":"BPC-EVENT-1",
"occurred_at":"2026-11-16T19:48:31.000000Z",
"payload":{"b":1,"é":[2]},
"schema":1,
"stream_id":"0000000a-0000-4000-8000-000000000004",
"stream_type":"Job",
"tenant_id":"0000000a-0000-4000-8000-000000000005",
"version":7}"#;

fn sample() -> Event {
    let id = |n: u128| Uuid::from_u128(0x0000_000a_0000_4000_8000_0000_0000_0000 + n);
    Event {
        actor: "worker:é\n".to_owned(),
        causation_id: Some(id(2)),
        correlation_id: Some(id(1)),
        event_id: EventId(id(3)),
        event_type: "LEASED".to_owned(),
        occurred_at: Timestamp::from_micros(1_794_858_511_000_000),
        payload: canonicalize("{\"b\":1,\"é\":[2]}".as_bytes()).unwrap(),
        schema: 1,
        stream_id: StreamId(id(4)),
        stream_type: "Job".to_owned(),
        tenant_id: TenantId(id(5)),
        version: Version(7),
    }
}

/// An event whose payload is so many bytes longer than the shortest of its kind.
fn padded(len: usize) -> Event {
    let payload = canonicalize(format!("{{\"a\":\"{}\"}}", "x".repeat(len)).as_bytes()).unwrap();
    Event { payload, ..sample() }
}

/// Any event with names that are allowed.
fn named_event() -> impl Strategy<Value = Event> {
    let actor = text().prop_filter("an actor has 1 to 128 bytes", |text| (1..=128).contains(&text.len()));
    event(actor, "[A-Z][A-Z0-9_]{0,40}", "[A-Za-z][A-Za-z0-9]{0,40}")
}

fn event(
    actor: impl Strategy<Value = String>,
    event_type: impl Strategy<Value = String>,
    stream_type: impl Strategy<Value = String>,
) -> impl Strategy<Value = Event> {
    let names = (actor, event_type, stream_type);
    let ids = (option::of(uuid()), option::of(uuid()), uuid(), uuid(), uuid());
    let payload = btree_map(text(), value(), 0..5).prop_map(|members| canonical(Value::from_iter(members)));
    (names, ids, moment(), payload, 1..=u16::MAX, any::<u32>()).prop_map(
        |(
            (actor, event_type, stream_type),
            (causation_id, correlation_id, event_id, stream_id, tenant_id),
            occurred_at,
            payload,
            schema,
            version,
        )| {
            Event {
                actor,
                causation_id,
                correlation_id,
                event_id: EventId(event_id),
                event_type,
                occurred_at,
                payload,
                schema,
                stream_id: StreamId(stream_id),
                stream_type,
                tenant_id: TenantId(tenant_id),
                version: Version(version),
            }
        },
    )
}
