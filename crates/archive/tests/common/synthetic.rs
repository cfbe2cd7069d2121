//! Jobs enqueued, leased, settled, retried and cancelled at random, many at a time.

use std::time::Duration;

use bpc_core::job::{Command, ErrorInfo, Failure, NewJob, Outcome, Settlement, Stamp, transition};
use bpc_core::log_events::{LOG, LogKeyAdded};
use bpc_core::{
    CanonicalJson, Draft, Envelope, EventId, Hash, Head, Job, JobId, RetryPolicy, StreamId, TenantId,
    Timestamp, Version,
};

use super::Random;

/// An event as the sealed order has it.
#[derive(Clone, Debug)]
pub struct Event {
    pub position: u64,
    pub stream_type: String,
    pub stream_id: StreamId,
    pub version: Version,
    pub previous: Hash,
    pub event_hash: Hash,
    pub event_bytes: Vec<u8>,
}

/// Events for ever; the same for the same seed.
pub struct SyntheticLog {
    random: Random,
    now: i64,
    jobs_max: usize,
    live: Vec<Job>,
    counters: Vec<(StreamId, Head)>,
    position: u64,
    ready: std::collections::VecDeque<Event>,
}

impl SyntheticLog {
    /// With up to `jobs_max` jobs alive at once: the more, the farther apart the events of each.
    pub fn new(seed: u64, jobs_max: usize) -> Self {
        let mut log = SyntheticLog {
            random: Random::seeded(seed),
            now: 1_794_858_511_000_000,
            jobs_max,
            live: Vec::new(),
            counters: Vec::new(),
            position: 0,
            ready: Default::default(),
        };
        let key = LogKeyAdded {
            algorithm: "ed25519".to_owned(),
            origin: "example.com/log".to_owned(),
            public_key: super::public_key(),
        };
        log.domain(LOG, StreamId::derived("log", "log"), Head::NONE, key.draft());
        log
    }

    fn step(&mut self) {
        self.now += self.random.below(300) as i64;
        match self.random.below(100) {
            0..2 => self.count(),
            _ => self.job(),
        }
    }

    fn job(&mut self) {
        let at = Timestamp::from_micros(self.now);
        let begins = self.live.is_empty() || (self.live.len() < self.jobs_max && self.random.below(10) < 4);
        let (id, job, command) = if begins {
            let id = JobId::fresh(at, self.random.entropy());
            (id, None, Command::Enqueue(self.new_job()))
        } else {
            let job = self.live.swap_remove(self.random.below(self.live.len()));
            let command = self.next_command(&job);
            (job.job_id, Some(job), command)
        };
        let previous = job.as_ref().map_or(Hash::ZERO, |job| job.head.hash);
        let actor = if begins { "user:ada" } else { "worker:host-1" };
        let random = &mut self.random;
        let mut stamp = Stamp {
            actor,
            now: at,
            causation_id: None,
            correlation_id: None,
            entropy: &mut || random.entropy(),
        };
        let tenant = TenantId::from_slug("default");
        let before = job.clone();
        let Ok(stepped) = transition(tenant, id, job, command, &mut stamp) else {
            self.live.extend(before);
            return;
        };
        let mut previous = previous;
        for record in stepped.records {
            let event = Event {
                position: 0,
                stream_type: record.stream_type.to_string(),
                stream_id: record.stream_id,
                version: record.version,
                previous,
                event_hash: record.event_hash,
                event_bytes: record.event_bytes,
            };
            previous = event.event_hash;
            self.emit(event);
        }
        if !stepped.job.status().is_finished() {
            self.live.push(stepped.job);
        }
    }

    fn new_job(&mut self) -> NewJob {
        let types = ["SEND_RECEIPT", "COMPILE_PASSPORT", "DRILL_NOOP"];
        let payload = format!("{{\"order\":{},\"to\":\"Zoë\"}}", self.random.below(100_000));
        NewJob {
            job_type: (*self.random.one_of(&types)).to_owned(),
            queue: "default".to_owned(),
            priority: self.random.below(4) as u8,
            max_attempts: 3,
            scheduled_at: None,
            idempotency_key: None,
            payload: CanonicalJson::from_trusted(payload.into_bytes()),
        }
    }

    fn next_command(&mut self, job: &Job) -> Command {
        let Some(lease) = job.lease() else {
            let worker_id = format!("host-{}", self.random.below(4));
            return match self.random.below(50) {
                0 => Command::Cancel { reason: Some("not needed".to_owned()) },
                _ => Command::Lease { worker_id, ttl: Duration::from_secs(60) },
            };
        };
        let outcome = match self.random.below(20) {
            0 => {
                let (code, message) = ("SMTP_DOWN".to_owned(), "no answer".to_owned());
                let error = ErrorInfo { code, message, retryable: true, detail: None };
                Outcome::Failed(Failure { error, policy: RetryPolicy::default(), chance: 0 })
            }
            _ => Outcome::Succeeded {
                duration_ms: self.random.below(100) as u64,
                result: None,
                emitted: Vec::new(),
            },
        };
        let (fence, worker_id) = (lease.fence, lease.worker_id.clone());
        Command::Settle(Settlement { fence, attempt: job.attempts, worker_id, outcome })
    }

    /// Some streams that are no jobs and go on for ever.
    fn count(&mut self) {
        let index = self.random.below(5);
        if index >= self.counters.len() {
            let name = format!("counter {}", self.counters.len());
            self.counters.push((StreamId::derived("counter", &name), Head::NONE));
            return;
        }
        let (stream, head) = self.counters[index];
        let number = serde_json::json!({ "number": self.random.below(1000) });
        let head = self.domain("Counter", stream, head, Draft::new("COUNTED", 1, &number).unwrap());
        self.counters[index].1 = head;
    }

    fn domain(&mut self, stream_type: &str, stream_id: StreamId, head: Head, draft: Draft) -> Head {
        let at = Timestamp::from_micros(self.now);
        let envelope = Envelope {
            actor: "system".into(),
            causation_id: None,
            correlation_id: None,
            event_id: EventId::fresh(at, self.random.entropy()),
            event_type: draft.event_type.clone(),
            occurred_at: at,
            payload: draft.payload.as_bytes(),
            schema: draft.schema,
            stream_id,
            stream_type: stream_type.into(),
            tenant_id: if stream_type == LOG { TenantId::SYSTEM } else { TenantId::from_slug("default") },
            version: head.version.next(),
        };
        let record = envelope.record(&head.hash, stream_type.into(), draft.event_type.clone()).unwrap();
        self.emit(Event {
            position: 0,
            stream_type: stream_type.to_owned(),
            stream_id,
            version: record.version,
            previous: head.hash,
            event_hash: record.event_hash,
            event_bytes: record.event_bytes,
        });
        Head { version: record.version, hash: record.event_hash }
    }

    fn emit(&mut self, event: Event) {
        self.ready.push_back(Event { position: self.position, ..event });
        self.position += 1;
    }
}

impl Iterator for SyntheticLog {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while self.ready.is_empty() {
            self.step();
        }
        self.ready.pop_front()
    }
}
