//! Reading a segment. Its bytes are anybody's: nothing in them is believed before it was checked.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bpc_core::Hash;
use sha2::{Digest, Sha256};
use zstd::bulk::Decompressor;

use super::error::SegmentError;
use super::format::{
    EVENTS_PER_FRAME, FRAME_BYTES_MAX, HEADER_FRAME, Header, PREVIOUS_FRAME, SEEK_TABLE_END, Sizes,
    previous_entries, seek_entries, seek_table_len, skipped,
};
use super::frame::Frame;

/// An open segment. Its extents agree with the length of the file; its events are not looked at yet.
#[derive(Debug)]
pub struct Segment {
    file: File,
    header: Header,
    frames: Vec<Extent>,
    /// Hash before an event, by its index in the segment.
    previous: Vec<(u16, Hash)>,
    /// Where the events end and what else there is begins.
    events_end: u64,
    len: u64,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    offset: u64,
    sizes: Sizes,
}

impl Segment {
    /// Open a file and read what stands behind its events.
    pub fn open(path: &Path) -> Result<Segment, SegmentError> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        let mut end = [0; SEEK_TABLE_END];
        let too_short = || SegmentError::Malformed("it is too short".to_owned());
        file.read_exact_at(&mut end, len.checked_sub(SEEK_TABLE_END as u64).ok_or_else(too_short)?)?;
        let table_len = seek_table_len(&end)?;
        let table_offset = len.checked_sub(table_len as u64).ok_or_else(too_short)?;
        let mut table = vec![0; table_len];
        file.read_exact_at(&mut table, table_offset)?;

        let mut frames = Vec::new();
        let mut offset = 0;
        for sizes in seek_entries(&table)? {
            frames.push(Extent { offset, sizes });
            offset += u64::from(sizes.compressed);
        }
        if offset != table_offset {
            return Err(SegmentError::Malformed("its frames do not fill it".to_owned()));
        }
        let header = Header::read(&skippable_at(&file, HEADER_FRAME, frames.pop())?)?;
        let previous = frames.pop();
        let events_end = previous.map_or(0, |extent| extent.offset);
        let previous = previous_entries(&skippable_at(&file, PREVIOUS_FRAME, previous)?)?;
        if frames.len() != header.frames() {
            return Err(SegmentError::Malformed("it has too few or too many frames".to_owned()));
        }
        if previous.last().is_some_and(|(index, _)| u64::from(*index) >= header.events) {
            return Err(SegmentError::Malformed("a previous hash belongs to no event".to_owned()));
        }
        Ok(Segment { file, header, frames, previous, events_end, len })
    }

    /// What it says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes of the file.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The hash before an event whose predecessor is in an earlier segment.
    pub fn previous(&self, index: u16) -> Option<&Hash> {
        self.previous.binary_search_by_key(&index, |(index, _)| *index).ok().map(|at| &self.previous[at].1)
    }

    /// All of them, by index in the segment, ascending.
    pub fn previous_entries(&self) -> &[(u16, Hash)] {
        &self.previous
    }

    /// How many frames.
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// A reader of its frames, with room of its own.
    pub fn frames(&self) -> Result<Frames<'_>, SegmentError> {
        Ok(Frames {
            segment: self,
            decompressor: Decompressor::new()?,
            compressed: Vec::new(),
            raw: Vec::new(),
            ends: Vec::new(),
            next: 0,
            hash: Sha256::new(),
        })
    }
}

/// Reads frames, one at a time, and hashes the file on the way.
pub struct Frames<'s> {
    segment: &'s Segment,
    decompressor: Decompressor<'static>,
    compressed: Vec<u8>,
    raw: Vec<u8>,
    ends: Vec<u32>,
    next: usize,
    hash: Sha256,
}

impl Frames<'_> {
    /// The next frame; `None` behind the last one.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, SegmentError> {
        let index = self.next;
        if index == self.segment.frames.len() {
            return Ok(None);
        }
        self.next += 1;
        self.read(index)?;
        self.hash.update(&self.compressed);
        self.decompress(index).map(Some)
    }

    /// Any frame, without a part in the hash.
    pub fn frame(&mut self, index: usize) -> Result<Frame<'_>, SegmentError> {
        self.read(index)?;
        self.decompress(index)
    }

    /// SHA-256 of the whole file, of the very bytes that were decompressed. Frames not read yet, or not
    /// decompressed, are part of it all the same.
    pub fn finish(mut self) -> Result<Hash, SegmentError> {
        while self.next < self.segment.frames.len() {
            self.read(self.next)?;
            self.hash.update(&self.compressed);
            self.next += 1;
        }
        let Segment { file, events_end, len, .. } = self.segment;
        self.compressed.resize((len - events_end) as usize, 0);
        file.read_exact_at(&mut self.compressed, *events_end)?;
        self.hash.update(&self.compressed);
        Ok(Hash(self.hash.finalize().into()))
    }

    fn read(&mut self, index: usize) -> Result<(), SegmentError> {
        let Extent { offset, sizes } = self.segment.frames[index];
        self.compressed.resize(sizes.compressed as usize, 0);
        Ok(self.segment.file.read_exact_at(&mut self.compressed, offset)?)
    }

    fn decompress(&mut self, index: usize) -> Result<Frame<'_>, SegmentError> {
        let Header { first, events, .. } = self.segment.header;
        let start = index * EVENTS_PER_FRAME;
        let count = EVENTS_PER_FRAME.min(events as usize - start);
        let first = first + start as u64;
        let damaged = |reason| SegmentError::Frame { first, last: first + count as u64 - 1, reason };

        let expected = self.segment.frames[index].sizes.raw as usize;
        if expected > FRAME_BYTES_MAX {
            return Err(damaged(format!("{expected} bytes are too many for a frame")));
        }
        self.raw.clear();
        self.raw.reserve(expected);
        match self.decompressor.decompress_to_buffer(&self.compressed, &mut self.raw) {
            Ok(found) if found == expected => {}
            Ok(found) => return Err(damaged(format!("{found} bytes came out, {expected} should"))),
            Err(error) => return Err(damaged(format!("it does not decompress: {error}"))),
        }
        Frame::cut(first, &self.raw, count, &mut self.ends).map_err(damaged)
    }
}

fn skippable_at(file: &File, magic: u32, extent: Option<Extent>) -> Result<Vec<u8>, SegmentError> {
    let Extent { offset, sizes } = extent.expect("a seek table names at least three frames");
    let mut frame = vec![0; sizes.compressed as usize];
    file.read_exact_at(&mut frame, offset)?;
    Ok(skipped(magic, &frame)?.to_vec())
}
