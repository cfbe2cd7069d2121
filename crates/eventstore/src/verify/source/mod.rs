//! All events of a database in the order of their insertion, as fast as it can hand them out.

mod merge;
mod postgres;
mod sqlite;
mod window;

pub(super) use postgres::{Route, postgres_batches, postgres_count};
pub(super) use sqlite::sqlite_batches;

/// Rows in a batch: enough that handing it to a thread costs nothing beside checking it.
const BATCH_ROWS_MAX: usize = 2048;
/// Memory of a batch, about: a few of the largest events end one early.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
