//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses its part")]

pub mod passport;
pub mod small;

use std::path::PathBuf;

/// The bytes of a file under `tests/data`.
pub fn data(file: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares bytes with those that were checked in. With `BPC_BLESS=1` they are written instead.
pub fn golden(file: &str, bytes: &[u8]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    if std::env::var_os("BPC_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, bytes).expect("written");
    }
    let expected = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = String::from_utf8_lossy;
    assert!(expected == bytes, "{file} changed\nbefore: {}\nnow:    {}", text(&expected), text(bytes));
}
