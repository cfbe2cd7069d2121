//! Archives that were tampered with: each is found, and where. The list reads as what can be done to a directory.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use bpc_archive::segment::SegmentWriter;
use bpc_archive::{Archive, ArchiveFinding, ArchiveVerifyReport, ArchiveWriter, Manifest, verify_archive};
use bpc_core::merkle::Tree;
use bpc_core::{BlobFields, Envelope, Hash, Version, chain_hash};
use bpc_eventstore::verify::{KeptCheckpoint, VerifyOptions};
use common::{Event, Source, SyntheticLog, leaf, note, signed, signer};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const COUNT: usize = 1300;

/// An archive of a log that a test may tamper with.
struct Bench {
    directory: TempDir,
    events: Vec<Event>,
}

impl Bench {
    fn new() -> Bench {
        let events: Vec<Event> = SyntheticLog::new(11, 60).take(COUNT).collect();
        let directory = TempDir::new().unwrap();
        Source::new(&events).whole(directory.path());
        Bench { directory, events }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn manifest(&self) -> Manifest {
        Archive::open(self.path()).unwrap().manifest().clone()
    }

    fn segment_path(&self) -> PathBuf {
        self.path().join(&self.manifest().segments[0].file)
    }

    /// A manifest that names what is there.
    fn mend_manifest(&self) {
        let mut manifest = self.manifest();
        for entry in &mut manifest.segments {
            let bytes = fs::read(self.path().join(&entry.file)).unwrap();
            entry.sha256 = Hash(Sha256::digest(&bytes).into());
            entry.bytes = bytes.len() as u64;
        }
        fs::write(self.path().join("manifest.json"), manifest.to_bytes()).unwrap();
    }

    /// Other events in the one segment, with a manifest to match.
    fn rewrite(&self, events: &[Event]) {
        let mut writer = SegmentWriter::new(Vec::new(), 0).unwrap();
        events.iter().for_each(|event| writer.push(&event.event_bytes, None).unwrap());
        let (bytes, _) = writer.finish().unwrap();
        fs::write(self.segment_path(), bytes).unwrap();
        self.mend_manifest();
    }

    /// Tiles over these events.
    fn retile(&self, events: &[Event]) {
        for tile in Tree::new().extend(events.iter().map(leaf)) {
            fs::write(self.path().join(tile.id.to_string()), tile.bytes).unwrap();
        }
    }

    fn verify(&self) -> ArchiveVerifyReport {
        verify(self.path(), &VerifyOptions::default())
    }

    /// What was found, in short.
    fn found(&self) -> Vec<(String, Option<u64>)> {
        let code = |finding: &ArchiveFinding| (finding.code.to_string(), finding.position);
        self.verify().findings.iter().map(code).collect()
    }

    /// An event in the middle of a stream that goes on.
    fn middle(&self) -> usize {
        let goes_on = |event: &Event| {
            let follower =
                |later: &Event| later.stream_id == event.stream_id && later.version == event.version.next();
            event.version == Version(2) && self.events.iter().any(follower)
        };
        self.events.iter().position(|event| event.position > 300 && goes_on(event)).unwrap()
    }
}

fn verify(directory: &Path, options: &VerifyOptions) -> ArchiveVerifyReport {
    verify_archive(&Archive::open(directory).unwrap(), options, Some(&BlobFields::default()), |_| {}).unwrap()
}

/// The event with another actor, hashed anew behind the event before it.
fn edited(event: &Event) -> Event {
    let text = String::from_utf8(event.event_bytes.clone()).unwrap();
    let event_bytes = text.replacen("{\"actor\":\"", "{\"actor\":\"evil-", 1).into_bytes();
    let event_hash = chain_hash(&event.previous, &event_bytes);
    Event { event_bytes, event_hash, ..event.clone() }
}

/// Hash every event behind the one before it in its stream, as a forger would.
fn rehashed(events: &[Event]) -> Vec<Event> {
    let mut heads = std::collections::HashMap::new();
    let rehash = |(position, event): (usize, &Event)| {
        let previous = heads.get(&event.stream_id).copied().unwrap_or(Hash::ZERO);
        let event_hash = chain_hash(&previous, &event.event_bytes);
        heads.insert(event.stream_id, event_hash);
        let envelope = Envelope::read(&event.event_bytes).unwrap();
        let (stream_type, version) = (envelope.stream_type.to_string(), envelope.version);
        Event { position: position as u64, stream_type, version, previous, event_hash, ..event.clone() }
    };
    events.iter().enumerate().map(rehash).collect()
}

#[test]
fn an_archive_that_nobody_touched_is_sound() {
    let bench = Bench::new();
    let report = bench.verify();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!((report.level, report.held), ("L1", Some("L1")));
    assert_eq!((report.events, report.up_to_position), (COUNT as u64, COUNT as u64));
    assert_eq!(report.origin.as_deref(), Some("example.com/log"));
    let streams: std::collections::HashSet<_> = bench.events.iter().map(|event| event.stream_id).collect();
    assert_eq!(report.streams, streams.len() as u64);
}

#[test]
fn an_archive_of_many_segments_is_sound_however_little_memory_there_is() {
    let events: Vec<Event> = SyntheticLog::new(12, 20_000).take(67_000).collect();
    let directory = TempDir::new().unwrap();
    Source::new(&events).whole(directory.path());
    for live_bytes_max in [None, Some(1 << 18)] {
        let report = verify(directory.path(), &VerifyOptions { live_bytes_max, ..VerifyOptions::default() });
        assert!(report.is_sound(), "{:#?}", report.findings);
        let streams: std::collections::HashSet<_> = events.iter().map(|event| event.stream_id).collect();
        assert_eq!(report.streams, streams.len() as u64);
    }
}

#[test]
fn an_edited_event_is_found_where_it_is() {
    let bench = Bench::new();
    let at = bench.middle();
    let mut events = bench.events.clone();
    events[at] = edited(&events[at]);
    bench.rewrite(&events);
    let report = bench.verify();
    assert_eq!(report.findings_total, 1, "{:#?}", report.findings);
    let finding = &report.findings[0];
    assert_eq!((&*finding.code, finding.position), ("LEAF_MISMATCH", Some(at as u64)));
    assert_eq!((finding.stream, finding.version), (events[at].stream_id, Some(2)));
    assert_eq!(report.held, Some("L0"));
}

#[test]
fn an_edited_event_with_its_stream_hashed_anew_and_new_tiles_is_what_nobody_signed() {
    let bench = Bench::new();
    let at = bench.middle();
    let mut events = bench.events.clone();
    events[at] = edited(&events[at]);
    let events = rehashed(&events);
    bench.rewrite(&events);
    bench.retile(&events);
    let found = bench.found();
    assert_eq!(
        found,
        [("CHECKPOINT_MISMATCH".to_owned(), Some(0)), ("CHECKPOINT_MISMATCH".to_owned(), Some(0))]
    );

    // With a signature by a key that is not the log's.
    let forger = bpc_core::note::Signer::new("example.com/log", &[9; 32]).unwrap();
    let mut tree = Tree::new();
    tree.extend(events.iter().map(leaf));
    let text = bpc_core::note::Checkpoint::new("example.com/log", COUNT as u64, tree.root()).text();
    let forged = bpc_core::note::SignedNote { signatures: vec![forger.sign(&text)], text }.to_string();
    for file in ["checkpoint".to_owned(), format!("checkpoints/{COUNT}")] {
        fs::write(bench.path().join(file), &forged).unwrap();
    }
    let found: Vec<String> = bench.found().into_iter().map(|(code, _)| code).collect();
    assert_eq!(found, ["CHECKPOINT_KEY_UNKNOWN", "CHECKPOINT_KEY_UNKNOWN"]);
}

#[test]
fn a_history_rewritten_by_whoever_stole_the_key_is_found_by_who_kept_a_checkpoint() {
    let bench = Bench::new();
    let kept = KeptCheckpoint::parse(note(&bench.events).as_bytes()).unwrap();
    let at = bench.middle();
    let mut events = bench.events.clone();
    events[at] = edited(&events[at]);
    let events = rehashed(&events);
    let directory = TempDir::new().unwrap();
    Source::new(&events).whole(directory.path());
    assert!(verify(directory.path(), &VerifyOptions::default()).is_sound());
    let options = VerifyOptions { checkpoints: vec![kept.clone()], ..VerifyOptions::default() };
    let report = verify(directory.path(), &options);
    assert_eq!((report.level, report.held), ("L2", Some("L1")));
    assert_eq!(report.findings[0].code, "HISTORY_REWRITTEN");

    // And one that ends before it.
    let directory = TempDir::new().unwrap();
    let source = Source::new(&bench.events);
    source.archive(&mut ArchiveWriter::open(directory.path()).unwrap(), 1000).unwrap();
    let report = verify(directory.path(), &options);
    assert_eq!(report.findings[0].code, "LOG_TRUNCATED");
    let report = verify(bench.path(), &options);
    assert!(report.is_sound());
    assert_eq!(report.anchor.unwrap().size, COUNT as u64);
}

#[test]
fn events_deleted_inserted_doubled_swapped_and_moved_are_found() {
    type Change = fn(&mut Vec<Event>, usize);
    let changes: [(&str, Change); 6] = [
        ("deleted", |events, at| drop(events.remove(at))),
        ("first deleted", |events, _| drop(events.remove(0))),
        ("doubled", |events, at| events.insert(at, events[at].clone())),
        ("swapped across streams", |events, at| {
            let other = (at + 1..events.len()).find(|other| events[*other].stream_id != events[at].stream_id);
            events.swap(at, other.unwrap());
        }),
        ("swapped within a stream", |events, at| {
            let stream = events[at].stream_id;
            let later = (at + 1..events.len()).find(|later| events[*later].stream_id == stream).unwrap();
            events.swap(at, later);
        }),
        ("a whole stream deleted", |events, at| {
            let stream = events[at].stream_id;
            events.retain(|event| event.stream_id != stream);
        }),
    ];
    for (what, change) in changes {
        let bench = Bench::new();
        let at = bench.middle();
        let mut events = bench.events.clone();
        change(&mut events, at);
        // As many as the manifest says, so that only the events tell.
        let filler = bench.events.last().unwrap().clone();
        events.resize(COUNT, filler);
        bench.rewrite(&events);
        let report = bench.verify();
        assert!(!report.is_sound(), "{what}");
        let first = report.findings.iter().filter_map(|finding| finding.position).min();
        // One that is there twice is wrong the second time.
        assert!(first.is_some_and(|first| first <= at as u64 + 1), "{what}: {first:?}");
    }
}

#[test]
fn an_archive_cut_short_with_its_manifest_is_found() {
    let bench = Bench::new();
    let kept = &bench.events[..1000];
    let shorter = TempDir::new().unwrap();
    Source::new(kept).whole(shorter.path());
    // The old notes still say what there was.
    fs::copy(bench.path().join("checkpoint"), shorter.path().join("checkpoint")).unwrap();
    let report = verify(shorter.path(), &VerifyOptions::default());
    assert_eq!(report.findings[0].code, "CHECKPOINT_AHEAD");
}

#[test]
fn bytes_in_another_spelling_are_found() {
    let bench = Bench::new();
    let at = bench.middle();
    for (from, to, code) in [
        ("\":", "\": ", "JSON_NOT_CANONICAL"),
        ("\"schema\":1", "\"schema\":1.0", "JSON_NUMBER_NOT_INTEGER"),
        ("BPC-EVENT-1", "BPC-EVENT-2", "EVENT_MALFORMED"),
    ] {
        let mut events = bench.events.clone();
        let text = String::from_utf8(events[at].event_bytes.clone()).unwrap();
        events[at].event_bytes = text.replacen(from, to, 1).into_bytes();
        bench.rewrite(&events);
        let report = bench.verify();
        let finding = report.findings.iter().find(|finding| finding.code == code);
        assert_eq!(finding.unwrap().position, Some(at as u64), "{:#?}", report.findings);
        assert_eq!(report.held, None, "not even L0");
    }
}

#[test]
fn a_job_that_does_what_no_job_can_is_found() {
    let bench = Bench::new();
    let at = bench.middle();
    let mut events = bench.events.clone();
    let text = String::from_utf8(events[at].event_bytes.clone()).unwrap();
    events[at].event_bytes = text.replacen("\"attempt\":1", "\"attempt\":2", 1).into_bytes();
    let events = rehashed(&events);
    let directory = TempDir::new().unwrap();
    // Sealed and signed as if it were right.
    Source::new(&events).whole(directory.path());
    let report = verify(directory.path(), &VerifyOptions::default());
    let found: Vec<_> = report.findings.iter().map(|finding| (&*finding.code, finding.position)).collect();
    assert_eq!(found, [("ILLEGAL_HISTORY", Some(at as u64))]);
    assert_eq!(report.held, None);
}

#[test]
fn edited_missing_and_partial_tiles_are_found_and_events_are_not_blamed() {
    for (tile, change) in [("tile/0/001", 40), ("tile/0/005.p/20", 3), ("tile/1/000.p/5", 70)] {
        let bench = Bench::new();
        let path = bench.path().join(tile);
        let sound = fs::read(&path).unwrap();
        let mut bytes = sound.clone();
        bytes[change] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let report = bench.verify();
        let tiles: Vec<_> = report.findings.iter().filter_map(|finding| finding.tile.as_deref()).collect();
        assert_eq!(tiles, [tile], "{:#?}", report.findings);
        assert!(report.findings.iter().all(|finding| finding.code != "LEAF_MISMATCH"));
        fs::write(&path, &sound[..sound.len() - 32]).unwrap();
        assert_eq!(bench.verify().findings[0].code, "TILE_MISSING");
        fs::remove_file(&path).unwrap();
        assert_eq!(bench.verify().findings[0].code, "TILE_MISSING");
    }
}

#[test]
fn notes_that_are_edited_missing_or_malformed_are_found() {
    let bench = Bench::new();
    for file in ["checkpoint".to_owned(), format!("checkpoints/{COUNT}")] {
        let path = bench.path().join(&file);
        let sound = fs::read_to_string(&path).unwrap();
        for (text, code) in [
            (sound.replacen("example.com", "example.org", 1), "NOTE_SIGNATURE_INVALID"),
            (signed(999, Hash([1; 32])), ""),
            ("nothing".to_owned(), "NOTE_MALFORMED"),
            (sound.replacen("\n\n", "\n", 1), "NOTE_MALFORMED"),
        ] {
            fs::write(&path, text).unwrap();
            let report = bench.verify();
            let of_file = |finding: &&ArchiveFinding| finding.file.as_deref() == Some(&file);
            let finding = report.findings.iter().find(of_file);
            let finding = finding.unwrap_or_else(|| panic!("{file} {code}: {:#?}", report.findings));
            assert!(code.is_empty() || finding.code == code, "{file}: {finding:#?}");
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(bench.verify().findings[0].code, "CHECKPOINT_MISSING");
        fs::write(&path, sound).unwrap();
        assert!(bench.verify().is_sound());
    }
}

#[test]
fn a_manifest_that_says_something_else_is_found_or_refused() {
    let bench = Bench::new();
    let sound = bench.manifest();
    let mut other = sound.clone();
    other.origin = "example.org/log".to_owned();
    let mut keys = sound.clone();
    keys.keys =
        vec![bpc_core::note::Signer::new("example.com/log", &[9; 32]).unwrap().verifier().to_string()];
    for manifest in [other, keys] {
        fs::write(bench.path().join("manifest.json"), manifest.to_bytes()).unwrap();
        assert_eq!(bench.verify().findings[0].code, "MANIFEST_MISMATCH");
    }
    let mut hash = sound.clone();
    hash.segments[0].sha256 = Hash([0; 32]);
    fs::write(bench.path().join("manifest.json"), hash.to_bytes()).unwrap();
    assert_eq!(bench.found(), [("SEGMENT_MALFORMED".to_owned(), None)]);
    for text in ["", "{}", "[]", &String::from_utf8(sound.to_bytes()).unwrap().replacen(":", ": ", 1)] {
        fs::write(bench.path().join("manifest.json"), text).unwrap();
        let refused = Archive::open(bench.path());
        assert!(matches!(&refused, Err(error) if error.code() == "ARCHIVE_MANIFEST_INVALID"), "{text}");
    }
}

#[test]
fn a_key_that_the_auditor_does_not_know_is_found() {
    let bench = Bench::new();
    let known = signer().verifier().clone();
    let other = bpc_core::note::Signer::new("example.com/log", &[9; 32]).unwrap().verifier().clone();
    let with = |key| VerifyOptions { keys: vec![key], ..VerifyOptions::default() };
    assert!(verify(bench.path(), &with(known)).is_sound());
    assert_eq!(verify(bench.path(), &with(other)).findings[0].code, "KEY_NOT_KNOWN");
}

#[test]
fn a_hash_before_an_event_that_is_wrong_or_missing_in_a_later_segment_is_found() {
    let events: Vec<Event> = SyntheticLog::new(13, 3000).take(66_000).collect();
    let directory = TempDir::new().unwrap();
    Source::new(&events).whole(directory.path());
    let bench = Bench { directory, events };
    let entry = bench.manifest().segments[1].clone();
    let path = bench.path().join(&entry.file);
    let first = entry.first as usize;
    let write = |tamper: &dyn Fn(usize, Hash) -> Option<Hash>| {
        let mut seen = std::collections::HashSet::new();
        let mut writer = SegmentWriter::new(Vec::new(), entry.first).unwrap();
        let mut claims = 0;
        for event in &bench.events[first..] {
            let is_claimed = seen.insert(event.stream_id) && event.version.0 > 1;
            let claim = is_claimed.then(|| tamper(claims, event.previous)).flatten();
            claims += usize::from(is_claimed);
            writer.push(&event.event_bytes, claim.as_ref()).unwrap();
        }
        assert!(claims > 10);
        fs::write(&path, writer.finish().unwrap().0).unwrap();
        bench.mend_manifest();
        bench.verify()
    };
    assert!(write(&|_, hash| Some(hash)).is_sound());
    for report in [
        write(&|number, hash| Some(if number == 7 { Hash([1; 32]) } else { hash })),
        write(&|number, hash| (number != 7).then_some(hash)),
    ] {
        assert!(!report.is_sound());
        let position = report.findings[0].position.unwrap();
        assert!(position >= entry.first, "{:#?}", report.findings);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any byte of any file: found, or the archive is not even opened. The lock is nobody's data.
    #[test]
    fn a_changed_bit_of_any_file_is_found(file: prop::sample::Index, at: prop::sample::Index, bit in 0u8..8) {
        let bench = Bench::new();
        let files: Vec<PathBuf> = walk(bench.path()).into_iter().filter(|path| !path.ends_with(".lock")).collect();
        let path = &files[file.index(files.len())];
        let mut bytes = fs::read(path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        fs::write(path, &bytes).unwrap();
        if let Ok(archive) = Archive::open(bench.path()) {
            let report = verify_archive(&archive, &VerifyOptions::default(), Some(&BlobFields::default()), |_| {}).unwrap();
            prop_assert!(!report.is_sound(), "byte {} of {}", at, path.display());
        }
    }

    /// Whoever edits a segment and makes the manifest agree.
    #[test]
    fn a_changed_bit_of_a_segment_is_found_although_the_manifest_agrees(at: prop::sample::Index, bit in 0u8..8) {
        let bench = Bench::new();
        let path = bench.segment_path();
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        fs::write(&path, &bytes).unwrap();
        bench.mend_manifest();
        let report = bench.verify();
        // What decompresses to the same events is the same archive.
        let is_same = || {
            let archive = Archive::open(bench.path()).unwrap();
            let segment = archive.segment(&archive.manifest().segments[0]).unwrap();
            let mut frames = segment.frames().unwrap();
            let mut events = bench.events.iter();
            while let Some(frame) = frames.next_frame().unwrap() {
                if !frame.events().all(|(_, bytes)| events.next().is_some_and(|it| it.event_bytes == bytes)) {
                    return false;
                }
            }
            true
        };
        prop_assert!(!report.is_sound() || is_same(), "byte {at}");
    }
}

fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}
