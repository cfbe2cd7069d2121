//! The bytes around the compressed events.
//!
//! ```text
//! Zstandard frame           256 events, each with a line feed behind it; the last may have fewer
//! ...
//! skippable frame 184D2A51  2 bytes index of an event in the segment, 32 bytes hash before it; repeated
//! skippable frame 184D2A50  the header: canonical JSON
//! skippable frame 184D2A5E  the seek table of the seekable format, an entry for each frame above
//! ```

use bpc_core::Hash;
use bpc_core::canonical::to_canonical;
use bpc_core::envelope::EVENT_BYTES_MAX;
use serde::{Deserialize, Serialize};

use super::error::SegmentError;

/// Name of this format. It changes only together with the rules.
pub const FORMAT: &str = "BPC-SEGMENT-1";
/// Events in a full segment: the leaves below one hash of a tile of level 2.
pub const EVENTS_PER_SEGMENT: u64 = 65_536;
/// Events in a full frame: the leaves of one tile of level 0.
pub const EVENTS_PER_FRAME: usize = 256;

/// Positions are integers of canonical JSON.
const POSITION_MAX: u64 = (1 << 53) - 1;
/// The most that a frame may hold. What says more is not decompressed.
pub(super) const FRAME_BYTES_MAX: usize = EVENTS_PER_FRAME * (EVENT_BYTES_MAX + 1);
pub(super) const HEADER_FRAME: u32 = 0x184D_2A50;
pub(super) const PREVIOUS_FRAME: u32 = 0x184D_2A51;
const SEEK_TABLE_FRAME: u32 = 0x184D_2A5E;
const SEEKABLE_MAGIC: u32 = 0x8F92_EAB1;
/// Magic number and length.
pub(super) const SKIPPABLE_START: usize = 8;
/// Number of frames, descriptor, magic number.
pub(super) const SEEK_TABLE_END: usize = 9;
/// Compressed and decompressed size.
const SEEK_ENTRY: usize = 8;
/// Index and hash.
pub(super) const PREVIOUS_ENTRY: usize = 34;

/// What a segment says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// How many events.
    pub events: u64,
    /// Position of the first.
    pub first: u64,
    /// [`FORMAT`].
    pub format: String,
}

impl Header {
    pub(super) fn write(&self) -> Vec<u8> {
        to_canonical(self).expect("integers within 2^53 and strings").as_bytes().to_vec()
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Header, SegmentError> {
        let header: Header = serde_json::from_slice(bytes)
            .map_err(|error| SegmentError::Malformed(format!("its header is not readable: {error}")))?;
        if header.format != FORMAT {
            return Err(SegmentError::Malformed(format!("its format is {:?}, not {FORMAT}", header.format)));
        }
        if header.events == 0
            || header.events > EVENTS_PER_SEGMENT
            || !header.first.is_multiple_of(EVENTS_PER_SEGMENT)
            || header.first > POSITION_MAX
        {
            let Header { events, first, .. } = header;
            let extent = format!("{events} events from position {first} on are no segment");
            return Err(SegmentError::Malformed(extent));
        }
        Ok(header)
    }

    /// How many frames of events.
    pub(super) fn frames(&self) -> usize {
        (self.events as usize).div_ceil(EVENTS_PER_FRAME)
    }
}

/// Sizes of one frame, skippable ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) compressed: u32,
    pub(super) raw: u32,
}

/// A frame that decompressors skip.
pub(super) fn skippable(magic: u32, content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(SKIPPABLE_START + content.len());
    frame.extend_from_slice(&magic.to_le_bytes());
    frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
    frame.extend_from_slice(content);
    frame
}

/// What a skippable frame holds.
pub(super) fn skipped(magic: u32, frame: &[u8]) -> Result<&[u8], SegmentError> {
    let (start, content) = frame.split_at_checked(SKIPPABLE_START).unwrap_or((frame, &[]));
    let expected = [magic.to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
    if start == expected {
        Ok(content)
    } else {
        Err(SegmentError::Malformed(format!("there is no frame {magic:08X} where one belongs")))
    }
}

/// The seek table of the seekable format, without checksums.
pub(super) fn seek_table(frames: &[Sizes]) -> Vec<u8> {
    let mut content = Vec::with_capacity(frames.len() * SEEK_ENTRY + SEEK_TABLE_END);
    for sizes in frames {
        content.extend_from_slice(&sizes.compressed.to_le_bytes());
        content.extend_from_slice(&sizes.raw.to_le_bytes());
    }
    content.extend_from_slice(&(frames.len() as u32).to_le_bytes());
    content.push(0);
    content.extend_from_slice(&SEEKABLE_MAGIC.to_le_bytes());
    skippable(SEEK_TABLE_FRAME, &content)
}

/// Length of the seek table, from the last [`SEEK_TABLE_END`] bytes of a file.
pub(super) fn seek_table_len(end: &[u8; SEEK_TABLE_END]) -> Result<usize, SegmentError> {
    let [a, b, c, d, descriptor, magic @ ..] = *end;
    // The frames of events and the two behind them.
    let frames = u32::from_le_bytes([a, b, c, d]) as usize;
    let frames_max = EVENTS_PER_SEGMENT as usize / EVENTS_PER_FRAME + 2;
    if magic != SEEKABLE_MAGIC.to_le_bytes() || descriptor != 0 || !(3..=frames_max).contains(&frames) {
        return Err(SegmentError::Malformed("it does not end with a seek table".to_owned()));
    }
    Ok(SKIPPABLE_START + frames * SEEK_ENTRY + SEEK_TABLE_END)
}

/// The sizes in a seek table.
pub(super) fn seek_entries(table: &[u8]) -> Result<Vec<Sizes>, SegmentError> {
    let content = skipped(SEEK_TABLE_FRAME, table)?;
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
    let entries = content[..content.len() - SEEK_TABLE_END].chunks_exact(SEEK_ENTRY);
    Ok(entries.map(|entry| Sizes { compressed: number(&entry[..4]), raw: number(&entry[4..]) }).collect())
}

/// Hashes before events, by index in the segment.
pub(super) fn previous_entries(content: &[u8]) -> Result<Vec<(u16, Hash)>, SegmentError> {
    let malformed = |what: &str| SegmentError::Malformed(format!("its previous hashes are {what}"));
    if !content.len().is_multiple_of(PREVIOUS_ENTRY) {
        return Err(malformed("cut off"));
    }
    let entry = |entry: &[u8]| {
        let (index, hash) = entry.split_at(2);
        (u16::from_le_bytes([index[0], index[1]]), Hash::from_slice(hash).expect("32 bytes"))
    };
    let entries: Vec<_> = content.chunks_exact(PREVIOUS_ENTRY).map(entry).collect();
    if entries.is_sorted_by(|(a, _), (b, _)| a < b) { Ok(entries) } else { Err(malformed("out of order")) }
}
