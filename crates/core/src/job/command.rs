//! What people and workers may ask of a job.

use std::time::Duration;

use crate::canonical::CanonicalJson;
use crate::id::Version;
use crate::retry::RetryPolicy;
use crate::time::Timestamp;

use super::event::{Emitted, ErrorInfo};

/// A wish that may be refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Make a job.
    Enqueue(NewJob),
    /// Give a worker the right to run it.
    Lease {
        /// To whom.
        worker_id: String,
        /// For how long.
        ttl: Duration,
    },
    /// Let the lease go on.
    Renew {
        /// Which attempt.
        fence: Version,
        /// For how long from now.
        ttl: Duration,
    },
    /// Say how far the handler is.
    Progress {
        /// Which attempt.
        fence: Version,
        /// 0 to 100.
        percent: u8,
        /// The step it is at.
        step: Option<String>,
        /// In words.
        message: Option<String>,
    },
    /// Record the outcome of an attempt.
    Settle(Settlement),
    /// The lease ran out, or a failure waits for what follows it.
    Expire,
    /// Stop it.
    Cancel {
        /// Why.
        reason: Option<String>,
    },
    /// Send it back into the queue.
    Replay {
        /// Who.
        actor: String,
        /// Why.
        justification: String,
    },
    /// Close it for good.
    Resolve {
        /// Who.
        actor: String,
        /// What they found.
        notes: String,
    },
}

/// A job to be made, with every default already filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// Type of the job.
    pub job_type: String,
    /// Queue it waits in.
    pub queue: String,
    /// 0 to 3, lower first.
    pub priority: u8,
    /// Attempts in all.
    pub max_attempts: u32,
    /// When it is due; `None` is at once.
    pub scheduled_at: Option<Timestamp>,
    /// Key that makes enqueueing idempotent.
    pub idempotency_key: Option<String>,
    /// What the handler gets.
    pub payload: CanonicalJson,
}

/// The outcome of an attempt, and the proof that it is the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// Version of the attempt's `LEASED` event.
    pub fence: Version,
    /// Number of the attempt.
    pub attempt: u32,
    /// Who ran it.
    pub worker_id: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The handler returned effects.
    Succeeded {
        /// How long it ran.
        duration_ms: u64,
        /// What it returned.
        result: Option<CanonicalJson>,
        /// The events committed with it.
        emitted: Vec<Emitted>,
    },
    /// The handler failed.
    Failed(Failure),
    /// The handler saw the cancel request and stopped.
    Cancelled,
    /// The worker stops and gives the job back.
    Released,
    /// The handler wants to be asked again later.
    Snoozed {
        /// Not before then.
        delay: Duration,
    },
}

/// A failed attempt and the rules for the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Why.
    pub error: ErrorInfo,
    /// How retries of this type are spaced.
    pub policy: RetryPolicy,
    /// Chance for the jitter.
    pub chance: u16,
}
