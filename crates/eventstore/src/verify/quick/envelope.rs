//! Reading an event as the engine writes it, in one go and without allocating.
//!
//! [`read`] says yes only where [`bpc_core::Envelope::read`] does, and then says the same; a property
//! test holds it to that. Where it says no, the careful reader is asked: events with escapes in their
//! names, deep payloads, and everything that is broken.

use bpc_core::{Timestamp, canonical};

use super::clock::Clock;

/// What one event says, as far as checking a log needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuickEvent<'a> {
    pub(super) event_type: &'a str,
    pub(super) occurred_at: Timestamp,
    pub(super) payload: &'a [u8],
    pub(super) schema: u16,
    pub(super) stream_id: [u8; 16],
    pub(super) stream_type: &'a str,
    pub(super) tenant_id: [u8; 16],
    pub(super) version: u32,
}

/// Longest event type, stream type and actor.
const NAME_MAX: usize = 128;
const UUID_LEN: usize = 36;
const TIME_LEN: usize = 27;
/// A payload this short cannot nest too deep, even one level down in its envelope.
const SHALLOW_MAX: usize = 2 * (canonical::MAX_DEPTH - 1);

/// Read an event from both ends: what stands before the payload and behind it has fixed names in a fixed
/// order, so what is between can only be the payload.
pub(super) fn read<'a>(bytes: &'a [u8], clock: &mut Clock) -> Option<QuickEvent<'a>> {
    if !(bpc_core::envelope::EVENT_BYTES_MIN..=bpc_core::envelope::EVENT_BYTES_MAX).contains(&bytes.len()) {
        return None;
    }
    let mut front = Front(bytes);
    front.expect(b"{\"actor\":\"")?;
    let actor = front.until_quote()?;
    if actor.is_empty() || actor.len() > NAME_MAX || !is_plain(actor) {
        return None;
    }
    front.optional_uuid(b",\"causation_id\":\"")?;
    front.optional_uuid(b",\"correlation_id\":\"")?;
    front.expect(b",\"event_id\":\"")?;
    front.uuid()?;
    front.expect(b",\"event_type\":\"")?;
    let event_type = front.until_quote()?;
    let is_upper_snake = |c: &u8| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == b'_';
    let event_type = name(event_type, is_upper_snake)?;
    front.expect(b",\"format\":\"BPC-EVENT-1\",\"occurred_at\":\"")?;
    let occurred_at = clock.read(front.take(TIME_LEN)?)?;
    front.expect(b"\",\"payload\":")?;

    let mut back = Back(front.0);
    back.expect(b"}")?;
    let version = back.number()?;
    back.expect(b",\"version\":")?;
    let tenant_id = back.uuid()?;
    back.expect(b",\"tenant_id\":")?;
    let stream_type = name(back.until_quote()?, u8::is_ascii_alphanumeric)?;
    back.expect(b",\"stream_type\":")?;
    let stream_id = back.uuid()?;
    back.expect(b",\"stream_id\":")?;
    let schema = u16::try_from(back.number()?).ok().filter(|schema| *schema > 0)?;
    back.expect(b",\"schema\":")?;
    let payload = back.0;
    let is_shallow = payload.len() <= SHALLOW_MAX || opening(payload) < canonical::MAX_DEPTH;
    if payload.first() != Some(&b'{') || version == 0 || !is_shallow || canonical::check(payload).is_err() {
        return None;
    }
    Some(QuickEvent { event_type, occurred_at, payload, schema, stream_id, stream_type, tenant_id, version })
}

fn opening(payload: &[u8]) -> usize {
    payload.iter().filter(|byte| matches!(byte, b'{' | b'[')).count()
}

/// Text that stands for itself: no escapes needed, none used.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| *byte >= 0x20 && *byte != b'\\') && std::str::from_utf8(text).is_ok()
}

fn name(text: &[u8], is_allowed: impl Fn(&u8) -> bool) -> Option<&str> {
    let is_name = text.len() <= NAME_MAX
        && text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(is_allowed);
    if is_name { std::str::from_utf8(text).ok() } else { None }
}

/// The 16 bytes of a UUID in lowercase with hyphens.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; UUID_LEN] = text.try_into().ok()?;
    if [text[8], text[13], text[18], text[23]] != [b'-'; 4] {
        return None;
    }
    let mut bytes = [0; 16];
    let mut bad = 0;
    for (byte, at) in bytes.iter_mut().zip([0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]) {
        let (high, low) = (DIGITS[usize::from(text[at])], DIGITS[usize::from(text[at + 1])]);
        bad |= high | low;
        *byte = high << 4 | low & 15;
    }
    (bad & 0xF0 == 0).then_some(bytes)
}

/// What a lowercase hexadecimal digit stands for; 0xFF for everything else.
const DIGITS: [u8; 256] = {
    let mut digits = [0xFF; 256];
    let mut digit = 0;
    while digit < 16 {
        digits[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};

/// What is left, taken from the front.
struct Front<'a>(&'a [u8]);

impl<'a> Front<'a> {
    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// Up to the next quote, which is stepped over.
    fn until_quote(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().take(NAME_MAX + 1).position(|byte| *byte == b'"')?;
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
        uuid(self.take(UUID_LEN)?)?;
        self.expect(b"\"")
    }

    fn optional_uuid(&mut self, key: &[u8]) -> Option<()> {
        match self.0.strip_prefix(key) {
            Some(rest) => {
                self.0 = rest;
                self.uuid()
            }
            None => Some(()),
        }
    }
}

/// What is left, taken from the back.
struct Back<'a>(&'a [u8]);

impl<'a> Back<'a> {
    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_suffix(text)?;
        Some(())
    }

    /// A number without sign or leading zero.
    fn number(&mut self) -> Option<u32> {
        let digits = self.0.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        let (rest, text) = self.0.split_at(self.0.len() - digits);
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
        let text = self.0.iter().rev().take(NAME_MAX + 1).position(|byte| *byte == b'"')?;
        let (rest, text) = self.0.split_at(self.0.len() - text);
        self.0 = &rest[..rest.len() - 1];
        Some(text)
    }

    fn uuid(&mut self) -> Option<[u8; 16]> {
        self.expect(b"\"")?;
        let (rest, text) = self.0.split_at_checked(self.0.len().checked_sub(UUID_LEN)?)?;
        self.0 = rest.strip_suffix(b"\"")?;
        uuid(text)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use bpc_core::{Envelope, EventId, StreamId, TenantId, Version};
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    /// Whatever is read quickly is what the careful reader says.
    fn agrees(bytes: &[u8]) -> bool {
        let Some(quick) = read(bytes, &mut Clock::default()) else {
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
                stream_type: &careful.stream_type,
                tenant_id: careful.tenant_id.0.into_bytes(),
                version: careful.version.0,
            }
        );
        true
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
        fn what_the_engine_writes_is_read(
            deep in 1..62usize, causation: bool, version in 1..=u32::MAX, actor in "[a-z:ä]{1,40}"
        ) {
            let payload = format!("{}1{}", r#"{"a":"#.repeat(deep), "}".repeat(deep));
            let bytes = event(&payload, causation, version, &actor);
            prop_assert!(read(&bytes, &mut Clock::default()).is_some() && agrees(&bytes));
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
