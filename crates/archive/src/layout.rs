//! Where things lie in an archive directory.
//!
//! ```text
//! manifest.json                          what there is; the last thing that a run writes but one
//! checkpoint                             the newest signed note, where C2SP tlog-tiles has it
//! checkpoints/65602                      signed notes by size
//! segments/00000000.jsonl.zst            65,536 events
//! segments/00000001.partial-120.jsonl.zst  the first 120 events of the next ones
//! tile/0/000, tile/0/001.p/120, ...      C2SP tlog-tiles
//! blobs/ab/ab12...                       bytes by their SHA-256
//! blobs/<sha256>.sha256                  what `sha256sum -c` checks them with
//! ```
//!
//! Files are replaced by renaming only, and only `manifest.json`, `checkpoint` and notes that gained a
//! signature ever change. So a reader that has a manifest finds what it names whatever a run writes
//! meanwhile; partial files that were replaced by longer ones stay until the run after.

use std::path::{Path, PathBuf};

use bpc_core::Hash;
use bpc_core::tile::TileId;

use crate::segment::EVENTS_PER_SEGMENT;

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const CHECKPOINT: &str = "checkpoint";
pub(crate) const CHECKPOINTS: &str = "checkpoints";
pub(crate) const SEGMENTS: &str = "segments";
pub(crate) const BLOBS: &str = "blobs";
pub(crate) const LOCK: &str = ".lock";
/// What stands in place of `.jsonl.zst` in the name of a segment's cache.
pub(crate) const CACHE_ENDING: &str = ".fold";
/// What a file that is still being written ends with.
pub(crate) const DRAFT: &str = ".draft";

/// The name of a segment, by the position of its first event and how many it has.
pub(crate) fn segment_file(first: u64, events: u64) -> String {
    let number = first / EVENTS_PER_SEGMENT;
    if events == EVENTS_PER_SEGMENT {
        format!("{SEGMENTS}/{number:08}.jsonl.zst")
    } else {
        format!("{SEGMENTS}/{number:08}.partial-{events}.jsonl.zst")
    }
}

pub(crate) fn checkpoint_file(size: u64) -> String {
    format!("{CHECKPOINTS}/{size}")
}

pub(crate) fn blob_file(sha256: &Hash) -> String {
    let name = sha256.to_string();
    format!("{BLOBS}/{}/{name}", &name[..2])
}

pub(crate) fn blob_list_file(sha256: &Hash) -> String {
    format!("{BLOBS}/{sha256}.sha256")
}

pub(crate) fn tile_path(directory: &Path, id: TileId) -> PathBuf {
    directory.join(id.to_string())
}
