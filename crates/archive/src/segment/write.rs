//! Writing a segment, event by event.

use std::io::{self, Write};

use bpc_core::Hash;
use bpc_core::envelope::EVENT_BYTES_MAX;
use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;

use super::format::{
    EVENTS_PER_FRAME, EVENTS_PER_SEGMENT, FORMAT, HEADER_FRAME, Header, PREVIOUS_ENTRY, PREVIOUS_FRAME,
    Sizes, seek_table, skippable,
};

/// Measured on job events: the higher levels take up to sixteen times as long and save nothing at this
/// size of a frame.
const LEVEL: i32 = 1;

/// Writes one segment. Nothing is complete before [`SegmentWriter::finish`].
pub struct SegmentWriter<W: Write> {
    out: HashedWriter<W>,
    compressor: Compressor<'static>,
    header: Header,
    /// Events of the frame being filled.
    raw: Vec<u8>,
    raw_events: usize,
    frames: Vec<Sizes>,
    previous: Vec<u8>,
}

/// What a finished segment is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Position of the first event.
    pub first: u64,
    /// How many events.
    pub events: u64,
    /// Size of the file.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: Hash,
}

impl<W: Write> SegmentWriter<W> {
    /// A segment that begins at position `first`, which is a multiple of 65,536.
    pub fn new(out: W, first: u64) -> io::Result<Self> {
        assert!(first.is_multiple_of(EVENTS_PER_SEGMENT), "a segment begins at a multiple of its size");
        Ok(SegmentWriter {
            out: HashedWriter { out, hash: Sha256::new(), bytes: 0 },
            compressor: Compressor::new(LEVEL)?,
            header: Header { events: 0, first, format: FORMAT.to_owned() },
            raw: Vec::new(),
            raw_events: 0,
            frames: Vec::new(),
            previous: Vec::new(),
        })
    }

    /// The next event. `previous` is the hash of the event before it in its stream, given if that one is
    /// in an earlier segment.
    pub fn push(&mut self, event_bytes: &[u8], previous: Option<&Hash>) -> io::Result<()> {
        assert!(self.header.events < EVENTS_PER_SEGMENT, "the segment is full");
        // A line feed cannot stand in canonical JSON, and one too many would shift every event behind it.
        if event_bytes.len() > EVENT_BYTES_MAX || memchr::memchr(b'\n', event_bytes).is_some() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the bytes are not canonical JSON"));
        }
        if let Some(hash) = previous {
            self.previous.extend_from_slice(&(self.header.events as u16).to_le_bytes());
            self.previous.extend_from_slice(&hash.0);
        }
        self.raw.extend_from_slice(event_bytes);
        self.raw.push(b'\n');
        self.raw_events += 1;
        self.header.events += 1;
        if self.raw_events == EVENTS_PER_FRAME { self.end_frame() } else { Ok(()) }
    }

    /// How many events are in it.
    pub fn events(&self) -> u64 {
        self.header.events
    }

    /// Write what remains. The caller makes it durable.
    pub fn finish(mut self) -> io::Result<(W, Written)> {
        assert!(self.header.events > 0, "a segment is never empty");
        if self.raw_events > 0 {
            self.end_frame()?;
        }
        debug_assert!(self.previous.len().is_multiple_of(PREVIOUS_ENTRY));
        self.write_skippable(skippable(PREVIOUS_FRAME, &self.previous))?;
        self.write_skippable(skippable(HEADER_FRAME, &self.header.write()))?;
        self.out.write_all(&seek_table(&self.frames))?;
        let Header { first, events, .. } = self.header;
        let sha256 = Hash(self.out.hash.finalize().into());
        Ok((self.out.out, Written { first, events, bytes: self.out.bytes, sha256 }))
    }

    fn end_frame(&mut self) -> io::Result<()> {
        let compressed = self.compressor.compress(&self.raw)?;
        self.out.write_all(&compressed)?;
        self.frames.push(Sizes { compressed: compressed.len() as u32, raw: self.raw.len() as u32 });
        self.raw.clear();
        self.raw_events = 0;
        Ok(())
    }

    fn write_skippable(&mut self, frame: Vec<u8>) -> io::Result<()> {
        self.frames.push(Sizes { compressed: frame.len() as u32, raw: 0 });
        self.out.write_all(&frame)
    }
}

struct HashedWriter<W> {
    out: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> HashedWriter<W> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}
