//! What the payload of a job event says, as far as the life of a job depends on it.
//!
//! [`Facts::known`] reads payloads as the engine writes nearly all of them, in one go and without building anything.
//! Whatever it does not know is left to the careful reader.

use std::hash::{BuildHasher, RandomState};

use bpc_core::job::SCHEMA;
use bpc_core::{JobEvent, canonical};

use super::clock::{Clock, TIME_LEN};

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
    /// Read the payload of one of the events that make up nearly all of a log. What is read is canonical JSON that
    /// may stand in an envelope, and what [`JobEvent::read`] makes of it: property tests hold it to both. `None` says
    /// nothing.
    pub(super) fn known(
        event_type: &str,
        schema: u16,
        payload: &[u8],
        names: &Names,
        clock: &mut Clock,
    ) -> Option<Facts> {
        let mut text = Text(payload.strip_prefix(b"{")?.strip_suffix(b"}")?);
        let facts = match (event_type, schema) {
            ("ENQUEUED", SCHEMA) => {
                if text.expect(b"\"idempotency_key\":").is_some() {
                    text.string()?;
                    text.expect(b",")?;
                }
                text.expect(b"\"job_type\":")?;
                text.string()?;
                text.expect(b",\"max_attempts\":")?;
                let max_attempts = text.number()?;
                text.expect(b",\"payload\":")?;
                // The last of its name: what comes behind has a fixed form, and what is left before it must be
                // exactly one value.
                text.back_time(b",\"scheduled_at\":", clock)?;
                text.back_string(b",\"queue\":")?;
                u8::try_from(text.back_integer(b",\"priority\":")?).ok()?;
                canonical::check_inside(text.0, PAYLOAD_DEPTH + 1).ok()?;
                text = Text(b"");
                Facts::Enqueued { max_attempts }
            }
            ("LEASED", SCHEMA) => {
                text.expect(b"\"attempt\":")?;
                let attempt = text.number()?;
                text.expect(b",\"lease_expires_at\":")?;
                text.time(clock)?;
                text.expect(b",\"worker_id\":")?;
                Facts::Leased { attempt, worker: names.of(text.string()?) }
            }
            ("RENEWED", SCHEMA) => {
                text.expect(b"\"lease_expires_at\":")?;
                text.time(clock)?;
                text.expect(b",\"worker_id\":")?;
                Facts::Renewed { worker: names.of(text.string()?) }
            }
            ("SUCCEEDED", SCHEMA) => {
                text.expect(b"\"duration_ms\":")?;
                text.integer()?;
                text.expect(b",\"emitted\":[]")?;
                Facts::Succeeded
            }
            _ => return None,
        };
        text.0.is_empty().then_some(facts)
    }

    /// Read any payload that is known to be canonical JSON.
    pub(super) fn careful(event_type: &str, schema: u16, payload: &[u8], names: &Names) -> Option<Facts> {
        JobEvent::read(event_type, schema, payload).ok().map(|event| Facts::of(&event, names))
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

/// A payload stands inside one object, its envelope.
pub(super) const PAYLOAD_DEPTH: usize = 1;

/// What is left of a payload. All that is taken from it is spelled as canonical JSON spells it.
struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    fn expect<const N: usize>(&mut self, text: &[u8; N]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.strip_prefix(b"\"")?;
        let (text, rest) = rest.split_at(canonical::plain_length(rest));
        self.0 = rest.strip_prefix(b"\"")?;
        std::str::from_utf8(text).is_ok().then_some(text)
    }

    /// A time; whoever reads it looks at every byte.
    fn time(&mut self, clock: &mut Clock) -> Option<()> {
        let (text, rest) = self.0.strip_prefix(b"\"")?.split_at_checked(TIME_LEN)?;
        self.0 = rest.strip_prefix(b"\"")?;
        clock.read(text).map(drop)
    }

    fn integer(&mut self) -> Option<u64> {
        let digits = self.0.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.0.len());
        let (text, rest) = self.0.split_at(digits);
        self.0 = rest;
        integer(text)
    }

    fn number(&mut self) -> Option<u32> {
        self.integer()?.try_into().ok()
    }

    /// The last member is a string without escapes.
    fn back_string<const N: usize>(&mut self, key: &[u8; N]) -> Option<&'a [u8]> {
        let rest = self.0.strip_suffix(b"\"")?;
        let start = rest.iter().rposition(|byte| *byte == b'"')?;
        let (rest, text) = (&rest[..start], &rest[start + 1..]);
        self.0 = rest.strip_suffix(key)?;
        (canonical::plain_length(text) == text.len() && std::str::from_utf8(text).is_ok()).then_some(text)
    }

    /// The last member is a time.
    fn back_time<const N: usize>(&mut self, key: &[u8; N], clock: &mut Clock) -> Option<()> {
        let rest = self.0.strip_suffix(b"\"")?;
        let (rest, text) = rest.split_at_checked(rest.len().checked_sub(TIME_LEN)?)?;
        self.0 = rest.strip_suffix(b"\"")?.strip_suffix(key)?;
        clock.read(text).map(drop)
    }

    /// The last member is an integer.
    fn back_integer<const N: usize>(&mut self, key: &[u8; N]) -> Option<u64> {
        let start = self.0.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
        let (rest, text) = self.0.split_at(start);
        self.0 = rest.strip_suffix(key)?;
        integer(text)
    }
}

/// Digits without a leading zero, of a number that every JSON implementation can tell.
fn integer(text: &[u8]) -> Option<u64> {
    const DIGITS_MAX: usize = 16;
    let is_canonical = match text {
        [] | [b'0', _, ..] => false,
        _ => text.len() <= DIGITS_MAX,
    };
    let number = text.iter().take(DIGITS_MAX).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    (is_canonical && number <= canonical::MAX_INTEGER.unsigned_abs()).then_some(number)
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

    /// Whatever is known is canonical, and what the careful reader says.
    fn agrees(event_type: &str, payload: &[u8], names: &Names) -> bool {
        match Facts::known(event_type, SCHEMA, payload, names, &mut Clock::default()) {
            None => true,
            Some(facts) => {
                canonical::check_inside(payload, PAYLOAD_DEPTH).is_ok()
                    && Facts::careful(event_type, SCHEMA, payload, names) == Some(facts)
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn every_payload_that_is_written_is_read(event in event()) {
            let names = Names::default();
            let mut payload = Vec::new();
            event.write_payload(&mut payload);
            let read = Facts::careful(event.event_type(), SCHEMA, &payload, &names);
            prop_assert_eq!(read, Some(Facts::of(&event, &names)));
            prop_assert!(agrees(event.event_type(), &payload, &names));
        }

        #[test]
        fn quick_is_never_more_generous_than_careful(
            event in event(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..30)
        ) {
            let names = Names::default();
            let mut payload = Vec::new();
            event.write_payload(&mut payload);
            for (place, byte, stays_canonical) in changes {
                let mut changed = payload.clone();
                // Half of the bytes are digits, letters and punctuation, of which most changes still read.
                changed[place.index(payload.len())] = if stays_canonical { b' ' + byte % 95 } else { byte };
                for event_type in ["ENQUEUED", "LEASED", "RENEWED", "SUCCEEDED"] {
                    prop_assert!(agrees(event_type, &changed, &names));
                }
                if canonical::check(&changed).is_ok() {
                    payload = changed;
                }
            }
        }
    }

    #[test]
    fn numbers_and_depths_that_are_not_canonical_are_not_known() {
        let names = Names::default();
        let known = |event_type: &str, payload: &str| {
            assert!(agrees(event_type, payload.as_bytes(), &names), "{payload}");
            Facts::known(event_type, SCHEMA, payload.as_bytes(), &names, &mut Clock::default()).is_some()
        };
        let succeeded =
            |duration: &str| known("SUCCEEDED", &format!(r#"{{"duration_ms":{duration},"emitted":[]}}"#));
        assert!(["0", "10", "9007199254740991"].map(succeeded).iter().all(|is_known| *is_known));
        let others = ["", "00", "01", "-0", "9007199254740992", "10000000000000000", "18446744073709551617"];
        assert!(others.map(succeeded).iter().all(|is_known| !is_known));

        let enqueued = |payload: &str, priority: u32| {
            let text = format!(
                r#"{{"job_type":"X","max_attempts":5,"payload":{payload},"priority":{priority},"queue":"q","scheduled_at":"2026-11-18T02:37:30.441023Z"}}"#
            );
            known("ENQUEUED", &text)
        };
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let deepest = canonical::MAX_DEPTH - PAYLOAD_DEPTH - 1;
        assert!(enqueued("{}", 255) && enqueued(&nested(deepest), 1));
        assert!(!enqueued("{}", 256) && !enqueued(&nested(deepest + 1), 1) && !enqueued(r#"1,"x":2"#, 1));
    }
}
