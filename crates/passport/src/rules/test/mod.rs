//! Tests of a package, and the gate they must pass before it is used.

mod changes;
mod coverage;
pub mod declared;
pub mod draft;
mod edit;
mod gate;
mod generate;
mod harness;
mod mutate;
mod mutation;
mod properties;
mod reach;
mod reads;
mod ready;
mod rescale;
mod run;
mod seed;
mod set;
mod show;
mod shrink;
mod suite;
mod suspects;

pub use draft::{Case, Draft};
pub(crate) use harness::PlainLeaves;
pub use run::{Coverage, Failure, Kinds, Mutation, RuleCases, Run, Spot, Survivor, Suspect};
pub use suite::{Goldens, Scope, run, run_with};
