//! One segment by itself: file against manifest, bytes, chain, leaves against tiles.

use bpc_core::merkle::Frontier;
use bpc_core::tile::{TILE_WIDTH, hash_in};
use bpc_core::{BlobFields, Hash, StreamId};
use bpc_eventstore::seal::log_stream;
use bpc_eventstore::verify::quick::{Chainer, Runs};

use crate::archive::Archive;
use crate::manifest::SegmentEntry;
use crate::place::place;
use crate::segment::{EVENTS_PER_SEGMENT, Frame, Segment, SegmentError};

use super::blobs::Named;
use super::tiles::{LeafTile, Leaves};

/// What of a segment is wanted beside its runs.
pub(super) struct Wanted<'a> {
    /// Sizes of trees whose roots are wanted, ascending.
    pub(super) roots: &'a [u64],
    /// Which fields name blobs, if these are asked for.
    pub(super) blobs: Option<&'a BlobFields>,
    /// The log's own stream.
    own: StreamId,
}

/// What a segment says, as far as it can be read.
pub(super) struct Checked {
    /// What it has of each stream.
    pub(super) runs: Runs,
    /// The tiles of its leaves, in order.
    pub(super) tiles: Vec<LeafTile>,
    /// Events of the log's own stream, with their positions.
    pub(super) own: Vec<(u64, Vec<u8>)>,
    /// Blobs that events name.
    pub(super) named: Named,
    /// Events whose leaf was compared with the tile.
    pub(super) compared: u64,
    /// Were all of them the same?
    pub(super) is_right: bool,
    /// Why it cannot be read to its end, or is not the one that the manifest names.
    pub(super) broken: Option<SegmentError>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(roots: &'a [u64], blobs: Option<&'a BlobFields>) -> Self {
        Wanted { roots, blobs, own: log_stream() }
    }

    /// Is a root wanted of a tree that ends within a tile?
    fn ends_within(&self, tile: u64) -> bool {
        let first = tile * TILE_WIDTH;
        let next = self.roots.partition_point(|size| *size <= first);
        self.roots.get(next).is_some_and(|size| *size < first + TILE_WIDTH)
    }
}

/// Check a segment. Without `wanted` its events are chained, and that is all.
pub(super) fn check_segment(
    archive: &Archive,
    entry: &SegmentEntry,
    chainer: &mut Chainer,
    wanted: Option<&Wanted<'_>>,
) -> Checked {
    let mut checked = Checked {
        runs: Runs::default(),
        tiles: Vec::new(),
        own: Vec::new(),
        named: Named::default(),
        compared: 0,
        is_right: true,
        broken: None,
    };
    checked.broken = read(archive, entry, |frame, segment| {
        checked.take(archive, frame, segment, chainer, wanted);
    })
    .err();
    checked.runs = chainer.end();
    checked
}

/// Read all frames of a segment, whose file must be the one that the manifest names.
fn read(
    archive: &Archive,
    entry: &SegmentEntry,
    mut each: impl FnMut(Frame<'_>, &Segment),
) -> Result<(), SegmentError> {
    let segment = archive.segment(entry)?;
    let mut frames = segment.frames()?;
    while let Some(frame) = frames.next_frame()? {
        each(frame, &segment);
    }
    match frames.finish()? {
        found if found == entry.sha256 => Ok(()),
        found => Err(SegmentError::Malformed(format!(
            "its SHA-256 is {found}, the manifest says {}",
            entry.sha256
        ))),
    }
}

impl Checked {
    fn take(
        &mut self,
        archive: &Archive,
        frame: Frame<'_>,
        segment: &Segment,
        chainer: &mut Chainer,
        wanted: Option<&Wanted<'_>>,
    ) {
        let mut leaves = Vec::with_capacity(frame.len());
        let mut before = Before::of(segment, frame.first);
        let events = frame.events().map(|(position, event_bytes)| (event_bytes, before.take(position)));
        let mut positions = frame.first..;
        chainer.take(events, |event_bytes, chained| {
            let (Some(wanted), Some(position)) = (wanted, positions.next()) else { return };
            let stream = match &chained {
                Some(chained) => Some(chained.stream),
                None => place(event_bytes).map(|(stream, _)| stream),
            };
            if stream == Some(wanted.own) {
                self.own.push((position, event_bytes.to_vec()));
            }
            if let Some(fields) = wanted.blobs {
                self.named.read(fields, position, event_bytes);
            }
            leaves.push(chained.map(|chained| chained.leaf));
        });
        if let Some(wanted) = wanted {
            self.compare(archive, frame.first / TILE_WIDTH, &leaves, wanted);
        }
    }

    /// The leaves of a frame against those of its tile.
    fn compare(&mut self, archive: &Archive, index: u64, leaves: &[Option<Hash>], wanted: &Wanted<'_>) {
        let bytes = archive.leaf_tile(index);
        let stored = |at: usize| match &bytes {
            Some(bytes) => hash_in(bytes, at),
            None => Some(leaves[at].unwrap_or(Hash::ZERO)),
        };
        let mut hashes = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let stored = stored(at);
            if leaf.is_some() {
                self.compared += 1;
                self.is_right &= stored == *leaf;
            }
            hashes.extend(stored);
        }
        let is_whole = hashes.len() as u64 == TILE_WIDTH && !wanted.ends_within(index);
        let leaves = if is_whole {
            let mut tree = Frontier::new();
            tree.extend(hashes);
            Leaves::Root(tree.root())
        } else {
            Leaves::Each(hashes)
        };
        self.tiles.push(LeafTile { index, leaves, is_missing: bytes.is_none() });
    }
}

/// The hashes that a segment says stand before some of its events.
struct Before<'s> {
    rest: &'s [(u16, Hash)],
}

impl<'s> Before<'s> {
    /// Those from a position on.
    fn of(segment: &'s Segment, position: u64) -> Self {
        let all = segment.previous_entries();
        let index = (position % EVENTS_PER_SEGMENT) as u16;
        Before { rest: &all[all.partition_point(|(at, _)| *at < index)..] }
    }

    /// That of the next event, if there is one.
    fn take(&mut self, position: u64) -> Option<&'s Hash> {
        let ((at, hash), rest) = self.rest.split_first()?;
        if u64::from(*at) != position % EVENTS_PER_SEGMENT {
            return None;
        }
        self.rest = rest;
        Some(hash)
    }
}
