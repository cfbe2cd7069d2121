//! The drill pack: built-in job types to rehearse and measure with, and a view of what they emit.
//! Imports `core`, `eventstore`, `projections` and `worker`; no other pack knows it.

mod chain;
mod check;
mod drill;
mod drill_streams;
mod emit;
mod emitted;
mod fail;
mod flaky;
mod noop;
mod panic;
mod sleep;

pub use chain::Chain;
pub use drill::Drill;
pub use drill_streams::DrillStreams;
pub use emit::Emit;
pub use emitted::{EMITTED, Emitted, STREAM_TYPE};
pub use fail::Fail;
pub use flaky::Flaky;
pub use noop::Noop;
pub use panic::Panic;
pub use sleep::Sleep;

use bpc_worker::Registry;

/// Every drill, in the order in which people will want to try them. A new one is its file and a line
/// here.
pub const DRILLS: &[Drill] =
    &[noop::DRILL, sleep::DRILL, flaky::DRILL, fail::DRILL, panic::DRILL, emit::DRILL, chain::DRILL];

/// Register the whole pack.
pub fn register(registry: &mut Registry) {
    DRILLS.iter().for_each(|drill| (drill.register)(registry));
    registry.event(STREAM_TYPE, EMITTED).projection(DrillStreams);
}
