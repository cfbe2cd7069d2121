//! What the packs registered: job types, event types, views, schedules, limits.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use bpc_core::BlobFields;
use bpc_projections::Projection;

use crate::handler::{ErasedHandler, Handler};
use crate::policy::JobPolicy;
use crate::reaction::Reaction;
use crate::schedule::Schedule;

/// All that the engine knows of the domains it serves. A pack is one function that takes this and
/// registers everything it has.
#[derive(Clone, Default)]
pub struct Registry {
    types: BTreeMap<&'static str, JobType>,
    events: HashSet<(&'static str, &'static str)>,
    projections: Vec<Arc<dyn Projection>>,
    reactions: Vec<Arc<dyn Reaction>>,
    schedules: Vec<Schedule>,
    queue_limits: HashMap<String, u32>,
    blob_fields: BlobFields,
}

/// A registered job type.
#[derive(Clone)]
pub struct JobType {
    /// How its jobs are treated.
    pub policy: JobPolicy,
    pub(crate) handler: Arc<dyn ErasedHandler>,
}

impl Registry {
    /// Nothing registered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Register a job type.
    pub fn job<H: Handler>(&mut self, handler: H) -> &mut Self {
        let policy = handler.policy();
        let job_type = JobType { policy, handler: Arc::new(handler) };
        let former = self.types.insert(H::TYPE, job_type);
        assert!(former.is_none(), "job type {} is registered twice", H::TYPE);
        self
    }

    /// Let another handler run the jobs of a registered type.
    pub fn replace_job<H: Handler>(&mut self, handler: H) -> &mut Self {
        let former = self.types.remove(H::TYPE);
        assert!(former.is_some(), "job type {} is not registered", H::TYPE);
        self.job(handler)
    }

    /// Register a domain event: only registered ones can be emitted.
    pub fn event(&mut self, stream_type: &'static str, event_type: &'static str) -> &mut Self {
        self.events.insert((stream_type, event_type));
        self
    }

    /// Say that a field of an event's payload is the hash of a blob, or a list of such: `verify --blobs` then
    /// looks for it. Where an object has a `sha256` and a `length` this goes without saying.
    pub fn blob(&mut self, event_type: &'static str, field: &'static str) -> &mut Self {
        self.blob_fields.add(event_type, field);
        self
    }

    /// Register a view.
    pub fn projection(&mut self, projection: impl Projection + 'static) -> &mut Self {
        self.projections.push(Arc::new(projection));
        self
    }

    /// Register what follows from events of other packs.
    pub fn reaction(&mut self, reaction: impl Reaction + 'static) -> &mut Self {
        self.reactions.push(Arc::new(reaction));
        self
    }

    /// Register a schedule.
    pub fn schedule(&mut self, schedule: Schedule) -> &mut Self {
        self.schedules.push(schedule);
        self
    }

    /// Let at most `jobs` of a queue run at once, over all workers.
    pub fn limit_queue(&mut self, queue: impl Into<String>, jobs: u32) -> &mut Self {
        self.queue_limits.insert(queue.into(), jobs);
        self
    }

    /// A registered type.
    pub fn job_type(&self, name: &str) -> Option<&JobType> {
        self.types.get(name)
    }

    /// Names of all registered types.
    pub fn type_names(&self) -> impl Iterator<Item = &'static str> {
        self.types.keys().copied()
    }

    /// Views to keep and rebuild.
    pub fn projections(&self) -> &[Arc<dyn Projection>] {
        &self.projections
    }

    /// What follows from events.
    pub(crate) fn reactions(&self) -> &[Arc<dyn Reaction>] {
        &self.reactions
    }

    /// Which fields of events name blobs.
    pub fn blob_fields(&self) -> &BlobFields {
        &self.blob_fields
    }

    /// Schedules to keep.
    pub fn schedules(&self) -> &[Schedule] {
        &self.schedules
    }

    /// Is this a registered domain event?
    pub(crate) fn knows_event(&self, stream_type: &str, event_type: &str) -> bool {
        self.events.contains(&(stream_type, event_type))
    }

    /// Most jobs of a queue at once, if limited.
    pub fn queue_limit(&self, queue: &str) -> Option<u32> {
        self.queue_limits.get(queue).copied()
    }

    /// All limited queues.
    pub(crate) fn queue_limits(&self) -> &HashMap<String, u32> {
        &self.queue_limits
    }

    /// Most jobs of a type at once, if limited.
    pub fn type_limit(&self, job_type: &str) -> Option<u32> {
        self.types.get(job_type)?.policy.concurrency_max
    }

    /// Is anything limited over all workers?
    pub(crate) fn has_limits(&self) -> bool {
        !self.queue_limits.is_empty() || self.types.values().any(|it| it.policy.concurrency_max.is_some())
    }
}
