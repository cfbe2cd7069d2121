//! Replay: every view rebuilt from nothing, and compared with the live ones.
//!
//! The log comes from a database or from an archive of one. Jobs are folded by the rule book and
//! written where they stand in the end; domain events go through their projections one by one.

mod batch;
mod cell;
mod check;
mod columns;
mod compare;
mod database;
mod drift;
mod error;
mod folded;
mod into_file;
mod patch;
mod rebuild;
mod repair;
mod report;
mod scratch;
mod sealed_ids;
mod source;
mod stream;
mod until;
mod views;
mod write;

pub use check::check;
pub use database::DatabaseSource;
pub use drift::{DRIFT_MAX, Drift, DriftCode};
pub use error::ReplayError;
pub use folded::Folded;
pub use into_file::into_file;
pub use rebuild::rebuild;
pub use repair::repair;
pub use report::{CheckReport, Progress, RebuildReport, RepairReport};
pub use source::ReplaySource;
pub use until::Until;
pub use views::{ENGINE_VIEWS, view_tables};
