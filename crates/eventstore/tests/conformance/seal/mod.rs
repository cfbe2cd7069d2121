//! Sealing: one order, one root, signed; whatever happens meanwhile.

mod checkpoints;
mod cohorts;
mod handover;
mod late;
mod log;
mod order;
mod reading;
