//! Replay: every view rebuilt from nothing, and compared with the live ones.
//!
//! The log is read once, by stream and version, so each stream is in one piece and memory stays flat
//! however many there are. Jobs are folded by the rule book and written where they stand in the end;
//! domain events go through their projections one by one.

mod batch;
mod cell;
mod check;
mod columns;
mod compare;
mod drift;
mod error;
mod log;
mod rebuild;
mod report;
mod scratch;
mod stream;
mod views;
mod write;

pub use check::check;
pub use drift::{DRIFT_MAX, Drift, DriftCode};
pub use error::ReplayError;
pub use rebuild::rebuild;
pub use report::{CheckReport, Progress, RebuildReport};
pub use views::{ENGINE_VIEWS, view_tables};
