//! The quick check of a whole log, in the order in which it was written.

mod batch;
mod check;
mod clock;
mod envelope;
mod facts;
mod follow;
mod job;
mod keys;
mod live;
mod read;
mod row;
mod runs;
mod scan;
mod suspects;
mod table;
mod tally;

pub use follow::Follower;
pub use keys::Keys;
pub use runs::{Chained, Chainer, Runs};
pub use suspects::Suspects;
pub use tally::Tally;

pub(super) use batch::Batch;
pub(super) use row::{COHORT_COLUMNS, COLUMNS};
pub(super) use scan::{Batches, Gather, Leaves, Outlet, ScanError, batches, scan};
