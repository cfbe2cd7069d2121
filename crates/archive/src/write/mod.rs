//! Writing an archive: events are added in sealed order, and become part of it with a checkpoint.

mod open_segment;
mod sweep;

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use bpc_core::merkle::{Tree, event_leaf};
use bpc_core::note::{Checkpoint, SignedNote};
use bpc_core::tile::TileId;
use bpc_core::{Envelope, Hash, StreamId, Version, chain_hash};

use crate::archive::Archive;
use crate::durable::Durable;
use crate::error::{ArchiveError, NoteProblem};
use crate::layout;
use crate::manifest::{BlobList, Manifest, SegmentEntry};
use crate::segment::EVENTS_PER_SEGMENT;

use open_segment::OpenSegment;

/// The one writer of a directory. What was not committed is not part of the archive, and a later run
/// takes it away.
pub struct ArchiveWriter {
    directory: PathBuf,
    /// Held as long as this lives, and let go of by the system if the process dies.
    _lock: File,
    durable: Durable,
    /// As it is on disk.
    manifest: Manifest,
    /// Over the finished segments and what was committed of the open one.
    tree: Tree,
    finished: Vec<SegmentEntry>,
    open: Option<OpenSegment>,
}

/// An event of the sealed order. Everything but the bytes is what the source says, and is checked.
#[derive(Clone, Copy, Debug)]
pub struct SealedBytes<'a> {
    /// Its place in the sealed order.
    pub position: u64,
    /// Its stream.
    pub stream_id: StreamId,
    /// Its place there.
    pub version: Version,
    /// `SHA-256(prev_hash || event_bytes)`.
    pub event_hash: Hash,
    /// The record.
    pub event_bytes: &'a [u8],
}

/// What a commit adds besides events.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    /// The signed note over all events so far.
    pub note: &'a str,
    /// Older notes to keep, with their sizes: one per segment boundary is enough.
    pub older: &'a [(u64, String)],
    /// The keys of the log, as C2SP writes them.
    pub keys: &'a [String],
}

impl ArchiveWriter {
    /// Open a directory, or make one. Whatever a run that was broken off has left is taken away.
    pub fn open(directory: &Path) -> Result<ArchiveWriter, ArchiveError> {
        std::fs::create_dir_all(directory).map_err(ArchiveError::io("create", directory))?;
        let lock = lock(directory)?;
        let (manifest, tree) = match Archive::open(directory) {
            Ok(archive) => {
                let tree = load_tree(&archive)?;
                (archive.manifest().clone(), tree)
            }
            Err(ArchiveError::Missing(_)) => (Manifest::empty(), Tree::new()),
            Err(error) => return Err(error),
        };
        sweep::sweep(directory, &manifest).map_err(ArchiveError::io("clean", directory))?;
        Ok(ArchiveWriter {
            directory: directory.to_owned(),
            _lock: lock,
            durable: Durable::default(),
            manifest,
            tree,
            finished: Vec::new(),
            open: None,
        })
    }

    /// What is committed.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Root over what is committed.
    pub fn root(&self) -> Hash {
        self.tree.root()
    }

    /// Position of the next event.
    pub fn position(&self) -> u64 {
        self.tree.size() + self.open.as_ref().map_or(0, |open| open.leaves.len() as u64)
    }

    /// How many events the segment at hand still takes. A page of events ends there.
    pub fn room(&self) -> u64 {
        EVENTS_PER_SEGMENT - self.position() % EVENTS_PER_SEGMENT
    }

    /// The events before those of a page that are not in the segment at hand: their hashes have to be
    /// given to [`ArchiveWriter::push`].
    pub fn unknown_before(
        &mut self,
        page: &[SealedBytes<'_>],
    ) -> Result<Vec<(StreamId, Version)>, ArchiveError> {
        let open = self.open_segment()?;
        let mut seen = HashSet::new();
        let is_unknown = |event: &&SealedBytes<'_>| {
            seen.insert(event.stream_id) && event.version.0 > 1 && open.head(event.stream_id).is_none()
        };
        let before = |event: &SealedBytes<'_>| (event.stream_id, Version(event.version.0 - 1));
        Ok(page.iter().filter(is_unknown).map(before).collect())
    }

    /// Add the next event. `previous` is the hash of the event before it in its stream, if that one is not
    /// in the segment at hand. The event is checked against its hash and its place.
    pub fn push(&mut self, event: &SealedBytes<'_>, previous: Option<&Hash>) -> Result<(), ArchiveError> {
        let position = self.position();
        let damaged = |reason: String| ArchiveError::Event { position, reason };
        let envelope = Envelope::read(event.event_bytes).map_err(|error| damaged(error.to_string()))?;
        if (event.position, event.stream_id, event.version)
            != (position, envelope.stream_id, envelope.version)
        {
            let (stream, version) = (envelope.stream_id, envelope.version);
            return Err(damaged(format!("it says it is version {version} of stream {stream}")));
        }
        let open = self.open_segment()?;
        let (before, is_claimed) = match (open.head(event.stream_id), previous) {
            (Some(head), _) if head.version.next() == event.version => (head.hash, false),
            (Some(head), _) => {
                return Err(damaged(format!("version {} stands before it", head.version)));
            }
            (None, _) if event.version == Version(1) => (Hash::ZERO, false),
            (None, Some(hash)) => (*hash, true),
            (None, None) => return Err(damaged("the event before it is missing".to_owned())),
        };
        if chain_hash(&before, event.event_bytes) != event.event_hash {
            return Err(damaged(
                "its hash does not cover these bytes behind the event before them".to_owned(),
            ));
        }
        let leaf = event_leaf(&envelope.stream_type, event.stream_id, event.version, &event.event_hash);
        open.push(event, is_claimed.then_some(&before), leaf)?;
        if open.is_full() { self.end_segment().map(|entry| self.finished.push(entry)) } else { Ok(()) }
    }

    /// Make everything so far part of the archive; durable when it returns. The note must be over just
    /// these events.
    pub fn commit(&mut self, commit: Commit<'_>, blobs: Option<BlobList>) -> Result<(), ArchiveError> {
        let partial = self.open.as_ref().filter(|open| !open.leaves.is_empty()).is_some();
        let partial = if partial { Some(self.end_segment()?) } else { None };
        let checkpoint = self.matching(commit.note)?;

        let mut manifest = self.manifest.clone();
        if !self.finished.is_empty() || partial.is_some() {
            manifest.segments.retain(SegmentEntry::is_full);
        }
        manifest.segments.append(&mut self.finished);
        manifest.segments.extend(partial);
        manifest.size = checkpoint.size;
        manifest.origin = checkpoint.origin;
        manifest.keys = commit.keys.to_vec();
        manifest.blobs = blobs;
        let older = commit.older.iter().map(|(size, note)| (*size, note.as_str()));
        for (size, note) in older.chain([(checkpoint.size, commit.note)]) {
            self.write(&layout::checkpoint_file(size), note.as_bytes())?;
            if let Err(at) = manifest.checkpoints.binary_search(&size) {
                manifest.checkpoints.insert(at, size);
            }
        }
        keep_boundaries(&mut manifest);

        // If we were to crash before the manifest has its name, the archive would be as it was; behind
        // that, as it is now. What is no longer needed stays for those who read the old manifest, until
        // the next run.
        self.sync_names()?;
        self.write(layout::MANIFEST, &manifest.to_bytes())?;
        self.write(layout::CHECKPOINT, commit.note.as_bytes())?;
        self.sync_names()?;
        self.manifest = manifest;
        Ok(())
    }

    /// For tests: let the durable write after so many others fail, with or without having done its work.
    pub fn fail_after(&mut self, writes: u64, is_persisted: bool) {
        self.durable.fail_after(writes, is_persisted);
    }

    /// Write a file of the archive, durable with the next commit.
    pub(crate) fn write(&mut self, file: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        let path = self.directory.join(file);
        self.durable.write(&path, bytes).map_err(ArchiveError::io("write", &path))
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn sync_names(&mut self) -> Result<(), ArchiveError> {
        self.durable.sync_names().map_err(ArchiveError::io("sync", &self.directory))
    }

    /// What the note says, if it is over these events.
    fn matching(&self, note: &str) -> Result<Checkpoint, ArchiveError> {
        let read = || -> Result<Checkpoint, NoteProblem> {
            let checkpoint = Checkpoint::parse(&SignedNote::parse(note.as_bytes())?.text)?;
            match (checkpoint.size, self.tree.size()) {
                (found, expected) if found != expected => Err(NoteProblem::Size { expected, found }),
                _ => Ok(checkpoint),
            }
        };
        let name = "the checkpoint of the log".to_owned();
        let checkpoint = read().map_err(|source| ArchiveError::Note { name, source })?;
        let (size, found, signed) = (checkpoint.size, self.tree.root(), checkpoint.root);
        if found == signed { Ok(checkpoint) } else { Err(ArchiveError::RootMismatch { size, signed, found }) }
    }

    /// The segment at hand: a new one, or one that goes on from what was committed of it.
    fn open_segment(&mut self) -> Result<&mut OpenSegment, ArchiveError> {
        if self.open.is_none() {
            let position = self.tree.size();
            let first = position - position % EVENTS_PER_SEGMENT;
            let partial =
                self.manifest.segments.last().filter(|entry| entry.first == first && !entry.is_full());
            self.open = Some(OpenSegment::begin(&self.directory, &mut self.durable, first, partial)?);
        }
        Ok(self.open.as_mut().expect("opened just now"))
    }

    /// Finish the segment at hand and write the tiles over it.
    fn end_segment(&mut self) -> Result<SegmentEntry, ArchiveError> {
        let mut open = self.open.take().expect("only a segment that was begun is ended");
        for tile in self.tree.extend(open.leaves.drain(..)) {
            self.write(&tile.id.to_string(), &tile.bytes)?;
        }
        open.finish(&self.directory, &mut self.durable)
    }
}

/// Of the checkpoints between two segment boundaries, the first is kept, and the newest of all.
fn keep_boundaries(manifest: &mut Manifest) {
    let mut covered = 0;
    let newest = manifest.size;
    manifest.checkpoints.retain(|size| {
        let full = size / EVENTS_PER_SEGMENT;
        let is_first = full > covered;
        covered = covered.max(full);
        is_first || *size == newest
    });
}

fn lock(directory: &Path) -> Result<File, ArchiveError> {
    let path = directory.join(layout::LOCK);
    let file = File::create(&path).map_err(ArchiveError::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ArchiveError::Locked(directory.to_owned())),
        Err(TryLockError::Error(error)) => Err(ArchiveError::io("lock", &path)(error)),
    }
}

/// The right edge of the tree that the newest checkpoint is over.
fn load_tree(archive: &Archive) -> Result<Tree, ArchiveError> {
    let Checkpoint { size, root, .. } = archive.newest_checkpoint()?;
    let tiles: Vec<(TileId, Vec<u8>)> = TileId::partial(size)
        .map(|id| archive.tile(id.level, id.index).map(|bytes| (id, bytes)))
        .collect::<Result<_, _>>()?;
    let read = |id| tiles.iter().find(|(known, _)| *known == id).map(|(_, bytes)| bytes.as_slice());
    Tree::load(size, &root, read).map_err(ArchiveError::Tiles)
}
