//! Level L1 and above: order, tree, checkpoints, keys.

mod anchors;
mod keys;
mod order;
mod stored;
mod tree;

pub use anchors::KeptCheckpoint;

pub(super) use anchors::{check_kept, check_witnesses};
pub(super) use keys::check_keys;
pub(super) use order::{OrderCheck, Ordered, Seal, check_surplus};
pub(super) use stored::{check_checkpoints, checkpoint_sizes};
