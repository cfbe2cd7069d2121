//! Caches beside segments: what folding needs of each event, without JSON. Never the record: a cache that is
//! missing, damaged, of another segment or by somebody else is built anew from its segment, silently.

mod build;
mod file;
mod key;
mod record;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bpc_core::Envelope;
use tempfile::TempDir;

use crate::archive::Archive;
use crate::layout;
use crate::manifest::SegmentEntry;
use crate::segment::{Segment, SegmentError};

use file::CacheFile;

pub(crate) use build::Builder;
pub(crate) use file::PartMemory;
pub use key::CacheKey;
pub(crate) use record::{ArchivedPart, ArchivedRun, Part, Said};

/// Name of this format. A cache of another one is built anew.
const FORMAT: &str = "BPC-FOLD-1\n";
/// Streams are parted by the last byte of their ids, which is a random one however ids are made.
pub(crate) const PARTS: usize = 256;

/// The caches of an archive.
pub struct Caches {
    archive: Archive,
    key: CacheKey,
    open: Vec<Mutex<Option<Arc<CacheFile>>>>,
    /// For archives that cannot be written to.
    elsewhere: OnceLock<Option<TempDir>>,
}

impl Caches {
    /// The caches of that archive that were made with that key.
    pub fn new(archive: Archive, key: CacheKey) -> Self {
        let open = archive.manifest().segments.iter().map(|_| Mutex::new(None)).collect();
        Caches { archive, key, open, elsewhere: OnceLock::new() }
    }

    /// Caches that last as long as this value, each of them given by [`Caches::keep`].
    pub(crate) fn in_scratch(archive: Archive) -> io::Result<Self> {
        let caches = Caches::new(archive, CacheKey::random());
        let scratch = TempDir::with_prefix("bpc-caches-")?;
        caches.elsewhere.get_or_init(|| Some(scratch));
        Ok(caches)
    }

    /// Keep what was made of a segment, whether or not it is the one that the manifest names.
    pub(crate) fn keep(&self, segment: usize, parts: &[Part]) -> io::Result<()> {
        let entry = &self.archive.manifest().segments[segment];
        let elsewhere = self.elsewhere.get().and_then(Option::as_ref);
        let path =
            elsewhere.ok_or_else(|| io::Error::other("only for caches in scratch"))?.path().join(name(entry));
        file::write(&path, &file::encode(&entry.sha256, parts, &self.key))?;
        let cache = CacheFile::open(&path, &entry.sha256, &self.key);
        let cache = Arc::new(cache.ok_or_else(|| io::Error::other("a cache cannot be read back"))?);
        *self.open[segment].lock().unwrap_or_else(PoisonError::into_inner) = Some(cache);
        Ok(())
    }

    /// The archive.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Have the cache of a segment at hand, built if need be. Parts are checked as they are read.
    pub(crate) fn warm(&self, segment: usize) -> Result<(), SegmentError> {
        self.at_hand(segment, None).map(drop)
    }

    /// Show a part of the cache of a segment, built if need be. What was just built and still cannot be read has a
    /// disk to blame that forgets.
    pub(crate) fn part(
        &self,
        segment: usize,
        part: usize,
        memory: &mut PartMemory,
        show: impl FnOnce(&ArchivedPart),
    ) -> Result<(), SegmentError> {
        let cache = self.at_hand(segment, None)?;
        if let Some(part) = cache.read(part, &self.key, memory) {
            show(part);
            return Ok(());
        }
        let rebuilt = self.at_hand(segment, Some(&cache))?;
        rebuilt.read(part, &self.key, memory).map(show).ok_or_else(forgotten)
    }

    /// The cache of a segment, any but `bad`.
    fn at_hand(&self, segment: usize, bad: Option<&Arc<CacheFile>>) -> Result<Arc<CacheFile>, SegmentError> {
        let entry = &self.archive.manifest().segments[segment];
        let mut open = self.open[segment].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = open.as_ref().filter(|cache| bad.is_none_or(|bad| !Arc::ptr_eq(bad, cache))) {
            return Ok(cache.clone());
        }
        let kept = match bad {
            None => CacheFile::open(&self.path(entry), &entry.sha256, &self.key),
            Some(_) => None,
        };
        let cache = Arc::new(kept.map_or_else(|| self.build(entry), Ok)?);
        *open = Some(cache.clone());
        Ok(cache)
    }

    fn build(&self, entry: &SegmentEntry) -> Result<CacheFile, SegmentError> {
        let segment = self.archive.segment(entry)?;
        let bytes = cache_of(&segment, entry, &self.key)?;
        let path = self.path(entry);
        if let Err(error) = file::write(&path, &bytes) {
            tracing::debug!(%error, path = %path.display(), "the cache cannot be kept there");
            let elsewhere = self.elsewhere.get_or_init(|| TempDir::with_prefix("bpc-caches-").ok());
            let elsewhere = elsewhere.as_ref().ok_or(SegmentError::Io(error))?;
            let path = elsewhere.path().join(name(entry));
            file::write(&path, &bytes)?;
            return opened(&path, entry, &self.key);
        }
        opened(&path, entry, &self.key)
    }

    /// Where the cache of a segment is, or will be.
    fn path(&self, entry: &SegmentEntry) -> PathBuf {
        let elsewhere = self.elsewhere.get().and_then(Option::as_ref).map(|it| it.path().join(name(entry)));
        elsewhere
            .filter(|path| path.exists())
            .unwrap_or_else(|| self.archive.path(&format!("{}/{}", layout::SEGMENTS, name(entry))))
    }
}

fn opened(path: &Path, entry: &SegmentEntry, key: &CacheKey) -> Result<CacheFile, SegmentError> {
    CacheFile::open(path, &entry.sha256, key).ok_or_else(forgotten)
}

fn forgotten() -> SegmentError {
    SegmentError::Io(io::Error::other("its cache cannot be read back"))
}

/// The name of a segment's cache.
fn name(entry: &SegmentEntry) -> String {
    let file = entry.file.rsplit('/').next().unwrap_or(&entry.file);
    format!("{}{}", file.trim_end_matches(".jsonl.zst"), layout::CACHE_ENDING)
}

/// The cache of a segment, whose bytes must be those that the manifest names: a cache is known by that hash.
fn cache_of(segment: &Segment, entry: &SegmentEntry, key: &CacheKey) -> Result<Vec<u8>, SegmentError> {
    let mut builder = Builder::new(segment);
    let mut frames = segment.frames()?;
    while let Some(frame) = frames.next_frame()? {
        for (position, event_bytes) in frame.events() {
            match Envelope::read(event_bytes) {
                Ok(envelope) => drop(builder.take(position, &envelope, event_bytes)),
                Err(error) => builder.unreadable(position, &error),
            }
        }
    }
    let found = frames.finish()?;
    if found != entry.sha256 {
        let problem = format!("its SHA-256 is {found}, the manifest says {}", entry.sha256);
        return Err(SegmentError::Malformed(problem));
    }
    Ok(file::encode(&entry.sha256, &builder.finish(), key))
}
