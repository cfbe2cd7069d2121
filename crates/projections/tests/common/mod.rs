//! What the tests of the job views stand on: a store with two tenants, and jobs moved by the rule book.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]

mod crowd;
mod domain;
mod house;
mod random;
mod sealing;

pub use crowd::Crowd;
pub use domain::{draft, projections};
pub use house::{House, failed, load, new_job, status, succeeded};
pub use random::Random;

use bpc_core::Timestamp;

/// Where every manual clock begins.
pub const START: Timestamp = Timestamp::from_micros(1_794_858_511_000_000);
