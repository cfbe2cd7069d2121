//! A witness of logs (C2SP tlog-witness) over HTTP: its key, its memory, its server; and asking one.
//! Imports `core` only.
//!
//! What is signed and what is refused is decided in [`bpc_core::witness`]; here it is made durable and
//! answered.

mod ask;
mod key;
mod serve;
mod state;
mod witness;

pub use ask::{Answer, AskError, ask};
pub use key::{WitnessKey, WitnessKeyError};
pub use serve::serve;
pub use state::{StateError, StateFile};
pub use witness::Witness;
