//! Taking away what no manifest names any more.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use bpc_core::tile::TileId;

use crate::layout;
use crate::manifest::Manifest;

/// Drafts, segments and lists that a broken-off run left, or that were replaced by longer ones, and the
/// caches of such segments. Files of other names are somebody else's and stay.
pub(super) fn sweep(directory: &Path, manifest: &Manifest) -> io::Result<()> {
    let segments: HashSet<&str> =
        manifest.segments.iter().filter_map(|entry| entry.file.strip_prefix("segments/")).collect();
    each_file(&directory.join(layout::SEGMENTS), |name| {
        let of_segment = name.strip_suffix(layout::CACHE_ENDING).map(|stem| format!("{stem}.jsonl.zst"));
        match of_segment {
            Some(segment) => !segments.contains(&*segment),
            None => {
                name.ends_with(layout::DRAFT) || (name.ends_with(".jsonl.zst") && !segments.contains(name))
            }
        }
    })?;
    let sizes: HashSet<String> = manifest.checkpoints.iter().map(u64::to_string).collect();
    each_file(&directory.join(layout::CHECKPOINTS), |name| {
        name.ends_with(layout::DRAFT) || (name.parse::<u64>().is_ok() && !sizes.contains(name))
    })?;
    let list = manifest.blobs.as_ref().and_then(|list| list.file.strip_prefix("blobs/"));
    each_file(&directory.join(layout::BLOBS), |name| {
        name.ends_with(layout::DRAFT) || (name.ends_with(".sha256") && Some(name) != list)
    })?;
    let partial: HashSet<PathBuf> =
        TileId::partial(manifest.size).map(|id| layout::tile_path(directory, id)).collect();
    sweep_tiles(&directory.join("tile"), &partial)
}

/// Partial tiles of other sizes. A full tile of a run that was broken off stays: it is written again.
fn sweep_tiles(directory: &Path, partial: &HashSet<PathBuf>) -> io::Result<()> {
    for entry in entries(directory)? {
        let path = entry.path();
        if !entry.file_type()?.is_dir() {
            if path.extension().is_some_and(|ending| ending == "draft") {
                fs::remove_file(path)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "p") {
            for tile in entries(&path)?.iter().map(DirEntry::path).filter(|tile| !partial.contains(tile)) {
                fs::remove_file(tile)?;
            }
            // It stays if there is a tile in it.
            let _ = fs::remove_dir(path);
        } else {
            sweep_tiles(&path, partial)?;
        }
    }
    Ok(())
}

fn each_file(directory: &Path, is_old: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in entries(directory)? {
        if entry.file_name().to_str().is_some_and(&is_old) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// What is in a directory; nothing if there is none.
fn entries(directory: &Path) -> io::Result<Vec<DirEntry>> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.collect(),
    }
}
