//! Tests of a package, and the gate they must pass before it is used.

pub mod declared;
pub mod draft;
mod harness;
mod set;

pub use draft::{Case, Draft};
