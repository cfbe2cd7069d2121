//! A log of random jobs, made by the rule book, in one order: what a sealed log is.
#![allow(dead_code, reason = "each test file uses its own part")]

mod random;
mod synthetic;

pub use random::Random;
pub use synthetic::{Event, SyntheticLog};
