//! Reading an archive directory.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bpc_core::Hash;
use bpc_core::note::{Checkpoint, SignedNote};
use bpc_core::tile::{TILE_WIDTH, TileId, hash_in};

use crate::error::{ArchiveError, NoteProblem};
use crate::layout;
use crate::manifest::{Manifest, SegmentEntry};
use crate::segment::{Segment, SegmentError};

/// An archive directory as its manifest describes it. Nothing but the manifest has been looked at.
#[derive(Clone, Debug)]
pub struct Archive {
    directory: PathBuf,
    manifest: Manifest,
}

impl Archive {
    /// Read the manifest of a directory.
    pub fn open(directory: &Path) -> Result<Archive, ArchiveError> {
        let path = directory.join(layout::MANIFEST);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(ArchiveError::Missing(directory.to_owned()));
            }
            Err(error) => return Err(ArchiveError::io("read", &path)(error)),
        };
        let manifest = Manifest::read(&bytes).map_err(|problem| ArchiveError::Manifest { path, problem })?;
        Ok(Archive { directory: directory.to_owned(), manifest })
    }

    /// What it holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Path of something that the manifest names.
    pub fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// Open a segment. It holds the events that the manifest says, as far as it says so itself.
    pub fn segment(&self, entry: &SegmentEntry) -> Result<Segment, SegmentError> {
        let segment = Segment::open(&self.path(&entry.file))?;
        let header = segment.header();
        if (header.first, header.events) != (entry.first, entry.events) {
            let found =
                format!("it says it holds {} events from position {} on", header.events, header.first);
            return Err(SegmentError::Malformed(found));
        }
        if segment.len() != entry.bytes {
            let found = format!("it has {} bytes, the manifest says {}", segment.len(), entry.bytes);
            return Err(SegmentError::Malformed(found));
        }
        Ok(segment)
    }

    /// The signed note over so many events, unchecked.
    pub fn checkpoint(&self, size: u64) -> Result<String, ArchiveError> {
        let path = self.path(&layout::checkpoint_file(size));
        fs::read_to_string(&path).map_err(ArchiveError::io("read", &path))
    }

    /// What the newest checkpoint says, unchecked.
    pub fn newest_checkpoint(&self) -> Result<Checkpoint, ArchiveError> {
        let size = self.manifest.size;
        let note = self.checkpoint(size)?;
        let read = || {
            let checkpoint = Checkpoint::parse(&SignedNote::parse(note.as_bytes())?.text)?;
            match checkpoint.size {
                found if found == size => Ok(checkpoint),
                found => Err(NoteProblem::Size { expected: size, found }),
            }
        };
        read().map_err(|source| ArchiveError::Note { name: layout::checkpoint_file(size), source })
    }

    /// Bytes of a tile, as wide as the archive has it.
    pub fn tile(&self, level: u8, index: u64) -> Result<Vec<u8>, ArchiveError> {
        let id = TileId::holding(level, index * TILE_WIDTH, self.manifest.size);
        let id = id.unwrap_or(TileId { level, index, width: TILE_WIDTH as u16 });
        let path = layout::tile_path(&self.directory, id);
        fs::read(&path).map_err(ArchiveError::io("read", &path))
    }

    /// Bytes of a tile of leaves, if it is there and as long as it must be.
    pub(crate) fn leaf_tile(&self, index: u64) -> Option<Vec<u8>> {
        let id = TileId::holding(0, index * TILE_WIDTH, self.manifest.size)?;
        self.tile(0, index).ok().filter(|bytes| bytes.len() == id.len_bytes())
    }

    /// A stored hash by level and index: what proofs and roots are made of.
    pub fn hash(&self, level: u8, index: u64) -> Result<Hash, ArchiveError> {
        let tile = self.tile(level, index / TILE_WIDTH)?;
        hash_in(&tile, (index % TILE_WIDTH) as usize).ok_or_else(|| {
            let id = TileId { level, index: index / TILE_WIDTH, width: (index % TILE_WIDTH + 1) as u16 };
            ArchiveError::Tiles(bpc_core::merkle::BadEdge::Short(id))
        })
    }
}
