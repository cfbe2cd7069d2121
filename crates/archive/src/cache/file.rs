//! The file of a cache.
//!
//! ```text
//! BPC-FOLD-1 LF            11 bytes, then 5 of zero
//! SHA-256 of the segment   32 bytes
//! parts                    256 times: offset and length, 8 bytes each, and an HMAC-SHA-256
//! HMAC of all above        32 bytes
//! the parts                rkyv, each at a multiple of 16
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bpc_core::Hash;
use rkyv::rancor;
use rkyv::util::AlignedVec;

use super::key::CacheKey;
use super::record::{ArchivedPart, Part};
use super::{FORMAT, PARTS};

const START: usize = 16;
const TABLE_AT: usize = START + 32;
const ENTRY: usize = 48;
const HEADER_TAG_AT: usize = TABLE_AT + PARTS * ENTRY;
const HEADER: usize = HEADER_TAG_AT + 32;
const ALIGNMENT: usize = 16;
/// Largest part that is read: that of a segment whose events all belong to one stream, and then some.
const PART_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A cache whose header was made here for a segment.
#[derive(Debug)]
pub(super) struct CacheFile {
    file: File,
    segment: Hash,
    header: Vec<u8>,
}

/// Where a part is read to, one after the other: fresh memory for each would cost as much as checking it.
#[derive(Debug, Default)]
pub(crate) struct PartMemory(AlignedVec<ALIGNMENT>);

/// All bytes of the cache of a segment.
pub(super) fn encode(segment: &Hash, parts: &[Part], key: &CacheKey) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    bytes[..FORMAT.len()].copy_from_slice(FORMAT.as_bytes());
    bytes[START..TABLE_AT].copy_from_slice(&segment.0);
    for (number, part) in parts.iter().enumerate() {
        let part = rkyv::to_bytes::<rancor::Error>(part).expect("vectors of numbers and texts");
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        let entry = TABLE_AT + number * ENTRY;
        let (offset, len) = (bytes.len() as u64, part.len() as u64);
        bytes[entry..entry + 8].copy_from_slice(&offset.to_le_bytes());
        bytes[entry + 8..entry + 16].copy_from_slice(&len.to_le_bytes());
        bytes[entry + 16..entry + ENTRY].copy_from_slice(&key.tag(segment, number, &part));
        bytes.extend_from_slice(&part);
    }
    let tag = key.tag(segment, PARTS, &bytes[..HEADER_TAG_AT]);
    bytes[HEADER_TAG_AT..HEADER].copy_from_slice(&tag);
    bytes
}

impl CacheFile {
    /// Open the cache of a segment; `None` if there is none that was made for it with this key.
    pub(super) fn open(path: &Path, segment: &Hash, key: &CacheKey) -> Option<CacheFile> {
        let file = File::open(path).ok()?;
        let mut header = vec![0; HEADER];
        file.read_exact_at(&mut header, 0).ok()?;
        let tag: [u8; 32] = header[HEADER_TAG_AT..].try_into().ok()?;
        let is_ours =
            header[START..TABLE_AT] == segment.0 && key.holds(segment, PARTS, &header[..HEADER_TAG_AT], &tag);
        is_ours.then_some(CacheFile { file, segment: *segment, header })
    }

    /// Read a part into memory and check it there, where nobody can change it any more; `None` if it is not what was
    /// written. Access is validated all the same, and what it refuses counts as no cache.
    pub(super) fn read<'m>(
        &self,
        part: usize,
        key: &CacheKey,
        memory: &'m mut PartMemory,
    ) -> Option<&'m ArchivedPart> {
        let entry = &self.header[TABLE_AT + part * ENTRY..][..ENTRY];
        let number = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().expect("8 bytes"));
        let (offset, len) = (number(0), number(8));
        if len > PART_BYTES_MAX {
            return None;
        }
        let bytes = &mut memory.0;
        bytes.resize(len as usize, 0);
        self.file.read_exact_at(bytes, offset).ok()?;
        let tag: &[u8; 32] = entry[16..].try_into().expect("32 bytes");
        if !key.holds(&self.segment, part, bytes, tag) {
            return None;
        }
        rkyv::access::<ArchivedPart, rancor::Failure>(bytes).ok()
    }
}

/// Write a cache: whoever opens it meanwhile finds the old one, or none.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Not synced: what a crash leaves of it is not taken for a cache.
    let draft = path.with_extension(format!("fold.{}.draft", std::process::id()));
    let written = std::fs::write(&draft, bytes).and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}
