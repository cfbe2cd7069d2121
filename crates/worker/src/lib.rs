//! Lease, run, renew, settle, stop; the handlers' trait, context and effects; schedules; wake-ups.
//! Imports `core`, `eventstore` and `projections`; contains no domain word.

mod backoff;
mod context;
mod effects;
mod engine;
mod enqueue;
mod error;
mod flag;
mod handler;
mod policy;
mod reaction;
mod registry;
mod runtime;
mod schedule;
mod wake;

pub use bpc_core::canonical::JsonError;
pub use bpc_core::envelope::{Draft, Envelope};
pub use bpc_core::{JobId, Status, StreamId, TenantId, Timestamp, Version};
pub use bpc_eventstore::seal::KeyFile;
pub use bpc_eventstore::{Blob, Clock, Conn, Store, StoreError, StoreOptions, Tx, add_tenant, portable};
pub use bpc_projections::{Projection, ViewTable};
pub use context::{Context, Stopping};
pub use effects::{Effects, SqlValue};
pub use engine::{Attempt, Engine, JobHistory, Keep, Kept, LeasedJob, RecordedEvent, Settled, Why};
pub use enqueue::{Due, Enqueue, Enqueued};
pub use error::EngineError;
pub use handler::{Handler, HandlerError, Job};
pub use policy::JobPolicy;
pub use reaction::Reaction;
pub use registry::{JobType, Registry};
pub use runtime::{Worker, WorkerOptions, WorkerReport};
pub use schedule::Schedule;
pub use tokio_util::sync::CancellationToken;
pub use wake::{RabbitOptions, Trigger, WakeOptions};
