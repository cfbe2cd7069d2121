//! The segment that is being filled.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use bpc_core::{Envelope, Hash, Head, StreamId};

use crate::durable::Durable;
use crate::error::ArchiveError;
use crate::layout;
use crate::manifest::SegmentEntry;
use crate::segment::{EVENTS_PER_SEGMENT, Segment, SegmentChain, SegmentError, SegmentWriter};

use super::SealedBytes;

/// A draft on disk, and what is known of the streams in it.
pub(super) struct OpenSegment {
    writer: SegmentWriter<BufWriter<File>>,
    draft: PathBuf,
    heads: HashMap<StreamId, Head>,
    /// Leaves of the events that were not committed before.
    pub(super) leaves: Vec<Hash>,
}

impl OpenSegment {
    /// A segment that begins at `first`, with the events of `partial` in it already.
    pub(super) fn begin(
        directory: &Path,
        durable: &mut Durable,
        first: u64,
        partial: Option<&SegmentEntry>,
    ) -> Result<OpenSegment, ArchiveError> {
        // Named like the full one until it is known how far it goes.
        let name = directory.join(layout::segment_file(first, EVENTS_PER_SEGMENT));
        let draft = durable.draft(&name).map_err(ArchiveError::io("create", &name))?;
        let file = File::create(&draft).map_err(ArchiveError::io("create", &draft))?;
        let writer =
            SegmentWriter::new(BufWriter::new(file), first).map_err(ArchiveError::io("write", &draft))?;
        let mut open = OpenSegment { writer, draft, heads: HashMap::new(), leaves: Vec::new() };
        if let Some(entry) = partial {
            let copied = open.copy(&directory.join(&entry.file), entry.sha256);
            copied.map_err(|source| ArchiveError::Segment { file: entry.file.clone(), source })?;
        }
        Ok(open)
    }

    /// The newest event of a stream in this segment.
    pub(super) fn head(&self, stream: StreamId) -> Option<&Head> {
        self.heads.get(&stream)
    }

    pub(super) fn is_full(&self) -> bool {
        self.writer.events() == EVENTS_PER_SEGMENT
    }

    /// Add an event; `previous` if the event before it is not in this segment.
    pub(super) fn push(
        &mut self,
        event: &SealedBytes<'_>,
        previous: Option<&Hash>,
        leaf: Hash,
    ) -> Result<(), ArchiveError> {
        self.writer.push(event.event_bytes, previous).map_err(ArchiveError::io("write", &self.draft))?;
        self.heads.insert(event.stream_id, Head { version: event.version, hash: event.event_hash });
        self.leaves.push(leaf);
        Ok(())
    }

    /// Give it its name.
    pub(super) fn finish(
        self,
        directory: &Path,
        durable: &mut Durable,
    ) -> Result<SegmentEntry, ArchiveError> {
        let failed = || ArchiveError::io("write", &self.draft);
        let (out, written) = self.writer.finish().map_err(failed())?;
        let file = out.into_inner().map_err(|error| failed()(error.into_error()))?;
        let entry = SegmentEntry::of(&written);
        durable.publish(&file, &self.draft, &directory.join(&entry.file)).map_err(failed())?;
        Ok(entry)
    }

    /// Take over what an earlier run wrote, if it is what that run wrote.
    fn copy(&mut self, path: &Path, sha256: Hash) -> Result<(), SegmentError> {
        let segment = Segment::open(path)?;
        let mut chain = SegmentChain::new(&segment);
        let mut frames = segment.frames()?;
        while let Some(frame) = frames.next_frame()? {
            for (position, event_bytes) in frame.events() {
                let envelope = Envelope::read(event_bytes).map_err(|error| {
                    SegmentError::Malformed(format!("the event at position {position}: {error}"))
                })?;
                let (stream, version) = (envelope.stream_id, envelope.version);
                let link = chain.link(position, stream, version, event_bytes)?;
                self.writer.push(event_bytes, link.is_claimed.then_some(&link.previous))?;
                self.heads.insert(stream, Head { version, hash: link.hash });
            }
        }
        match frames.finish()? {
            found if found == sha256 => Ok(()),
            found => {
                Err(SegmentError::Malformed(format!("its SHA-256 is {found}, the manifest says {sha256}")))
            }
        }
    }
}
