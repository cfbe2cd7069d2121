//! The real program, run the way a user runs it.

mod bpc;
mod output;
mod running;

pub use bpc::Bpc;
pub use output::Output;
pub use running::{Running, Signal};
