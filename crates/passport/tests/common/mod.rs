//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses its part")]

pub mod small;

use std::path::PathBuf;

/// The bytes of a file under `tests/data`.
pub fn data(file: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
