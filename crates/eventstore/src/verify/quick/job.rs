//! The life of a job in eight bytes: only what decides whether the next event may follow.
//!
//! A filter for the state machine in [`bpc_core::job::fold`]: it lets an event pass only if `fold` does,
//! which a test holds it to over every pair of state and event. Whatever it stops goes to the exact
//! look, and there `fold` itself has the word.

use super::facts::Facts;

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JobBits {
    worker: u32,
    attempts: u16,
    /// Most attempts, with the phase above them.
    packed: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Queued = 0,
    Running = 1,
    RunningToStop = 2,
    Failing = 3,
    Succeeded = 4,
    Failed = 5,
    Resolved = 6,
    Cancelled = 7,
    DeadLetter = 8,
}

const PHASES: [Phase; 9] = [
    Phase::Queued,
    Phase::Running,
    Phase::RunningToStop,
    Phase::Failing,
    Phase::Succeeded,
    Phase::Failed,
    Phase::Resolved,
    Phase::Cancelled,
    Phase::DeadLetter,
];

/// Bits for the most attempts: the engine allows 1000.
const MAX_BITS: u32 = 12;

impl JobBits {
    /// Of a stream that is no job; never asked for its next step.
    pub(super) const NO_JOB: JobBits = JobBits { worker: 0, attempts: 0, packed: 0 };

    /// A job begins.
    pub(super) fn begin(facts: Facts) -> Option<Self> {
        match facts {
            Facts::Enqueued { max_attempts } if max_attempts < 1 << MAX_BITS => {
                Some(JobBits { worker: 0, attempts: 0, packed: max_attempts as u16 })
            }
            _ => None,
        }
    }

    /// The next event; `None` if it may not follow, or cannot be judged here.
    pub(super) fn next(self, facts: Facts) -> Option<Self> {
        use Phase::{
            Cancelled, DeadLetter, Failed, Failing, Queued, Resolved, Running, RunningToStop, Succeeded,
        };
        let attempts = u32::from(self.attempts);
        let agree = |is_agreed: bool| is_agreed.then_some(());
        let mut job = self;
        let next = match (self.phase()?, facts) {
            (Queued, Facts::Leased { worker, attempt }) => {
                agree(attempt == attempts + 1)?;
                job.attempts = attempt.try_into().ok()?;
                job.worker = worker;
                Running
            }
            (Queued | Running | RunningToStop | Failing, Facts::Cancelled) => Cancelled,

            (phase @ (Running | RunningToStop), Facts::Renewed { worker }) => {
                agree(worker == self.worker)?;
                phase
            }
            (phase @ (Running | RunningToStop), Facts::Progressed) => phase,
            (Running | RunningToStop, Facts::CancelRequested) => RunningToStop,
            (Running | RunningToStop, Facts::Succeeded) => Succeeded,
            (Running | RunningToStop, Facts::Failed { attempt, is_retryable }) => {
                agree(attempt == attempts)?;
                if is_retryable { Failing } else { Failed }
            }
            (phase @ (Running | RunningToStop), Facts::LeaseExpired { worker }) => {
                agree(worker == self.worker)?;
                if attempts < self.max_attempts() && phase == Running { Queued } else { Failing }
            }
            (Running | RunningToStop, Facts::Released { worker }) => {
                agree(worker == self.worker)?;
                job.attempts -= 1;
                Queued
            }
            (Running | RunningToStop, Facts::Snoozed) => {
                job.attempts -= 1;
                Queued
            }

            (Failing, Facts::RetryScheduled) => Queued,
            (Failing, Facts::DeadLettered { attempts: said }) => {
                agree(said == attempts)?;
                DeadLetter
            }

            (Failed | DeadLetter, Facts::Replayed) => {
                job.attempts = 0;
                Queued
            }
            (Failed | DeadLetter, Facts::Resolved) => Resolved,

            (phase, Facts::Refused) => phase,
            _ => return None,
        };
        Some(job.at(next))
    }

    /// Will nothing follow, as a rule? What does all the same is looked at exactly.
    pub(super) fn is_over(self) -> bool {
        matches!(self.phase(), Some(Phase::Succeeded | Phase::Cancelled | Phase::Resolved))
    }

    fn phase(self) -> Option<Phase> {
        PHASES.get(usize::from(self.packed >> MAX_BITS)).copied()
    }

    fn at(self, phase: Phase) -> Self {
        JobBits { packed: self.max_attempts() as u16 | (phase as u16) << MAX_BITS, ..self }
    }

    fn max_attempts(self) -> u32 {
        u32::from(self.packed) & ((1 << MAX_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use bpc_core::job::{ErrorInfo, Occurrence, fold};
    use bpc_core::{CanonicalJson, Hash, Head, Job, JobEvent, JobId, StreamId, TenantId, Timestamp, Version};
    use proptest::prelude::*;

    use super::super::facts::Names;
    use super::*;

    /// Any event, about worker "a" or "b", with numbers that are right now and then.
    fn event(kind: u8, number: u32, is_a: bool) -> JobEvent {
        let worker_id = if is_a { "a" } else { "b" }.to_owned();
        let at = Timestamp::from_micros(1);
        match kind % 17 {
            0 => JobEvent::Enqueued {
                job_type: "X".into(),
                queue: "q".into(),
                priority: 1,
                max_attempts: number,
                scheduled_at: at,
                idempotency_key: None,
                payload: CanonicalJson::empty_object(),
            },
            1 | 16 => JobEvent::Leased { worker_id, attempt: number, lease_expires_at: at },
            2 => JobEvent::Renewed { worker_id, lease_expires_at: at },
            3 => JobEvent::Progressed { percent: 5, step: None, message: None },
            4 => JobEvent::Succeeded { duration_ms: 1, result: None, emitted: vec![] },
            5 => JobEvent::Failed {
                attempt: number,
                error: ErrorInfo { code: "X".into(), message: "y".into(), retryable: is_a, detail: None },
            },
            6 => JobEvent::RetryScheduled { scheduled_at: at, delay_ms: 1 },
            7 => JobEvent::DeadLettered { attempts: number },
            8 => JobEvent::LeaseExpired { worker_id },
            9 => JobEvent::Released { worker_id },
            10 => JobEvent::Snoozed { until: at },
            11 => JobEvent::CancelRequested { reason: None },
            12 => JobEvent::Cancelled { reason: None },
            13 => JobEvent::Replayed { actor: "x".into(), justification: "y".into() },
            14 => JobEvent::Resolved { actor: "x".into(), notes: "y".into() },
            _ => JobEvent::StaleCompletionRefused { worker_id, attempt: number },
        }
    }

    fn facts(event: &JobEvent, names: &Names) -> Facts {
        let mut payload = Vec::new();
        event.write_payload(&mut payload);
        Facts::careful(event.event_type(), 1, &payload, names).expect("what is written is read")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn what_passes_is_what_fold_allows(
            max in 1..4_u32, steps in proptest::collection::vec((any::<u8>(), 0..4_u32, any::<bool>()), 1..60)
        ) {
            let names = Names::default();
            let enqueued = event(0, max, true);
            let mut version = Version(1);
            let occurrence = |version| Occurrence {
                tenant_id: TenantId::SYSTEM,
                job_id: JobId(StreamId::derived("a", "b").0),
                head: Head { version, hash: Hash::ZERO },
                at: Timestamp::from_micros(1),
            };
            let mut job: Job = fold(None, &enqueued, occurrence(version)).unwrap();
            let mut bits = JobBits::begin(facts(&enqueued, &names)).unwrap();
            for (kind, number, is_a) in steps {
                // Half of the time the number that fits, so that histories get long.
                let number = if is_a { number } else { job.attempts + u32::from(kind % 17 == 1) };
                let event = event(kind, number, is_a);
                version = version.next();
                let allowed = fold(Some(job.clone()), &event, occurrence(version));
                let passed = bits.next(facts(&event, &names));
                // Numbers here are small, so nothing is stopped for being too large to judge.
                prop_assert_eq!(passed.is_some(), allowed.is_ok(), "{:?} after {:?}", event, job);
                if let (Some(passed), Ok(allowed)) = (passed, allowed) {
                    (bits, job) = (passed, allowed);
                }
            }
        }

        #[test]
        fn only_enqueued_begins_a_job(kind: u8, number in 0..4_u32) {
            let names = Names::default();
            let event = event(kind, number, true);
            let occurrence = Occurrence {
                tenant_id: TenantId::SYSTEM,
                job_id: JobId(StreamId::derived("a", "b").0),
                head: Head { version: Version(1), hash: Hash::ZERO },
                at: Timestamp::from_micros(1),
            };
            let begun = JobBits::begin(facts(&event, &names));
            prop_assert_eq!(begun.is_some(), fold(None, &event, occurrence).is_ok());
        }
    }
}
