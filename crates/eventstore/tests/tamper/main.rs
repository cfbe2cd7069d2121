//! What somebody can do who holds the database, and what verify says to it.

#[path = "../conformance/common.rs"]
#[allow(dead_code)]
mod common;

mod bits;
mod crash;
mod log;
mod pages;
mod scene;
mod silence;
mod table;
