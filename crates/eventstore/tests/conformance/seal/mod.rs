//! Sealing: one order, one root, signed; whatever happens meanwhile.

mod checkpoints;
mod cohorts;
mod handover;
mod late;
pub mod log;
mod order;
mod reading;
