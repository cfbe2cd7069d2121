//! Archive directories: what is in them, step by step, and after a crash at any step.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bpc_archive::segment::EVENTS_PER_SEGMENT;
use bpc_archive::{Archive, ArchiveError, ArchiveWriter, ArchivedEvent, Commit};
use bpc_core::tile::TileId;
use bpc_core::{Hash, StreamId, merkle};
use common::{Event, Source, SyntheticLog, leaf, note, sealed, signed};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

fn events(count: usize) -> Vec<Event> {
    SyntheticLog::new(1, 300).take(count).collect()
}

#[test]
fn an_archive_holds_every_event_and_the_tiles_of_its_checkpoint() {
    let events = events(70_000);
    let scratch = TempDir::new().unwrap();
    Source::new(&events).whole(scratch.path());
    let archive = assert_sound(scratch.path(), &events);
    assert_eq!(archive.manifest().segments.len(), 2);
    assert_eq!(archive.manifest().checkpoints, [70_000]);
    let files: Vec<String> =
        files(scratch.path()).into_keys().filter(|name| name.starts_with("segments")).collect();
    assert_eq!(files, ["segments/00000000.jsonl.zst", "segments/00000001.partial-4464.jsonl.zst"]);
}

#[test]
fn archiving_in_steps_comes_to_the_same_as_at_once() {
    let events = events(66_500);
    let (steps, once) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let source = Source::new(&events);
    for size in [1, 255, 256, 257, 1000, 1000, 65_000, 65_536, 65_537, 66_000, 66_500] {
        // A new run each time, as from a timer.
        let mut writer = ArchiveWriter::open(steps.path()).unwrap();
        source.archive(&mut writer, size).unwrap();
        drop(writer);
        assert_sound(steps.path(), &events[..size]);
    }
    source.whole(once.path());
    // What was replaced is taken away by the run after.
    drop(ArchiveWriter::open(steps.path()).unwrap());
    let (mut steps, once) = (files(steps.path()), files(once.path()));
    assert_eq!(
        steps.remove("checkpoints/65536").as_deref(),
        Some(note(&events[..65_536]).as_bytes()),
        "the first checkpoint over a full segment is kept"
    );
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&steps), names(&once));
    for (name, bytes) in once {
        assert!(name == "manifest.json" || steps[&name] == bytes, "{name}");
    }
}

#[test]
fn a_run_that_is_broken_off_anywhere_is_completed_by_the_next() {
    let events = events(1300);
    let source = Source::new(&events);
    let first = TempDir::new().unwrap();
    source.archive(&mut ArchiveWriter::open(first.path()).unwrap(), 700).unwrap();
    for is_persisted in [false, true] {
        for writes in 0.. {
            let directory = TempDir::new().unwrap();
            copy(first.path(), directory.path());
            let mut writer = ArchiveWriter::open(directory.path()).unwrap();
            writer.fail_after(writes, is_persisted);
            let broken = source.archive(&mut writer, events.len());
            drop(writer);
            let held = Archive::open(directory.path()).unwrap().manifest().size as usize;
            assert!([700, events.len()].contains(&held), "{held} events after {writes} writes");
            assert_sound(directory.path(), &events[..held]);
            source.archive(&mut ArchiveWriter::open(directory.path()).unwrap(), events.len()).unwrap();
            assert_sound(directory.path(), &events);
            if broken.is_ok() {
                assert!(writes > 7, "there is more to write than {writes} files");
                break;
            }
        }
    }
}

#[test]
fn a_stream_is_had_back_with_positions_and_hashes() {
    let events = events(66_000);
    let scratch = TempDir::new().unwrap();
    Source::new(&events).whole(scratch.path());
    let archive = Archive::open(scratch.path()).unwrap();
    let last = events.last().unwrap().stream_id;
    for stream in [events[0].stream_id, events[40_000].stream_id, last] {
        let expected = events.iter().filter(|event| event.stream_id == stream).map(|event| ArchivedEvent {
            position: event.position,
            event_hash: event.event_hash,
            event_bytes: event.event_bytes.clone(),
        });
        assert_eq!(archive.stream(stream).unwrap(), expected.collect::<Vec<_>>());
    }
    assert_eq!(archive.stream(StreamId::derived("no", "such stream")).unwrap(), []);
}

#[test]
fn two_writers_do_not_share_a_directory() {
    let scratch = TempDir::new().unwrap();
    let _first = ArchiveWriter::open(scratch.path()).unwrap();
    let second = ArchiveWriter::open(scratch.path());
    assert!(matches!(&second, Err(error @ ArchiveError::Locked(_)) if error.code() == "ARCHIVE_LOCKED"));
}

#[test]
fn what_was_not_signed_does_not_become_part_of_an_archive() {
    let events = events(600);
    let source = Source::new(&events);
    let scratch = TempDir::new().unwrap();
    source.archive(&mut ArchiveWriter::open(scratch.path()).unwrap(), 300).unwrap();
    let before = files(scratch.path());

    let mut writer = ArchiveWriter::open(scratch.path()).unwrap();
    source.push(&mut writer, 600).unwrap();
    let forged = signed(600, Hash([1; 32]));
    let refused = writer.commit(Commit { note: &forged, older: &[], keys: &[] }, None);
    assert!(matches!(refused, Err(ArchiveError::RootMismatch { size: 600, .. })), "{refused:?}");
    drop(writer);
    let mut writer = ArchiveWriter::open(scratch.path()).unwrap();
    source.push(&mut writer, 600).unwrap();
    let short = note(&events[..599]);
    let refused = writer.commit(Commit { note: &short, older: &[], keys: &[] }, None);
    assert!(matches!(&refused, Err(error) if error.code() == "ARCHIVE_CHECKPOINT_INVALID"), "{refused:?}");
    drop(writer);

    assert_sound(scratch.path(), &events[..300]);
    drop(ArchiveWriter::open(scratch.path()).unwrap());
    let leftover = files(scratch.path());
    let changed: Vec<_> = leftover.iter().filter(|(name, bytes)| before.get(*name) != Some(*bytes)).collect();
    let names: Vec<&String> = changed.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["tile/0/001"], "a tile that the next run writes again");
}

#[test]
fn an_event_that_is_not_what_its_hash_says_is_refused() {
    let mut events = events(600);
    let at = events.iter().position(|event| event.version.0 == 2).unwrap();
    let sound = events[at].clone();
    type Change = fn(&mut Event);
    let changes: [(&str, Change); 4] = [
        ("does not cover", |event| event.event_hash.0[0] ^= 1),
        ("it says it is version 2", |event| event.version.0 = 3),
        ("not an event envelope", |event| {
            let text = String::from_utf8(event.event_bytes.clone()).unwrap();
            event.event_bytes = text.replace("BPC-EVENT-1", "BPC-EVENT-2").into_bytes();
        }),
        ("does not cover", |event| {
            let text = String::from_utf8(event.event_bytes.clone()).unwrap();
            event.event_bytes = text.replace("\"worker:host-1\"", "\"worker:host-2\"").into_bytes();
        }),
    ];
    for (expected, change) in changes {
        events[at] = sound.clone();
        change(&mut events[at]);
        let scratch = TempDir::new().unwrap();
        let mut writer = ArchiveWriter::open(scratch.path()).unwrap();
        let mut refused = Ok(());
        for event in &events[..=at] {
            refused = writer.push(&sealed(event), None);
            if refused.is_err() {
                assert_eq!(event.position as usize, at);
            }
        }
        let error = refused.unwrap_err();
        assert_eq!(error.code(), "ARCHIVE_EVENT_DAMAGED");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_partial_segment_that_was_changed_is_not_gone_on_with() {
    let events = events(600);
    let source = Source::new(&events);
    let scratch = TempDir::new().unwrap();
    source.archive(&mut ArchiveWriter::open(scratch.path()).unwrap(), 300).unwrap();
    let path = scratch.path().join("segments/00000000.partial-300.jsonl.zst");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut writer = ArchiveWriter::open(scratch.path()).unwrap();
    let refused = source.archive(&mut writer, 600);
    assert!(matches!(refused, Err(ArchiveError::Segment { .. })), "{refused:?}");
}

/// Everything that the manifest names is there and is what it says; tiles and checkpoints are those of
/// the events.
fn assert_sound(directory: &Path, events: &[Event]) -> Archive {
    let archive = Archive::open(directory).unwrap();
    assert_eq!(archive.manifest().size as usize, events.len());
    for entry in &archive.manifest().segments {
        let bytes = fs::read(archive.path(&entry.file)).unwrap();
        assert_eq!(entry.bytes as usize, bytes.len());
        assert_eq!(entry.sha256, Hash(Sha256::digest(&bytes).into()), "{}", entry.file);
        let segment = archive.segment(entry).unwrap();
        let mut frames = segment.frames().unwrap();
        while let Some(frame) = frames.next_frame().unwrap() {
            for (position, bytes) in frame.events() {
                assert_eq!(bytes, events[position as usize].event_bytes);
            }
        }
        assert!(entry.events == EVENTS_PER_SEGMENT || entry.last + 1 == archive.manifest().size);
    }
    let mut tree = merkle::Tree::new();
    for tile in tree.extend(events.iter().map(leaf)) {
        assert_eq!(archive.tile(tile.id.level, tile.id.index).unwrap(), tile.bytes, "{}", tile.id);
    }
    for id in TileId::all(events.len() as u64) {
        assert!(directory.join(id.to_string()).is_file(), "{id}");
    }
    for &size in &archive.manifest().checkpoints {
        assert_eq!(archive.checkpoint(size).unwrap(), note(&events[..size as usize]));
        assert_eq!(
            merkle::root(size, |level, index| archive.hash(level, index)).unwrap(),
            Hash::from_slice(&root_of(&events[..size as usize]).0).unwrap()
        );
    }
    archive
}

fn root_of(events: &[Event]) -> Hash {
    let mut tree = merkle::Frontier::new();
    tree.extend(events.iter().map(leaf));
    tree.root()
}

/// All files below a directory but the lock.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if !path.ends_with(".lock") {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in files(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}
