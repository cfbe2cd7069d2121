//! Files that are handed over: read in one go, written in one go.

use std::path::Path;

use crate::error::Failure;

/// More than any checkpoint, proof or key has.
const BYTES_MAX: u64 = 256 << 20;

/// The content of a file that somebody named.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |problem: String| {
        Failure::wrong_use("FILE_UNREADABLE", format!("cannot read {}: {problem}", path.display()))
    };
    let length = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > BYTES_MAX {
        return Err(unreadable(format!("it has {length} bytes, which is more than any proof has")));
    }
    std::fs::read(path).map_err(|error| unreadable(error.to_string()))
}

/// Write a file in the place of whatever is there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| {
        Failure::wrong_use("FILE_UNWRITABLE", format!("cannot write {}: {error}", path.display()))
    })
}
