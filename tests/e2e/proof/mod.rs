//! What leaves the house: checkpoints, proofs, and their checks; and the sealed order.

mod check;
mod common;
mod keys;
mod log;
mod replay;
mod report;
mod seal;
mod verify;
mod witness;
