//! What holds for every job, whatever happens to it: thousands of random lives, each lived through the
//! same door as real ones and then read back from the bytes that would have been stored.

#[path = "common/arbitrary.rs"]
mod arbitrary;
mod common;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use bpc_core::canonical::{MAX_INTEGER, canonicalize};
use bpc_core::job::{
    Command, Emitted, ErrorInfo, Failure, FinishedRow, JobEvent, NewJob, Outcome, Phase, Placement, Refusal,
    SCHEMA, Settlement, Stamp, Transition, TransitionError, advance, decide, fold_stream, transition,
};
use bpc_core::retry::{Jitter, RetryPolicy};
use bpc_core::{CanonicalJson, Envelope, EventRecord, Hash, Job, StreamId, Timestamp, Version, chain_hash};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use arbitrary::{canonical, cases, moment, text, uuid, value};
use common::{JOB, TENANT, at, state_name};

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn the_state_is_the_fold_of_the_stored_bytes(plan in plan()) {
        let life = Life::of(&plan);
        prop_assert_eq!(life.read_back(life.records.len()), Some(life.job));
    }

    #[test]
    fn every_record_is_canonical_and_a_copy_of_its_envelope(plan in plan()) {
        for record in Life::of(&plan).records {
            let parsed: Value = serde_json::from_slice(&record.event_bytes).unwrap();
            prop_assert_eq!(serde_json_canonicalizer::to_vec(&parsed).unwrap(), record.event_bytes.clone());
            let envelope = Envelope::read(&record.event_bytes).unwrap();
            prop_assert_eq!(envelope.tenant_id, record.tenant_id);
            prop_assert_eq!(&*envelope.stream_type, &*record.stream_type);
            prop_assert_eq!(envelope.stream_id, record.stream_id);
            prop_assert_eq!(envelope.version, record.version);
            prop_assert_eq!(envelope.event_type, record.event_type);
            prop_assert_eq!(envelope.occurred_at, record.occurred_at);
        }
    }

    #[test]
    fn records_are_numbered_without_gaps_and_chained(plan in plan()) {
        let life = Life::of(&plan);
        let mut prev = Hash::ZERO;
        for (record, version) in life.records.iter().zip(1..) {
            prop_assert_eq!(record.version, Version(version));
            prop_assert_eq!(record.event_hash, chain_hash(&prev, &record.event_bytes));
            prev = record.event_hash;
        }
        prop_assert_eq!(life.job.head.version.0 as usize, life.records.len());
        prop_assert_eq!(life.job.head.hash, prev);
    }

    #[test]
    fn attempts_never_exceed_their_number_and_each_is_settled_once(plan in plan()) {
        let life = Life::of(&plan);
        let mut settled = true;
        for end in 1..=life.records.len() {
            let job = life.read_back(end).unwrap();
            prop_assert!(job.attempts <= job.max_attempts);
            match &*life.records[end - 1].event_type {
                "LEASED" => settled = false,
                "SUCCEEDED" | "FAILED" | "RELEASED" | "SNOOZED" | "LEASE_EXPIRED" => {
                    prop_assert!(!settled, "{} after the attempt was over", life.records[end - 1].event_type);
                    settled = true;
                }
                _ => {}
            }
        }
    }

    /// Leasing and settling read the queue row instead of the history, so it must know as much.
    #[test]
    fn the_queue_row_of_a_live_job_is_its_whole_state_and_a_finished_job_has_none(
        plan in plan(),
        end in any::<prop::sample::Index>(),
        wishes in vec(step(), 1..8),
    ) {
        let life = Life::of(&plan);
        let end = 1 + end.index(life.records.len());
        let job = life.read_back(end).unwrap();
        match Placement::of(job.clone()) {
            Placement::Finished(row) => {
                prop_assert!(job.status().is_finished());
                let last = life.records[..end].iter().rev();
                let mut last = last.filter(|record| record.event_type != "STALE_COMPLETION_REFUSED");
                let (error_code, error_message) =
                    job.last_error.clone().map(|error| (error.code, error.message)).unzip();
                prop_assert_eq!(row, FinishedRow {
                    tenant_id: TENANT,
                    created_at: at(0),
                    job_id: JOB,
                    job_type: plan.new.job_type,
                    queue: plan.new.queue,
                    status: job.status(),
                    priority: plan.new.priority,
                    attempts: job.attempts,
                    max_attempts: plan.new.max_attempts,
                    scheduled_at: job.scheduled_at,
                    finished_at: last.next().unwrap().occurred_at,
                    version: job.head.version,
                    resolved: state_name(Some(&job)) == "FAILED, resolved",
                    error_code,
                    error_message,
                });
            }
            Placement::Queue(row) => {
                prop_assert!(!job.status().is_finished());
                let restored = row.clone().into_job(job.head.hash);
                prop_assert_eq!(Placement::of(restored.clone()), Placement::Queue(row));
                prop_assert_eq!(Job { settled_fence: job.settled_fence, ..restored.clone() }, job.clone());
                for wish in &wishes {
                    let now = wish.wait.end(&job, life.now);
                    let command = wish.ask.command(&job);
                    let from_row = decide(Some(&restored), command.clone(), now);
                    match decide(Some(&job), command, now) {
                        // The row does not know about attempts that are over; the log does.
                        Err(Refusal::AlreadySettled) => {
                            prop_assert_eq!(from_row.unwrap_err().code(), "STALE_COMPLETION");
                        }
                        from_log => prop_assert_eq!(from_row, from_log),
                    }
                }
            }
        }
    }

    /// From wherever its log ends, even between two events of one transaction.
    #[test]
    fn no_live_job_is_stranded(
        plan in plan(),
        end in any::<prop::sample::Index>(),
        vanishing in vec(any::<bool>(), 1..8),
    ) {
        let life = Life::of(&plan);
        let mut life = life.cut(1 + end.index(life.records.len()));
        let mut leases = 0;
        for vanishes in vanishing.iter().cycle() {
            if life.job.status().is_finished() {
                break;
            }
            // What the steps before have left expired can only be found so.
            let holds = life.job.lease().is_some_and(|lease| lease.expires_at > life.now);
            let (wait, ask) = match &life.job.phase {
                Phase::Queued => {
                    leases += 1;
                    (Wait::UntilItMoves, Ask::Lease { worker: 0, ttl: 60 })
                }
                Phase::Running(_) if holds && !vanishes => {
                    let (fence, slip) = (Shown::Held, Slip::None);
                    (Wait::Millis(0), Ask::Settle { fence, slip, outcome: failed() })
                }
                _ => (Wait::UntilItMoves, Ask::Expire),
            };
            let taken = life.take(&Step { wait, ask });
            prop_assert_eq!(taken, Ok(()), "stuck in {}", state_name(Some(&life.job)));
            prop_assert!(leases <= life.job.max_attempts);
        }
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn every_event_reads_back_from_its_payload(event in event()) {
        let mut payload = Vec::new();
        event.write_payload(&mut payload);
        let parsed: Value = serde_json::from_slice(&payload).unwrap();
        let canonical = serde_json_canonicalizer::to_string(&parsed).unwrap();
        prop_assert_eq!(&canonical, std::str::from_utf8(&payload).unwrap());
        prop_assert_eq!(JobEvent::read(event.event_type(), SCHEMA, &payload).unwrap(), event);
    }

    /// A payload that reads is one that would be written: nothing in it is overlooked or guessed.
    #[test]
    fn what_reads_was_written_so(event in event(), edit in edit()) {
        let mut payload = Vec::new();
        event.write_payload(&mut payload);
        let edited = edit.apply(serde_json::from_slice(&payload).unwrap());
        let edited = canonicalize(edited.to_string().as_bytes()).unwrap();
        if let Ok(read) = JobEvent::read(event.event_type(), SCHEMA, edited.as_bytes()) {
            let mut again = Vec::new();
            read.write_payload(&mut again);
            prop_assert_eq!(std::str::from_utf8(&again).unwrap(), edited.as_str());
        }
    }
}

#[test]
fn the_random_lives_visit_every_state_and_every_event() {
    let mut runner = TestRunner::deterministic();
    let (mut states, mut events, mut refusals) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..600 {
        let plan = plan().new_tree(&mut runner).expect("every plan is possible").current();
        let mut life = Life::begin(&plan.new);
        for step in &plan.steps {
            if let Err(code) = life.take(step) {
                refusals.insert(code);
            }
        }
        for end in 1..=life.records.len() {
            states.insert(state_name(life.read_back(end).as_ref()));
            events.insert(life.records[end - 1].event_type.clone());
        }
    }
    assert_eq!(states.len(), 9, "{states:?}");
    assert_eq!(events.len(), 16, "{events:?}");
    let all = [
        "ALREADY_SETTLED",
        "INVALID_JOB_STATUS",
        "JOB_EXISTS",
        "JOB_NOT_DUE",
        "JOB_RESOLVED",
        "LEASE_LOST",
        "LEASE_NOT_EXPIRED",
        "STALE_COMPLETION",
        "UNCHANGED",
    ];
    assert_eq!(Vec::from_iter(refusals), all);
}

#[test]
fn a_null_result_is_a_result() {
    let event =
        JobEvent::Succeeded { duration_ms: 1, result: Some(canonicalize(b"null").unwrap()), emitted: vec![] };
    let mut payload = Vec::new();
    event.write_payload(&mut payload);
    assert_eq!(payload, br#"{"duration_ms":1,"emitted":[],"result":null}"#);
    assert_eq!(JobEvent::read("SUCCEEDED", SCHEMA, &payload).unwrap(), event);
}

#[test]
fn payloads_that_say_less_more_or_something_else_are_not_read() {
    let emitted = |id: &str| {
        let one = format!(r#"{{"stream_id":"{id}","stream_type":"Job","version":1}}"#);
        format!(r#"{{"duration_ms":1,"emitted":[{one}]}}"#)
    };
    let good = emitted("00000000-0000-0000-0000-00000000000a");
    assert!(JobEvent::read("SUCCEEDED", 1, good.as_bytes()).is_ok(), "{good}");
    for (event_type, schema, payload) in [
        ("LOST", 1, "{}"),
        ("enqueued", 1, "{}"),
        ("CANCELLED", 2, "{}"),
        ("CANCELLED", 1, "[]"),
        ("CANCELLED", 1, r#"{"reason":null}"#),
        ("CANCELLED", 1, r#"{"reason":1}"#),
        ("CANCELLED", 1, r#"{"because":"so"}"#),
        ("DEAD_LETTERED", 1, "{}"),
        ("DEAD_LETTERED", 1, r#"{"attempts":-1}"#),
        ("DEAD_LETTERED", 1, r#"{"attempts":4294967296}"#),
        ("DEAD_LETTERED", 1, r#"{"attempts":"5"}"#),
        ("PROGRESSED", 1, r#"{"percent":256}"#),
        ("PROGRESSED", 1, r#"{"message":null,"percent":5}"#),
        ("SNOOZED", 1, r#"{"until":"2026-11-16"}"#),
        ("FAILED", 1, r#"{"attempt":1,"error":["CODE","text",true,null]}"#),
        ("SUCCEEDED", 1, r#"{"duration_ms":1}"#),
        ("SUCCEEDED", 1, &emitted("00000000-0000-0000-0000-00000000000A")),
        ("SUCCEEDED", 1, &emitted("0000000000000000000000000000000a")),
    ] {
        assert!(JobEvent::read(event_type, schema, payload.as_bytes()).is_err(), "{event_type} {payload}");
    }
}

// A life: a job, all that is stored of it, and the time.

struct Life {
    job: Job,
    records: Vec<EventRecord>,
    now: Timestamp,
}

impl Life {
    fn begin(new: &NewJob) -> Life {
        let begun = through(None, at(0), |job, stamp| {
            transition(TENANT, JOB, job, Command::Enqueue(new.clone()), stamp)
        });
        let Transition { job, records, .. } = begun.expect("the new job is within bounds");
        Life { job, records, now: at(0) }
    }

    fn of(plan: &Plan) -> Life {
        let mut life = Life::begin(&plan.new);
        for step in &plan.steps {
            // A refusal is as good an answer as any.
            let _code = life.take(step);
        }
        life
    }

    /// One step; the code of the refusal if it is refused.
    fn take(&mut self, step: &Step) -> Result<(), &'static str> {
        self.now = step.wait.end(&self.job, self.now);
        let command = step.ask.command(&self.job);
        let taken = through(Some(self.job.clone()), self.now, |job, stamp| {
            transition(TENANT, JOB, job, command, stamp)
        });
        let (transition, answer) = match taken {
            Ok(transition) => (transition, Ok(())),
            Err(TransitionError::Refused(refusal)) => {
                let Some(event) = refusal.record() else {
                    return Err(refusal.code());
                };
                let kept = through(Some(self.job.clone()), self.now, |job, stamp| {
                    advance(TENANT, JOB, job, &[event], stamp)
                });
                (kept.expect("a refusal can be kept"), Err(refusal.code()))
            }
            Err(fault) => panic!("{:?} after {}: {fault}", step.ask, state_name(Some(&self.job))),
        };
        self.job = transition.job;
        self.records.extend(transition.records);
        answer
    }

    /// The fold of the first records, from their bytes.
    fn read_back(&self, end: usize) -> Option<Job> {
        let stored = &self.records[..end];
        let envelopes: Vec<Envelope<'_>> =
            stored.iter().map(|record| Envelope::read(&record.event_bytes).expect("reads back")).collect();
        let hashes = stored.iter().map(|record| record.event_hash);
        fold_stream(envelopes.iter().zip(hashes)).expect("folds")
    }

    /// The same life, had its log ended there.
    fn cut(&self, end: usize) -> Life {
        let job = self.read_back(end).expect("the log is not empty");
        Life { job, records: self.records[..end].to_vec(), now: self.now }
    }
}

fn through<T>(job: Option<Job>, now: Timestamp, step: impl FnOnce(Option<Job>, &mut Stamp<'_>) -> T) -> T {
    let mut count = job.as_ref().map_or(0, |job| job.head.version.0);
    let mut entropy = || {
        count += 1;
        let [a, b, c, d] = count.to_be_bytes();
        [0, 0, 0, 0, 0, 0, a, b, c, d]
    };
    let actor = "worker:\"w\\1\"";
    step(job, &mut Stamp { actor, now, causation_id: None, correlation_id: None, entropy: &mut entropy })
}

// What may happen in it.

#[derive(Clone, Debug)]
struct Plan {
    new: NewJob,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    wait: Wait,
    ask: Ask,
}

#[derive(Clone, Debug)]
enum Wait {
    Millis(u64),
    /// Until the job is due or its lease runs out.
    UntilItMoves,
}

#[derive(Clone, Debug)]
enum Ask {
    EnqueueAgain,
    Lease { worker: u8, ttl: u64 },
    Renew { fence: Shown, ttl: u64 },
    Progress { fence: Shown, percent: u8, message: Option<String> },
    Settle { fence: Shown, slip: Slip, outcome: Outcome },
    Expire,
    Cancel { reason: Option<String> },
    Replay { text: String },
    Resolve { text: String },
}

/// Which fence a worker shows.
#[derive(Clone, Debug)]
enum Shown {
    /// Of the attempt that runs.
    Held,
    /// Of the attempt that was settled last.
    Settled,
    /// Some number.
    Any(u32),
}

/// What else a worker gets wrong.
#[derive(Clone, Debug)]
enum Slip {
    None,
    Worker,
    Attempt,
}

impl Wait {
    fn end(&self, job: &Job, now: Timestamp) -> Timestamp {
        match self {
            Wait::Millis(millis) => now.plus(Duration::from_millis(*millis)),
            Wait::UntilItMoves => now.max(job.lease().map_or(job.scheduled_at, |lease| lease.expires_at)),
        }
    }
}

impl Shown {
    fn version(&self, job: &Job) -> Version {
        match self {
            Shown::Held => job.lease().map_or(Version::NONE, |lease| lease.fence),
            Shown::Settled => job.settled_fence,
            Shown::Any(version) => Version(*version),
        }
    }
}

impl Ask {
    fn command(&self, job: &Job) -> Command {
        match self.clone() {
            Ask::EnqueueAgain => Command::Enqueue(NewJob {
                job_type: job.job_type.clone(),
                queue: job.queue.clone(),
                priority: job.priority,
                max_attempts: job.max_attempts,
                scheduled_at: None,
                idempotency_key: None,
                payload: CanonicalJson::empty_object(),
            }),
            Ask::Lease { worker, ttl } => {
                Command::Lease { worker_id: format!("w{worker}"), ttl: Duration::from_secs(ttl) }
            }
            Ask::Renew { fence, ttl } => {
                Command::Renew { fence: fence.version(job), ttl: Duration::from_secs(ttl) }
            }
            Ask::Progress { fence, percent, message } => {
                Command::Progress { fence: fence.version(job), percent, step: None, message }
            }
            Ask::Settle { fence, slip, outcome } => {
                let holder = job.lease().map_or("w0", |lease| &lease.worker_id);
                let (worker_id, attempt) = match slip {
                    Slip::None => (holder.to_owned(), job.attempts),
                    Slip::Worker => (format!("not {holder}"), job.attempts),
                    Slip::Attempt => (holder.to_owned(), job.attempts + 1),
                };
                Command::Settle(Settlement { fence: fence.version(job), attempt, worker_id, outcome })
            }
            Ask::Expire => Command::Expire,
            Ask::Cancel { reason } => Command::Cancel { reason },
            Ask::Replay { text } => Command::Replay { actor: "user:ada".to_owned(), justification: text },
            Ask::Resolve { text } => Command::Resolve { actor: "user:ada".to_owned(), notes: text },
        }
    }
}

fn failed() -> Outcome {
    let error = ErrorInfo {
        code: "TIMEOUT".to_owned(),
        message: "no answer".to_owned(),
        retryable: true,
        detail: None,
    };
    Outcome::Failed(Failure { error, policy: RetryPolicy::default(), chance: 0 })
}

fn json() -> impl Strategy<Value = CanonicalJson> {
    value().prop_map(canonical)
}

prop_compose! {
    fn plan()(new in new_job(), steps in vec(step(), 0..30)) -> Plan {
        Plan { new, steps }
    }
}

prop_compose! {
    fn new_job()(
        priority in 0u8..=3,
        max_attempts in 1u32..=4,
        due in option::of(0u64..100),
        idempotency_key in option::of("[a-z\"é]{1,9}"),
        payload in json(),
    ) -> NewJob {
        NewJob {
            job_type: "COMPILE".to_owned(),
            queue: "default".to_owned(),
            priority,
            max_attempts,
            scheduled_at: due.map(at),
            idempotency_key,
            payload,
        }
    }
}

prop_compose! {
    fn step()(wait in wait(), ask in ask()) -> Step {
        Step { wait, ask }
    }
}

fn wait() -> impl Strategy<Value = Wait> {
    prop_oneof![
        4 => (0u64..5_000).prop_map(Wait::Millis),
        1 => (0u64..2_000_000).prop_map(Wait::Millis),
        4 => Just(Wait::UntilItMoves),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let ttl = 0u64..90;
    prop_oneof![
        1 => Just(Ask::EnqueueAgain),
        10 => (0u8..3, 30u64..90).prop_map(|(worker, ttl)| Ask::Lease { worker, ttl }),
        3 => (shown(), ttl).prop_map(|(fence, ttl)| Ask::Renew { fence, ttl }),
        3 => (shown(), any::<u8>(), option::of(text()))
            .prop_map(|(fence, percent, message)| Ask::Progress { fence, percent, message }),
        10 => (shown(), slip(), outcome())
            .prop_map(|(fence, slip, outcome)| Ask::Settle { fence, slip, outcome }),
        5 => Just(Ask::Expire),
        2 => option::of(text()).prop_map(|reason| Ask::Cancel { reason }),
        4 => text().prop_map(|text| Ask::Replay { text }),
        1 => text().prop_map(|text| Ask::Resolve { text }),
    ]
}

fn shown() -> impl Strategy<Value = Shown> {
    prop_oneof![6 => Just(Shown::Held), 2 => Just(Shown::Settled), 1 => (0u32..20).prop_map(Shown::Any)]
}

fn slip() -> impl Strategy<Value = Slip> {
    prop_oneof![8 => Just(Slip::None), 1 => Just(Slip::Worker), 1 => Just(Slip::Attempt)]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let jitter = prop::sample::select(vec![Jitter::Exact, Jitter::Upward, Jitter::TwoSided]);
    let policy = (any::<u32>(), any::<u64>(), jitter).prop_map(|(base, cap, jitter)| RetryPolicy {
        base: base >> (base % 32),
        cap: Duration::from_millis(cap >> (4 + cap % 60)),
        jitter,
    });
    prop_oneof![
        2 => (any::<u64>(), option::of(json()), vec(emitted(), 0..3)).prop_map(
            |(duration_ms, result, emitted)| Outcome::Succeeded { duration_ms, result, emitted }
        ),
        6 => (error(), policy, any::<u16>())
            .prop_map(|(error, policy, chance)| Outcome::Failed(Failure { error, policy, chance })),
        1 => Just(Outcome::Cancelled),
        1 => Just(Outcome::Released),
        1 => (0u64..100_000).prop_map(|millis| Outcome::Snoozed { delay: Duration::from_millis(millis) }),
    ]
}

prop_compose! {
    fn error()(
        code in "[A-Z_]{1,12}",
        message in text(),
        retryable in prop::bool::weighted(0.8),
        detail in option::of(text()),
    ) -> ErrorInfo {
        ErrorInfo { code, message, retryable, detail }
    }
}

prop_compose! {
    fn emitted()(id in uuid(), stream_type in "[A-Za-z]{1,9}", version in any::<u32>()) -> Emitted {
        Emitted { stream_id: StreamId(id), stream_type, version: Version(version) }
    }
}

// Any event at all, whether or not it could follow anything.

fn event() -> impl Strategy<Value = JobEvent> {
    let millis = || 0..=MAX_INTEGER.unsigned_abs();
    prop_oneof![
        (text(), text(), any::<u8>(), any::<u32>(), moment(), option::of(text()), json()).prop_map(
            |(job_type, queue, priority, max_attempts, scheduled_at, idempotency_key, payload)| {
                JobEvent::Enqueued {
                    job_type,
                    queue,
                    priority,
                    max_attempts,
                    scheduled_at,
                    idempotency_key,
                    payload,
                }
            }
        ),
        (text(), any::<u32>(), moment()).prop_map(|(worker_id, attempt, lease_expires_at)| {
            JobEvent::Leased { worker_id, attempt, lease_expires_at }
        }),
        (text(), moment())
            .prop_map(|(worker_id, lease_expires_at)| JobEvent::Renewed { worker_id, lease_expires_at }),
        (any::<u8>(), option::of(text()), option::of(text()))
            .prop_map(|(percent, step, message)| JobEvent::Progressed { percent, step, message }),
        (millis(), option::of(json()), vec(emitted(), 0..4)).prop_map(|(duration_ms, result, emitted)| {
            JobEvent::Succeeded { duration_ms, result, emitted }
        }),
        (any::<u32>(), error()).prop_map(|(attempt, error)| JobEvent::Failed { attempt, error }),
        (moment(), millis())
            .prop_map(|(scheduled_at, delay_ms)| JobEvent::RetryScheduled { scheduled_at, delay_ms }),
        any::<u32>().prop_map(|attempts| JobEvent::DeadLettered { attempts }),
        text().prop_map(|worker_id| JobEvent::LeaseExpired { worker_id }),
        text().prop_map(|worker_id| JobEvent::Released { worker_id }),
        moment().prop_map(|until| JobEvent::Snoozed { until }),
        option::of(text()).prop_map(|reason| JobEvent::CancelRequested { reason }),
        option::of(text()).prop_map(|reason| JobEvent::Cancelled { reason }),
        (text(), text()).prop_map(|(actor, justification)| JobEvent::Replayed { actor, justification }),
        (text(), text()).prop_map(|(actor, notes)| JobEvent::Resolved { actor, notes }),
        (text(), any::<u32>())
            .prop_map(|(worker_id, attempt)| JobEvent::StaleCompletionRefused { worker_id, attempt }),
    ]
}

/// A change of one place of a JSON value.
#[derive(Clone, Debug)]
struct Edit {
    place: prop::sample::Index,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Set(Value),
    Remove,
    Add(Cow<'static, str>, Value),
    Upper,
}

fn edit() -> impl Strategy<Value = Edit> {
    let key = prop::sample::select(vec!["reason", "result", "detail", "step", "message", "attempt", "x"]);
    let change = prop_oneof![
        3 => Just(Change::Set(Value::Null)),
        3 => value().prop_map(Change::Set),
        1 => Just(Change::Remove),
        2 => (key, value()).prop_map(|(key, value)| Change::Add(key.into(), value)),
        1 => Just(Change::Upper),
    ];
    (any::<prop::sample::Index>(), change).prop_map(|(place, change)| Edit { place, change })
}

impl Edit {
    fn apply(&self, mut payload: Value) -> Value {
        let mut pointers = vec![];
        places(&payload, String::new(), &mut pointers);
        let pointer = &pointers[self.place.index(pointers.len())];
        let place = payload.pointer_mut(pointer).expect("the place was just found");
        match (&self.change, place) {
            (Change::Set(value), place) => *place = value.clone(),
            (Change::Remove, Value::Object(members)) => {
                let first = members.keys().next().cloned();
                first.and_then(|key| members.remove(&key));
            }
            (Change::Add(key, value), Value::Object(members)) => {
                members.insert(key.to_string(), value.clone());
            }
            (Change::Upper, Value::String(text)) => *text = text.to_uppercase(),
            _ => {}
        }
        payload
    }
}

/// Every place in a value, as JSON pointers.
fn places(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(member, format!("{here}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                places(item, format!("{here}/{n}"), found);
            }
        }
        _ => {}
    }
    found.push(here);
}
