//! The rule book: ids, envelope, canonical JSON, chain hash, job events, `fold` and `decide`,
//! Merkle tree, tiles, checkpoints and proofs.
//! Imports no other room; touches no clock, random source, database or runtime.
//!
//! Everything here is a pure function of its arguments: time, jitter and ids arrive from outside,
//! so the same inputs give the same bytes on any machine, in a test, and ten years from now.

pub mod blob_ref;
pub mod canonical;
pub mod chain;
pub mod cohort;
pub mod envelope;
pub mod id;
pub mod job;
pub mod log_events;
pub mod merkle;
pub mod note;
pub mod proof;
pub mod retry;
pub mod tile;
pub mod time;
pub mod witness;

pub use blob_ref::{BlobFields, BlobRef};
pub use canonical::CanonicalJson;
pub use chain::{Hash, chain_hash};
pub use cohort::{COHORT_MAX, Members};
pub use envelope::{Draft, Envelope, EnvelopeError, EventRecord, Head};
pub use id::{EventId, JobId, StreamId, TenantId, Version};
pub use job::{Job, JobEvent, Status};
pub use retry::RetryPolicy;
pub use time::Timestamp;
