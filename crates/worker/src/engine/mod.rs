//! The verbs of the engine: each takes what it needs from the views, asks the rule book, and writes
//! what follows in one transaction.

mod commit_effects;
mod enqueue;
mod expire;
mod history;
mod keep;
mod lease;
mod limits;
mod perform;
mod person;
mod settle;
mod short_way;
mod why;

use std::sync::Arc;

use bpc_core::job::Stamp;
use bpc_core::{EventId, Timestamp};
use bpc_eventstore::{Store, entropy};
use bpc_projections::ExpectCohorts;

use crate::registry::Registry;
use crate::wake::{Hints, Trigger};

pub use history::{JobHistory, RecordedEvent};
pub use keep::{Keep, Kept};
pub use lease::LeasedJob;
pub(crate) use person::CANCEL_HINT;
pub use settle::{Attempt, Settled};
pub use why::Why;

/// A log, what is known about its jobs, and the verbs on them. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    /// The log.
    pub store: Store,
    /// The packs.
    pub registry: Arc<Registry>,
    /// Wake-ups between enqueuers and workers of this process.
    pub(crate) hints: Hints,
    trigger: Option<Trigger>,
    short_way: short_way::ShortWay,
    expect_cohorts: ExpectCohorts,
}

/// How often a verb is tried again when somebody else wrote first.
const CONFLICT_TRIES: u32 = 8;

impl Engine {
    /// An engine on a migrated store.
    pub fn new(store: Store, registry: Registry) -> Self {
        Engine {
            store,
            registry: Arc::new(registry),
            hints: Hints::default(),
            trigger: None,
            short_way: short_way::ShortWay::default(),
            expect_cohorts: ExpectCohorts::default(),
        }
    }

    /// The same engine on a database connection of its own.
    pub(crate) fn dedicated(&self) -> Self {
        Engine { store: self.store.dedicated(), ..self.clone() }
    }

    /// Also tell workers through a message broker when a job is enqueued.
    #[must_use]
    pub fn with_trigger(mut self, trigger: Trigger) -> Self {
        self.trigger = Some(trigger);
        self
    }
}

/// Who, when and why, with entropy from the system.
fn stamp<'a>(
    actor: &'a str,
    now: Timestamp,
    causation_id: Option<EventId>,
    source: &'a mut fn() -> [u8; 10],
) -> Stamp<'a> {
    Stamp { actor, now, causation_id, correlation_id: None, entropy: source }
}

/// A source of entropy to borrow.
fn source() -> fn() -> [u8; 10] {
    entropy
}
