//! The exact look at an archive that the quick check did not like: what is wrong, and where.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;

use bpc_core::merkle::{self, Frontier, event_leaf};
use bpc_core::tile::{TILE_WIDTH, TileId, hash_in};
use bpc_core::{Envelope, Hash, StreamId};
use bpc_projections::replay::Until;

use crate::archive::Archive;
use crate::cache::{Builder, Caches, Part};
use crate::error::ArchiveError;
use crate::fold::{FoldOptions, Objection, ObjectionKind, fold, on_all_cores};
use crate::manifest::SegmentEntry;
use crate::place::place;
use crate::segment::{Frame, SegmentError};

use super::finding::{ArchiveFinding, Findings, L1};
use super::tiles::TileCheck;

/// What the exact look counted.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) streams: u64,
    pub(super) jobs: u64,
    /// The leaves that were sealed, where the tile of level 0 has others.
    pub(super) right: BTreeMap<u64, Vec<Hash>>,
}

/// An event whose leaf is not the one in its tile.
struct Stray {
    stream_type: String,
    stream: StreamId,
    version: i64,
    found: Hash,
    expected: Hash,
}

/// Strays of one segment, and objections of all, that are kept; the others are only counted.
const STRAYS_MAX: usize = 1000;
const OBJECTIONS_MAX: usize = 100_000;
/// Tiles whose right leaves are kept, 8 KiB each.
const RIGHT_MAX: usize = 2000;

#[derive(Default)]
struct Seen {
    strays: BTreeMap<u64, Stray>,
    strays_hidden: u64,
    /// Tiles of level 0 that are wrong themselves, while the events are right.
    tiles: BTreeSet<u64>,
    right: BTreeMap<u64, Vec<Hash>>,
    broken: Vec<(usize, SegmentError)>,
}

/// Look at everything, or at the events of some streams, and report what is wrong.
pub(super) fn look(
    archive: &Archive,
    tiles: &TileCheck<'_>,
    only: Option<&HashSet<StreamId>>,
    findings: &mut Findings,
) -> Result<Counted, ArchiveError> {
    let segments = &archive.manifest().segments;
    let seen = Mutex::new(Seen::default());
    let directory = std::env::temp_dir();
    let scratch = || ArchiveError::io("write to", &directory);
    let caches = Caches::in_scratch(archive.clone()).map_err(scratch())?;
    on_all_cores(segments.len(), |number| {
        let looked = look_at(archive, &segments[number], only);
        caches.keep(number, &looked.parts)?;
        let mut seen = seen.lock().expect("nobody panics with it");
        seen.broken.extend(looked.broken.into_iter().map(|error| (number, error)));
        seen.strays.extend(looked.strays);
        seen.strays_hidden += looked.strays_hidden;
        for (index, leaves) in looked.tiles {
            seen.tiles.insert(index);
            if seen.right.len() < RIGHT_MAX {
                seen.right.insert(index, leaves);
            }
        }
        Ok(true)
    })
    .map_err(scratch())?;
    let mut seen = seen.into_inner().expect("nobody panics with it");
    seen.broken.sort_by_key(|(number, _)| *number);

    let (objections, objections_hidden, counted) =
        objections(&caches).map_err(|error| scratch()(std::io::Error::other(error)))?;
    let strayed: HashSet<StreamId> = seen.strays.values().map(|stray| stray.stream).collect();
    let is_incomplete = !seen.broken.is_empty();
    for objection in objections {
        let follows = match objection.kind {
            // One edit is one finding: what stands behind it in its stream is chained to something else.
            ObjectionKind::Chain { .. } => {
                is_incomplete || objection.stream_id.is_some_and(|stream| strayed.contains(&stream))
            }
            // And what a whole frame lacks is said of the frame.
            ObjectionKind::Version { .. } => is_incomplete,
            _ => false,
        };
        if !follows {
            findings.add(ArchiveFinding::of_objection(&objection));
        }
    }
    for (number, error) in &seen.broken {
        let position = match error {
            SegmentError::Frame { first, .. } => Some(*first),
            SegmentError::PreviousMissing { position } => Some(*position),
            _ => None,
        };
        let finding = ArchiveFinding::of_file(error.code(), &segments[*number].file, with_cause(error));
        findings.add(ArchiveFinding { position, ..finding });
    }
    report_strays(seen.strays, findings);
    report_tiles(tiles, &seen.tiles, findings);
    findings.count(seen.strays_hidden + objections_hidden);
    Ok(Counted { right: seen.right, ..counted })
}

/// Only the first of a stream: what follows it is chained to it.
fn report_strays(strays: BTreeMap<u64, Stray>, findings: &mut Findings) {
    let mut streams = HashSet::new();
    for (position, stray) in strays {
        if streams.insert(stray.stream) {
            let message = "the event that stands here is not the one that was sealed";
            findings.add(ArchiveFinding {
                stream_type: stray.stream_type,
                stream: stray.stream,
                version: Some(stray.version),
                position: Some(position),
                ..ArchiveFinding::new(L1, "LEAF_MISMATCH", message).instead(stray.expected, stray.found)
            });
        }
    }
}

fn report_tiles(tiles: &TileCheck<'_>, wrong: &BTreeSet<u64>, findings: &mut Findings) {
    let of_tile = |code: &'static str, id: TileId, message: &str| {
        let tile = id.to_string();
        ArchiveFinding { tile: Some(tile.clone()), ..ArchiveFinding::of_file(code, &tile, message) }
    };
    for id in &tiles.missing {
        findings.add(of_tile("TILE_MISSING", *id, "the tile is missing or not as long as it must be"));
    }
    let size = tiles.size();
    let mut uppers = BTreeSet::new();
    for (level, index) in &tiles.wrong {
        // A leaf tile that is wrong itself is why the hash above it is another one.
        if !(*level == 1 && wrong.contains(index)) {
            uppers.extend(TileId::holding(*level, *index, size));
        }
    }
    let leaves = wrong.iter().filter_map(|index| TileId::holding(0, index * TILE_WIDTH, size));
    for id in leaves.chain(uppers) {
        findings.add(of_tile("TILE_MISMATCH", id, "the tile holds hashes that are not those of the tree"));
    }
}

/// What came of one segment.
#[derive(Default)]
struct Looked {
    parts: Vec<Part>,
    /// What cannot be read.
    broken: Vec<SegmentError>,
    /// The first of each stream.
    strays: BTreeMap<u64, Stray>,
    strays_hidden: u64,
    strayed: HashSet<StreamId>,
    /// The right leaves of tiles that are wrong themselves.
    tiles: Vec<(u64, Vec<Hash>)>,
}

/// Chain every event of a segment as the segment says, and compare what it comes to with the tiles.
fn look_at(archive: &Archive, entry: &SegmentEntry, only: Option<&HashSet<StreamId>>) -> Looked {
    let mut looked = Looked::default();
    let segment = match archive.segment(entry) {
        Ok(segment) => segment,
        Err(error) => return Looked { parts: Part::none(), broken: vec![error], ..looked },
    };
    let mut builder = Builder::new(&segment);
    let hashed = segment.frames().and_then(|mut frames| {
        for number in 0..segment.frame_count() {
            match frames.frame(number) {
                Ok(frame) => looked.compare(archive, frame, only, &mut builder),
                Err(error) => looked.broken.push(error),
            }
        }
        frames.finish()
    });
    match hashed {
        Ok(found) if found != entry.sha256 => {
            let problem = format!("its SHA-256 is {found}, the manifest says {}", entry.sha256);
            looked.broken.push(SegmentError::Malformed(problem));
        }
        hashed => looked.broken.extend(hashed.err()),
    }
    looked.parts = builder.finish();
    looked
}

impl Looked {
    /// The events of a frame against its tile.
    fn compare(
        &mut self,
        archive: &Archive,
        frame: Frame<'_>,
        only: Option<&HashSet<StreamId>>,
        builder: &mut Builder<'_>,
    ) {
        let is_wanted = |event_bytes: &[u8]| {
            only.is_none_or(|only| place(event_bytes).is_none_or(|(stream, _)| only.contains(&stream)))
        };
        if !frame.events().any(|(_, event_bytes)| is_wanted(event_bytes)) {
            return;
        }
        let index = frame.first / TILE_WIDTH;
        let tile = archive.tile(0, index).unwrap_or_default();
        let mut leaves = Vec::with_capacity(frame.len());
        let mut strays = Vec::new();
        for (at, (position, event_bytes)) in frame.events().enumerate() {
            let stored = hash_in(&tile, at);
            if !is_wanted(event_bytes) {
                leaves.push(stored.unwrap_or(Hash::ZERO));
                continue;
            }
            let envelope = match Envelope::read(event_bytes) {
                Ok(envelope) => envelope,
                Err(error) => {
                    builder.unreadable(position, &error);
                    leaves.push(stored.unwrap_or(Hash::ZERO));
                    continue;
                }
            };
            let hash = builder.take(position, &envelope, event_bytes);
            let found = event_leaf(&envelope.stream_type, envelope.stream_id, envelope.version, &hash);
            leaves.push(found);
            if let Some(expected) = stored.filter(|expected| *expected != found) {
                let (stream_type, stream) = (envelope.stream_type.to_string(), envelope.stream_id);
                let version = envelope.version.0.into();
                strays.push((position, Stray { stream_type, stream, version, found, expected }));
            }
        }
        if strays.is_empty() {
            return;
        }
        if are_right(archive, index, &leaves) {
            self.tiles.push((index, leaves));
            return;
        }
        // Those behind the first of a stream are chained to it.
        for (position, stray) in strays {
            if !self.strayed.insert(stray.stream) {
                continue;
            }
            if self.strays.len() < STRAYS_MAX {
                self.strays.insert(position, stray);
            } else {
                self.strays_hidden += 1;
            }
        }
    }
}

/// Are these the leaves that were sealed, so that the tile is wrong? The hash above it knows, or the signed root
/// above a tile that is not full.
fn are_right(archive: &Archive, index: u64, leaves: &[Hash]) -> bool {
    if leaves.len() as u64 == TILE_WIDTH {
        let mut tree = Frontier::new();
        tree.extend(leaves.iter().copied());
        return archive.hash(1, index).is_ok_and(|above| above == tree.root());
    }
    let root = merkle::root(archive.manifest().size, |level, at| match level {
        0 if at / TILE_WIDTH == index => Ok(leaves[(at % TILE_WIDTH) as usize]),
        _ => archive.hash(level, at),
    });
    let signed = archive.newest_checkpoint();
    root.is_ok_and(|root| signed.is_ok_and(|signed| signed.root == root))
}

/// What cannot be, by position; how many there are beyond what is kept; how many streams.
fn objections(caches: &Caches) -> Result<(Vec<Objection>, u64, Counted), SegmentError> {
    let all = Mutex::new((Vec::new(), 0, Counted::default()));
    let options = FoldOptions { until: Until::Newest, goes_on: true };
    fold(caches, options, |part| {
        let mut all = all.lock().expect("nobody panics with it");
        let room = OBJECTIONS_MAX - all.0.len();
        all.1 += part.objections.len().saturating_sub(room) as u64;
        all.0.extend(part.objections.into_iter().take(room));
        all.2.streams += part.job_streams + part.other_streams;
        all.2.jobs += part.job_streams;
        true
    })?;
    let (mut objections, hidden, counted) = all.into_inner().expect("nobody panics with it");
    objections.sort_by_key(|objection: &Objection| objection.position);
    Ok((objections, hidden, counted))
}

fn with_cause(error: &SegmentError) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
