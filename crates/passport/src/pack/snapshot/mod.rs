//! Snapshots: chosen facts, checked, then sealed for ever.
//!
//! BUILDING takes facts of validated documents; BUILD_SNAPSHOT checks them and makes it READY; sealing gives
//! it its bytes, its hash and its salt key.

mod build;
mod command;
pub(super) mod events;
mod seal;
mod state;

pub use build::BuildSnapshot;
pub use command::{add_to_snapshot, build_snapshot, create_snapshot, remove_from_snapshot};
pub(in crate::pack) use seal::reopen;
pub use seal::{Seal, seal_snapshot};
pub use state::{Snapshot, SnapshotStatus, snapshot};
