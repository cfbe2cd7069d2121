//! What leaves the house: checkpoints, proofs, and their checks; and the sealed order.

mod check;
mod common;
mod log;
mod replay;
mod seal;
mod verify;
