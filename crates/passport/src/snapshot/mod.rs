//! Which facts a passport is made from: sealed, with one hash that stands for all of them.

mod items;
mod sealed;

pub use items::{Item, SnapshotConflict, check_items};
pub use sealed::{ReopenError, SealedSnapshot};
