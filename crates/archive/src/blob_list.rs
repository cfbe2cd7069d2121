//! The list of an archive's blobs, in the form that `sha256sum -c` checks.

use std::collections::BTreeSet;

use bpc_core::Hash;

use crate::layout;
use crate::manifest::hash_of_hex;

/// One line for each blob, in order: its hash, two spaces, its path.
pub(crate) fn write(blobs: &BTreeSet<Hash>) -> Vec<u8> {
    let line = |sha256: &Hash| format!("{sha256}  {}\n", layout::blob_file(sha256));
    blobs.iter().map(line).collect::<String>().into_bytes()
}

/// The blobs of a list; `None` unless it is just as it would be written.
pub(crate) fn read(text: &[u8]) -> Option<BTreeSet<Hash>> {
    let lines = std::str::from_utf8(text).ok()?.lines();
    let blobs: Option<BTreeSet<Hash>> = lines.map(|line| hash_of_hex(line.get(..64)?)).collect();
    blobs.filter(|blobs| write(blobs) == text)
}
