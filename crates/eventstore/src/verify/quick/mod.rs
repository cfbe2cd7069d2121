//! The quick check of a whole log, in the order in which it was written.

mod batch;
mod check;
mod clock;
mod envelope;
mod facts;
mod job;
mod live;
mod scan;

pub use check::{Checker, Keys, RawEvent, Suspects, Tally, shard_of};

pub(super) use batch::{Batch, COLUMNS, Row, id_of};
pub(super) use scan::{Batches, Gather, Leaves, Outlet, batches, scan};
