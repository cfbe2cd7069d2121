//! Reading an event as the engine writes it, in one go and without allocating.
//!
//! [`Envelopes::read`] says yes only where [`bpc_core::Envelope::read`] does, and then says the same; a property
//! test holds it to that. Where it says no, the careful reader is asked: events with escapes in their
//! names, deep payloads, and everything that is broken.

use std::borrow::Cow;

use bpc_core::{Envelope, Timestamp, canonical, job};

use super::clock::{Clock, TIME_LEN};
use super::facts::{Facts, Names, PAYLOAD_DEPTH};

/// What one event says, as far as checking a log needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuickEvent<'a> {
    pub(super) event_type: &'a str,
    pub(super) occurred_at: Timestamp,
    pub(super) payload: &'a [u8],
    pub(super) schema: u16,
    pub(super) stream_id: [u8; 16],
    /// The same as it is written.
    pub(super) stream_text: &'a [u8; UUID_LEN],
    pub(super) stream_type: &'a str,
    pub(super) tenant_id: [u8; 16],
    pub(super) version: u32,
    /// Of a job, if it is one of the usual payloads.
    pub(super) facts: Option<Facts>,
}

/// Reads envelopes. Remembers what neighbouring events have in common.
#[derive(Clone, Debug)]
pub(super) struct Envelopes {
    pub(super) names: Names,
    clock: Clock,
    /// Who caused the event before.
    actor: Vec<u8>,
    /// The tenant of the event before, as text and as what it stands for.
    tenant: ([u8; UUID_LEN], [u8; 16]),
}

/// Longest event type, stream type and actor.
const NAME_MAX: usize = 128;
const UUID_LEN: usize = 36;

impl Envelopes {
    pub(super) fn new(names: Names) -> Self {
        Envelopes { names, clock: Clock::default(), actor: Vec::new(), tenant: (*NO_TENANT, [0; 16]) }
    }

    /// Read an event from both ends: what stands before the payload and behind it has fixed names in a fixed
    /// order, so what is between can only be the payload.
    pub(super) fn read<'a>(&mut self, bytes: &'a [u8]) -> Option<QuickEvent<'a>> {
        if !(bpc_core::envelope::EVENT_BYTES_MIN..=bpc_core::envelope::EVENT_BYTES_MAX).contains(&bytes.len())
        {
            return None;
        }
        let mut front = Front(bytes);
        front.expect(b"{\"actor\":\"")?;
        self.actor(front.until_quote()?)?;
        front.optional_uuid(b",\"causation_id\":\"")?;
        front.optional_uuid(b",\"correlation_id\":\"")?;
        front.expect(b",\"event_id\":\"")?;
        front.uuid()?;
        front.expect(b",\"event_type\":\"")?;
        let is_upper_snake = |c: &u8| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == b'_';
        let event_type = name(front.until_quote()?, &USUAL_EVENTS, is_upper_snake)?;
        front.expect(b",\"format\":\"BPC-EVENT-1\",\"occurred_at\":\"")?;
        let occurred_at = self.clock.read(front.take(TIME_LEN)?)?;
        front.expect(b"\",\"payload\":")?;

        let Tail { payload, schema, stream_text, stream_type, tenant_text, version } = Tail::of(front.0)?;
        let schema = u16::try_from(schema).ok().filter(|schema| *schema > 0)?;
        let stream_id = uuid(stream_text)?;
        let stream_type = name(stream_type, &[job::STREAM_TYPE], u8::is_ascii_alphanumeric)?;
        let tenant_id = self.tenant(tenant_text)?;
        if payload.first() != Some(&b'{') || version == 0 {
            return None;
        }
        let facts = if stream_type == job::STREAM_TYPE {
            Facts::known(event_type, schema, payload, &self.names, &mut self.clock)
        } else {
            None
        };
        // A payload that is known is canonical.
        if facts.is_none() && canonical::check_inside(payload, PAYLOAD_DEPTH).is_err() {
            return None;
        }
        Some(QuickEvent {
            event_type,
            occurred_at,
            payload,
            schema,
            stream_id,
            stream_text,
            stream_type,
            tenant_id,
            version,
            facts,
        })
    }

    /// Neighbouring events mostly have the same.
    fn actor(&mut self, text: &[u8]) -> Option<()> {
        if *text != *self.actor || text.is_empty() {
            if text.is_empty() || text.len() > NAME_MAX || !is_plain(text) {
                return None;
            }
            text.clone_into(&mut self.actor);
        }
        Some(())
    }

    /// Neighbouring events mostly belong to the same.
    fn tenant(&mut self, text: &[u8; UUID_LEN]) -> Option<[u8; 16]> {
        if *text != self.tenant.0 {
            self.tenant = (*text, uuid(text)?);
        }
        Some(self.tenant.1)
    }
}

impl<'a> QuickEvent<'a> {
    /// What the careful reader says. Names in an envelope need no escapes, so they can be borrowed.
    pub(super) fn carefully(bytes: &'a [u8]) -> Option<Self> {
        let envelope = Envelope::read(bytes).ok()?;
        let (Cow::Borrowed(event_type), Cow::Borrowed(stream_type)) =
            (envelope.event_type, envelope.stream_type)
        else {
            return None;
        };
        Some(QuickEvent {
            event_type,
            occurred_at: envelope.occurred_at,
            payload: envelope.payload,
            schema: envelope.schema,
            stream_id: envelope.stream_id.0.into_bytes(),
            stream_text: Tail::of(bytes)?.stream_text,
            stream_type,
            tenant_id: envelope.tenant_id.0.into_bytes(),
            version: envelope.version.0,
            facts: None,
        })
    }
}

const NO_TENANT: &[u8; UUID_LEN] = b"00000000-0000-0000-0000-000000000000";

/// The types of nearly all events.
const USUAL_EVENTS: [&str; 3] = ["SUCCEEDED", "LEASED", "ENQUEUED"];

/// Text that stands for itself: no escapes needed, none used.
fn is_plain(text: &[u8]) -> bool {
    canonical::plain_length(text) == text.len() && std::str::from_utf8(text).is_ok()
}

/// A name, which is not looked at letter by letter if it is one of the usual ones, which are allowed.
fn name<'a>(text: &'a [u8], usual: &[&'static str], is_allowed: impl Fn(&u8) -> bool) -> Option<&'a str> {
    if let Some(name) = usual.iter().find(|name| name.as_bytes() == text) {
        return Some(name);
    }
    let is_name = text.len() <= NAME_MAX
        && text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(is_allowed);
    if is_name { std::str::from_utf8(text).ok() } else { None }
}

/// The 16 bytes of a UUID in lowercase with hyphens.
fn uuid(text: &[u8; UUID_LEN]) -> Option<[u8; 16]> {
    let four = |at: usize| [text[at], text[at + 1], text[at + 2], text[at + 3]];
    let eight = |a: usize, b: usize| {
        let ([a, b, c, d], [e, f, g, h]) = (four(a), four(b));
        bytes_of(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    };
    let (a, b, c, d) = (eight(0, 4), eight(9, 14), eight(19, 24), eight(28, 32));
    let are_digits = a.1 & b.1 & c.1 & d.1;
    let is_uuid = are_digits && [text[8], text[13], text[18], text[23]] == [b'-'; 4];
    let bits = [a, b, c, d].iter().rev().fold(0, |bits, (four, _)| bits << 32 | u128::from(*four));
    is_uuid.then_some(bits.to_le_bytes())
}

/// The four bytes that eight lowercase hexadecimal digits stand for, first digit lowest, and whether they are such
/// digits. All eight are worked on at once, in one word.
fn bytes_of(text: u64) -> (u32, bool) {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // A letter has bit 6, and `a` has the lower bits of 1.
    let letters = text >> 6 & ONES;
    let values = (text & (ONES * 15)) + letters * 9;
    // A value has one spelling: what is not spelled like this is no digit.
    let above_nine = (values + ONES * 6) >> 4 & ONES;
    let spelled = values + ONES * u64::from(b'0') + above_nine * u64::from(b'a' - b'0' - 10);
    let are_digits = spelled == text && values & (ONES * 16) == 0;
    // Pairs of values to bytes, and the four bytes next to each other.
    let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF;
    let halves = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF;
    ((halves | halves >> 16) as u32, are_digits)
}

/// What is left, taken from the front.
struct Front<'a>(&'a [u8]);

impl<'a> Front<'a> {
    fn expect<const N: usize>(&mut self, text: &[u8; N]) -> Option<()> {
        let (found, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        (found == text).then_some(())
    }

    /// Up to the next quote, which is stepped over.
    fn until_quote(&mut self) -> Option<&'a [u8]> {
        let near = &self.0[..self.0.len().min(NAME_MAX + 1)];
        let end = near.iter().position(|byte| *byte == b'"')?;
        let (text, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Some(text)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn uuid(&mut self) -> Option<()> {
        let (text, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        uuid(text)?;
        self.expect(b"\"")
    }

    fn optional_uuid<const N: usize>(&mut self, key: &[u8; N]) -> Option<()> {
        match self.0.strip_prefix(key) {
            Some(rest) => {
                self.0 = rest;
                self.uuid()
            }
            None => Some(()),
        }
    }
}

/// What stands behind the payload, in a fixed order under fixed names.
struct Tail<'a> {
    /// The payload, and what else stands before.
    payload: &'a [u8],
    schema: u32,
    stream_text: &'a [u8; UUID_LEN],
    stream_type: &'a [u8],
    tenant_text: &'a [u8; UUID_LEN],
    version: u32,
}

impl<'a> Tail<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let mut back = Back(bytes);
        back.expect(b"}")?;
        let version = back.number()?;
        back.expect(b",\"version\":")?;
        let tenant_text = back.uuid_text()?;
        back.expect(b",\"tenant_id\":")?;
        let stream_type = back.until_quote()?;
        back.expect(b",\"stream_type\":")?;
        let stream_text = back.uuid_text()?;
        back.expect(b",\"stream_id\":")?;
        let schema = back.number()?;
        back.expect(b",\"schema\":")?;
        Some(Tail { payload: back.0, schema, stream_text, stream_type, tenant_text, version })
    }
}

/// What is left, taken from the back.
struct Back<'a>(&'a [u8]);

impl<'a> Back<'a> {
    fn expect<const N: usize>(&mut self, text: &[u8; N]) -> Option<()> {
        let (rest, found) = self.0.split_last_chunk()?;
        self.0 = rest;
        (found == text).then_some(())
    }

    /// A number without sign or leading zero.
    fn number(&mut self) -> Option<u32> {
        let start = self.0.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
        let (rest, text) = self.0.split_at(start);
        if text.len() > 10 || text.first().is_none_or(|first| *first == b'0' && text.len() > 1) {
            return None;
        }
        let number = text.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        self.0 = rest;
        u32::try_from(number).ok()
    }

    /// Text between quotes, which are stepped over.
    fn until_quote(&mut self) -> Option<&'a [u8]> {
        self.expect(b"\"")?;
        let near = &self.0[self.0.len().saturating_sub(NAME_MAX + 1)..];
        let start = near.iter().rposition(|byte| *byte == b'"')? + 1;
        let (rest, text) = self.0.split_at(self.0.len() - near.len() + start);
        self.0 = &rest[..rest.len() - 1];
        Some(text)
    }

    /// What may be a UUID between quotes, which are stepped over.
    fn uuid_text(&mut self) -> Option<&'a [u8; UUID_LEN]> {
        self.expect(b"\"")?;
        let (rest, text) = self.0.split_last_chunk()?;
        self.0 = rest.strip_suffix(b"\"")?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use bpc_core::{EventId, StreamId, TenantId, Version};
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    /// Whatever is read quickly is what the careful reader says.
    fn agrees(bytes: &[u8]) -> bool {
        let Some(quick) = read(bytes) else {
            return true;
        };
        let careful = Envelope::read(bytes).expect("quick is never more generous");
        assert_eq!(
            quick,
            QuickEvent {
                event_type: &careful.event_type,
                occurred_at: careful.occurred_at,
                payload: careful.payload,
                schema: careful.schema,
                stream_id: careful.stream_id.0.into_bytes(),
                stream_text: careful.stream_id.to_string().as_bytes().try_into().unwrap(),
                stream_type: &careful.stream_type,
                tenant_id: careful.tenant_id.0.into_bytes(),
                version: careful.version.0,
                facts: None,
            }
        );
        assert_eq!(QuickEvent::carefully(bytes), Some(quick));
        true
    }

    fn read(bytes: &[u8]) -> Option<QuickEvent<'_>> {
        Envelopes::new(Names::default()).read(bytes)
    }

    fn event(payload: &str, causation: bool, version: u32, actor: &str) -> Vec<u8> {
        let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_00ff);
        let envelope = Envelope {
            actor: Cow::Borrowed(actor),
            causation_id: causation.then_some(EventId(id)),
            correlation_id: causation.then_some(id),
            event_id: EventId(id),
            event_type: "NOTED_2".into(),
            occurred_at: Timestamp::from_micros(1_794_858_511_000_001),
            payload: payload.as_bytes(),
            schema: 7,
            stream_id: StreamId(id),
            stream_type: "Note2".into(),
            tenant_id: TenantId(Uuid::from_u128(77)),
            version: Version(version),
        };
        let mut bytes = Vec::new();
        envelope.write(&mut bytes);
        bytes
    }

    fn payload() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("{}".to_owned()),
            Just(r#"{"a":[1,{"b":"\"}"}],"z":null}"#.to_owned()),
            Just(r#"{"x":",\"schema\":1,\"stream_id\":\"","y":"}"}"#.to_owned()),
            (1..70usize).prop_map(|deep| format!("{}1{}", r#"{"a":"#.repeat(deep), "}".repeat(deep))),
            "[ -~]{0,40}",
        ]
    }

    proptest! {
        #[test]
        fn ids_are_read_as_they_always_are(bits: u128, place in 0..UUID_LEN, byte: u8) {
            let mut text: [u8; UUID_LEN] = Uuid::from_u128(bits).to_string().into_bytes().try_into().unwrap();
            prop_assert_eq!(uuid(&text), Some(bits.to_be_bytes()));
            text[place] = byte;
            let parsed = Uuid::try_parse_ascii(&text).ok().filter(|_| !text.iter().any(u8::is_ascii_uppercase));
            prop_assert_eq!(uuid(&text), parsed.map(Uuid::into_bytes));
        }

        #[test]
        fn what_the_engine_writes_is_read(
            deep in 1..62usize, causation: bool, version in 1..=u32::MAX, actor in "[a-z:ä]{1,40}"
        ) {
            let payload = format!("{}1{}", r#"{"a":"#.repeat(deep), "}".repeat(deep));
            let bytes = event(&payload, causation, version, &actor);
            prop_assert!(read(&bytes).is_some() && agrees(&bytes));
        }

        #[test]
        fn quick_agrees_with_careful_whatever_the_payload(
            payload in payload(), causation: bool, version in 0..3u32, actor in "[a-z\"\\\\\u{1}]{0,4}"
        ) {
            prop_assert!(agrees(&event(&payload, causation, version, &actor)));
        }

        #[test]
        fn quick_agrees_with_careful_on_bytes_changed_anywhere(
            payload in payload(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
        ) {
            let mut bytes = event(&payload, true, 12, "user:ada");
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            prop_assert!(agrees(&bytes));
        }

        #[test]
        fn quick_agrees_with_careful_on_parts_left_out_and_doubled(
            payload in payload(), from: prop::sample::Index, to: prop::sample::Index, doubles: bool
        ) {
            let bytes = event(&payload, false, 1, "user:ada");
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            let part = &bytes[from.min(to)..from.max(to)];
            let parts = if doubles { [&bytes[..from.max(to)], part, &bytes[from.max(to)..]] } else {
                [&bytes[..from.min(to)], &[], &bytes[from.max(to)..]]
            };
            prop_assert!(agrees(&parts.concat()));
        }
    }
}
