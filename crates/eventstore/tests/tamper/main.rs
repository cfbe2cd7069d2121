//! What somebody can do who holds the database, and what verify says to it.

#[path = "../conformance/common.rs"]
#[allow(dead_code)]
mod common;

#[path = "../conformance/verify/alike.rs"]
mod alike;

mod bits;
mod cohort;
mod cohort_bits;
mod cohort_silence;
mod cohort_table;
mod crash;
mod log;
mod pages;
mod scene;
mod silence;
mod table;
