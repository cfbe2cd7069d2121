//! A log of random jobs, made by the rule book, in one order: what a sealed log is.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]

mod archived;
mod random;
mod synthetic;

pub use archived::{ORIGIN, Source, leaf, note, public_key, sealed, signed, signer};
pub use random::Random;
pub use synthetic::{Event, SyntheticLog};
