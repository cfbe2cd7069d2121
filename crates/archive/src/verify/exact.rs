//! The exact look at an archive that the quick check did not like: what is wrong, and where.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;

use bpc_core::merkle::{self, Frontier, event_leaf};
use bpc_core::tile::{TILE_WIDTH, TileId, hash_in};
use bpc_core::{Envelope, Hash, StreamId};
use bpc_projections::replay::Until;

use crate::archive::Archive;
use crate::cache::{Builder, Caches, Part};
use crate::fold::{FoldOptions, Objection, ObjectionKind, fold, on_all_cores};
use crate::manifest::SegmentEntry;
use crate::segment::{Frame, SegmentError};

use super::finding::{ArchiveFinding, Findings, L1};
use super::place::place;
use super::tiles::TileCheck;

/// What the exact look counted.
pub(super) struct Counted {
    pub(super) streams: u64,
    pub(super) jobs: u64,
}

/// An event whose leaf is not the one in its tile.
struct Stray {
    stream_type: String,
    stream: StreamId,
    version: i64,
    found: Hash,
    expected: Hash,
}

#[derive(Default)]
struct Seen {
    strays: BTreeMap<u64, Stray>,
    /// Tiles of level 0 that are wrong themselves, while the events are right.
    tiles: BTreeSet<u64>,
    broken: Vec<(usize, SegmentError)>,
}

/// Look at everything, or at the events of some streams, and report what is wrong.
pub(super) fn look(
    archive: &Archive,
    tiles: &TileCheck<'_>,
    only: Option<&HashSet<StreamId>>,
    findings: &mut Findings,
) -> Counted {
    let segments = &archive.manifest().segments;
    let seen = Mutex::new(Seen::default());
    let caches = Caches::in_scratch(archive.clone());
    let _ = on_all_cores::<()>(segments.len(), |number| {
        let broken = look_at(archive, &segments[number], only, &seen, |parts| caches.keep(number, &parts));
        let broken = broken.into_iter().map(|error| (number, error));
        seen.lock().expect("nobody panics with it").broken.extend(broken);
        Ok(true)
    });
    let mut seen = seen.into_inner().expect("nobody panics with it");
    seen.broken.sort_by_key(|(number, _)| *number);

    let (objections, counted) = objections(&caches);
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
    counted
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

/// Chain every event of a segment as the segment says, and compare what it comes to with the tiles. Returns what
/// cannot be read.
fn look_at(
    archive: &Archive,
    entry: &SegmentEntry,
    only: Option<&HashSet<StreamId>>,
    seen: &Mutex<Seen>,
    keep: impl FnOnce(Vec<Part>) -> Result<(), SegmentError>,
) -> Vec<SegmentError> {
    let segment = match archive.segment(entry) {
        Ok(segment) => segment,
        Err(error) => return [Some(error), keep(Part::none()).err()].into_iter().flatten().collect(),
    };
    let mut broken = Vec::new();
    let mut builder = Builder::new(&segment);
    let looked = segment.frames().and_then(|mut frames| {
        for number in 0..segment.frame_count() {
            match frames.frame(number) {
                Ok(frame) => compare(archive, frame, only, &mut builder, seen),
                Err(error) => broken.push(error),
            }
        }
        frames.finish()
    });
    match looked {
        Ok(found) if found != entry.sha256 => {
            let problem = format!("its SHA-256 is {found}, the manifest says {}", entry.sha256);
            broken.push(SegmentError::Malformed(problem));
        }
        looked => broken.extend(looked.err()),
    }
    broken.extend(keep(builder.finish()).err());
    broken
}

/// The events of a frame against its tile.
fn compare(
    archive: &Archive,
    frame: Frame<'_>,
    only: Option<&HashSet<StreamId>>,
    builder: &mut Builder<'_>,
    seen: &Mutex<Seen>,
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
    let mut seen = seen.lock().expect("nobody panics with it");
    if are_right(archive, index, &leaves) {
        seen.tiles.insert(index);
    } else {
        seen.strays.extend(strays);
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

fn objections(caches: &Caches) -> (Vec<Objection>, Counted) {
    let all = Mutex::new((Vec::new(), Counted { streams: 0, jobs: 0 }));
    let options = FoldOptions { until: Until::Newest, goes_on: true };
    let folded = fold(caches, options, |part| {
        let mut all = all.lock().expect("nobody panics with it");
        all.0.extend(part.objections);
        all.1.streams += part.job_streams + part.other_streams;
        all.1.jobs += part.job_streams;
        true
    });
    // Caches that cannot be had belong to segments that are findings already.
    let _ = folded;
    let (mut objections, counted) = all.into_inner().expect("nobody panics with it");
    objections.sort_by_key(|objection: &Objection| objection.position);
    (objections, counted)
}

fn with_cause(error: &SegmentError) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
