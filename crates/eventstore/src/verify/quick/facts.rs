//! What the payload of a job event says, as far as the life of a job depends on it.
//!
//! [`Facts::read`] knows the payloads as the engine writes them and says yes only where
//! [`bpc_core::JobEvent::read`] does; property tests hold it to that. Whatever it does not know is left
//! to the exact look.

use std::hash::{BuildHasher, RandomState};

use bpc_core::JobEvent;
use bpc_core::job::SCHEMA;

use super::clock::Clock;

/// One event of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facts {
    Enqueued { max_attempts: u32 },
    Leased { worker: u32, attempt: u32 },
    Renewed { worker: u32 },
    Progressed,
    Succeeded,
    Failed { attempt: u32, is_retryable: bool },
    RetryScheduled,
    DeadLettered { attempts: u32 },
    LeaseExpired { worker: u32 },
    Released { worker: u32 },
    Snoozed,
    CancelRequested,
    Cancelled,
    Replayed,
    Resolved,
    Refused,
}

/// Stands for names of workers. Chosen anew for each run, so nobody can choose two names that look alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(RandomState);

impl Names {
    pub(super) fn of(&self, name: &[u8]) -> u32 {
        self.0.hash_one(name) as u32
    }
}

impl Facts {
    /// Read a payload that is known to be canonical JSON.
    pub(super) fn read(
        event_type: &str,
        schema: u16,
        payload: &[u8],
        names: &Names,
        clock: &mut Clock,
    ) -> Option<Facts> {
        if schema != SCHEMA {
            return None;
        }
        match quickly(event_type, payload, names, clock) {
            Some(facts) => Some(facts),
            None => JobEvent::read(event_type, schema, payload).ok().map(|event| Facts::of(&event, names)),
        }
    }

    fn of(event: &JobEvent, names: &Names) -> Facts {
        let worker = |id: &String| names.of(id.as_bytes());
        match event {
            JobEvent::Enqueued { max_attempts, .. } => Facts::Enqueued { max_attempts: *max_attempts },
            JobEvent::Leased { worker_id, attempt, .. } => {
                Facts::Leased { worker: worker(worker_id), attempt: *attempt }
            }
            JobEvent::Renewed { worker_id, .. } => Facts::Renewed { worker: worker(worker_id) },
            JobEvent::Progressed { .. } => Facts::Progressed,
            JobEvent::Succeeded { .. } => Facts::Succeeded,
            JobEvent::Failed { attempt, error } => {
                Facts::Failed { attempt: *attempt, is_retryable: error.retryable }
            }
            JobEvent::RetryScheduled { .. } => Facts::RetryScheduled,
            JobEvent::DeadLettered { attempts } => Facts::DeadLettered { attempts: *attempts },
            JobEvent::LeaseExpired { worker_id } => Facts::LeaseExpired { worker: worker(worker_id) },
            JobEvent::Released { worker_id } => Facts::Released { worker: worker(worker_id) },
            JobEvent::Snoozed { .. } => Facts::Snoozed,
            JobEvent::CancelRequested { .. } => Facts::CancelRequested,
            JobEvent::Cancelled { .. } => Facts::Cancelled,
            JobEvent::Replayed { .. } => Facts::Replayed,
            JobEvent::Resolved { .. } => Facts::Resolved,
            JobEvent::StaleCompletionRefused { .. } => Facts::Refused,
        }
    }
}

/// The events that make up nearly all of a log.
fn quickly(event_type: &str, payload: &[u8], names: &Names, clock: &mut Clock) -> Option<Facts> {
    let mut text = Text(payload.strip_prefix(b"{")?.strip_suffix(b"}")?);
    let facts = match event_type {
        "ENQUEUED" => {
            if text.expect(b"\"idempotency_key\":").is_some() {
                text.string()?;
                text.expect(b",")?;
            }
            text.expect(b"\"job_type\":")?;
            text.string()?;
            text.expect(b",\"max_attempts\":")?;
            let max_attempts = text.number()?;
            text.expect(b",\"payload\":")?;
            // The last of its name: what comes behind has a fixed form, and any value may stand before.
            clock.read(text.back_string(b",\"scheduled_at\":")?)?;
            text.back_string(b",\"queue\":")?;
            let priority = text.back_digits(b",\"priority\":")?;
            if priority > u64::from(u8::MAX) || text.0.is_empty() {
                return None;
            }
            is_value(text.0).then_some(())?;
            text = Text(b"");
            Facts::Enqueued { max_attempts }
        }
        "LEASED" => {
            text.expect(b"\"attempt\":")?;
            let attempt = text.number()?;
            text.expect(b",\"lease_expires_at\":")?;
            clock.read(text.string()?)?;
            text.expect(b",\"worker_id\":")?;
            Facts::Leased { attempt, worker: names.of(text.string()?) }
        }
        "RENEWED" => {
            text.expect(b"\"lease_expires_at\":")?;
            clock.read(text.string()?)?;
            text.expect(b",\"worker_id\":")?;
            Facts::Renewed { worker: names.of(text.string()?) }
        }
        "SUCCEEDED" => {
            text.expect(b"\"duration_ms\":")?;
            text.integer()?;
            text.expect(b",\"emitted\":[]")?;
            Facts::Succeeded
        }
        _ => return None,
    };
    text.0.is_empty().then_some(facts)
}

/// Is this one JSON value, given that it is part of a canonical object? The only other thing it could be
/// is a value followed by further members, and those have a comma outside of strings and brackets.
fn is_value(text: &[u8]) -> bool {
    let (mut depth, mut rest) = (0_u32, text);
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'"' => match behind_string(rest) {
                Some(behind) => rest = behind,
                None => return false,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b',' | b':' | b'}' | b']' if depth == 0 => return false,
            _ => {}
        }
    }
    depth == 0
}

/// What comes behind the string whose first quote was just passed.
fn behind_string(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        let at = quote_or_backslash(text)?;
        let length = if text[at] == b'"' { 1 } else { 2 };
        text = text.get(at + length..)?;
        if length == 1 {
            return Some(text);
        }
    }
}

/// The first quote or backslash, looked for eight bytes at a time.
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let (words, tail) = text.as_chunks::<8>();
    for (word, at) in words.iter().zip((0..).step_by(8)) {
        let word = u64::from_le_bytes(*word);
        // The lowest top bit that is set is that of the first such byte.
        let is = |byte: u8| {
            let other = word ^ (ONES * u64::from(byte));
            other.wrapping_sub(ONES) & !other & TOPS
        };
        let found = is(b'"') | is(b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
    }
    let in_tail = tail.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    in_tail.map(|at| text.len() - tail.len() + at)
}

/// What is left of a payload.
struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.strip_prefix(b"\"")?;
        let end = quote_or_backslash(rest)?;
        let (text, rest) = rest.split_at(end);
        self.0 = rest.strip_prefix(b"\"")?;
        Some(text)
    }

    fn integer(&mut self) -> Option<u64> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (text, rest) = self.0.split_at(digits);
        self.0 = rest;
        std::str::from_utf8(text).ok()?.parse().ok()
    }

    fn number(&mut self) -> Option<u32> {
        self.integer()?.try_into().ok()
    }

    /// The last member is a string without escapes.
    fn back_string(&mut self, key: &[u8]) -> Option<&'a [u8]> {
        let rest = self.0.strip_suffix(b"\"")?;
        let start = rest.iter().rposition(|byte| *byte == b'"')?;
        let (rest, text) = (&rest[..start], &rest[start + 1..]);
        self.0 = rest.strip_suffix(key)?;
        (!text.contains(&b'\\')).then_some(text)
    }

    fn back_digits(&mut self, key: &[u8]) -> Option<u64> {
        let digits = self.0.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (rest, text) = self.0.split_at(self.0.len() - digits);
        self.0 = rest.strip_suffix(key)?;
        std::str::from_utf8(text).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use bpc_core::canonical;
    use bpc_core::job::{Emitted, ErrorInfo};
    use bpc_core::{CanonicalJson, StreamId, Timestamp, Version};
    use proptest::prelude::*;

    use super::*;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z]{0,6}", "[ -~äß\u{1}\n]{0,6}", Just("\",\"queue\":\"".to_owned())]
    }

    fn json() -> impl Strategy<Value = CanonicalJson> {
        let values = [
            "{}",
            "1",
            "null",
            r#""a,b""#,
            r#"{"priority":2,"queue":"x"}"#,
            r#"[[],{"a":"\"]"}]"#,
            r#"",\"priority\":2,\"queue\":\"""#,
        ];
        prop::sample::select(values.to_vec())
            .prop_map(|text| canonical::canonicalize(text.as_bytes()).unwrap())
    }

    fn time() -> impl Strategy<Value = Timestamp> {
        (0..4_000_000_000_000_000_i64).prop_map(Timestamp::from_micros)
    }

    fn event() -> impl Strategy<Value = JobEvent> {
        let enqueued = (text(), text(), any::<u8>(), any::<u32>(), time(), prop::option::of(text()), json());
        prop_oneof![
            enqueued.prop_map(|(job_type, queue, priority, max_attempts, scheduled_at, key, payload)| {
                let idempotency_key = key;
                JobEvent::Enqueued {
                    job_type,
                    queue,
                    priority,
                    max_attempts,
                    scheduled_at,
                    idempotency_key,
                    payload,
                }
            }),
            (text(), any::<u32>(), time()).prop_map(|(worker_id, attempt, lease_expires_at)| {
                JobEvent::Leased { worker_id, attempt, lease_expires_at }
            }),
            (text(), time())
                .prop_map(|(worker_id, lease_expires_at)| JobEvent::Renewed { worker_id, lease_expires_at }),
            (0..1_u64 << 53, prop::option::of(json()), any::<bool>()).prop_map(
                |(duration_ms, result, emits)| {
                    let one = Emitted {
                        stream_id: StreamId::derived("a", "b"),
                        stream_type: "Note".to_owned(),
                        version: Version(3),
                    };
                    JobEvent::Succeeded {
                        duration_ms,
                        result,
                        emitted: if emits { vec![one] } else { vec![] },
                    }
                }
            ),
            (any::<u32>(), any::<bool>()).prop_map(|(attempt, retryable)| JobEvent::Failed {
                attempt,
                error: ErrorInfo { code: "X".into(), message: "y".into(), retryable, detail: None },
            }),
            any::<u32>().prop_map(|attempts| JobEvent::DeadLettered { attempts }),
            text().prop_map(|worker_id| JobEvent::Released { worker_id }),
        ]
    }

    fn agrees(event_type: &str, payload: &[u8], names: &Names) -> bool {
        match quickly(event_type, payload, names, &mut Clock::default()) {
            None => true,
            Some(facts) => JobEvent::read(event_type, SCHEMA, payload)
                .is_ok_and(|event| Facts::of(&event, names) == facts),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn every_payload_that_is_written_is_read(event in event()) {
            let names = Names::default();
            let mut payload = Vec::new();
            event.write_payload(&mut payload);
            let read = Facts::read(event.event_type(), SCHEMA, &payload, &names, &mut Clock::default());
            prop_assert_eq!(read, Some(Facts::of(&event, &names)));
            prop_assert!(agrees(event.event_type(), &payload, &names));
        }

        #[test]
        fn quick_is_never_more_generous_than_careful(
            event in event(), changes in proptest::collection::vec((any::<prop::sample::Index>(), b' '..b'~'), 1..30)
        ) {
            let names = Names::default();
            let mut payload = Vec::new();
            event.write_payload(&mut payload);
            // Only canonical payloads ever come this far, so each change must leave one.
            for (place, byte) in changes {
                let mut changed = payload.clone();
                changed[place.index(payload.len())] = byte;
                if canonical::check(&changed).is_ok() {
                    payload = changed;
                }
            }
            for event_type in ["ENQUEUED", "LEASED", "RENEWED", "SUCCEEDED"] {
                prop_assert!(agrees(event_type, &payload, &names));
            }
        }
    }
}
