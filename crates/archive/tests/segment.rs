//! Segments: what was written is read back, by us and by the `zstd` program; what was damaged is refused.

mod common;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use bpc_archive::segment::{
    EVENTS_PER_FRAME, EVENTS_PER_SEGMENT, Segment, SegmentChain, SegmentError, SegmentWriter, Written,
};
use bpc_core::{Envelope, Hash};
use common::{Event, SyntheticLog};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

#[test]
fn a_full_segment_reads_back_with_bytes_positions_and_hashes() {
    let mut log = SyntheticLog::new(1, 5000);
    let scratch = TempDir::new().unwrap();
    for number in 0..2 {
        let events: Vec<Event> = log.by_ref().take(EVENTS_PER_SEGMENT as usize).collect();
        let (path, written) = write(&scratch, &events);
        assert_eq!(written.first, number * EVENTS_PER_SEGMENT);
        assert_eq!(written.sha256, Hash(Sha256::digest(std::fs::read(&path).unwrap()).into()));
        read_back(&path, &events, &written);
    }
}

#[test]
fn the_zstd_program_turns_a_segment_into_lines_of_json() {
    let events: Vec<Event> = SyntheticLog::new(2, 50).take(1000).collect();
    let scratch = TempDir::new().unwrap();
    let (path, _) = write(&scratch, &events);
    let Ok(output) = Command::new("zstd").arg("-dc").arg(&path).output() else {
        eprintln!("skipped: there is no zstd program here");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&[u8]> = output.stdout.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').collect();
    let expected: Vec<&[u8]> = events.iter().map(|event| &*event.event_bytes).collect();
    assert_eq!(lines, expected);
}

#[test]
fn any_frame_can_be_read_alone() {
    let events: Vec<Event> = SyntheticLog::new(3, 50).take(1000).collect();
    let scratch = TempDir::new().unwrap();
    let (path, _) = write(&scratch, &events);
    let segment = Segment::open(&path).unwrap();
    let mut frames = segment.frames().unwrap();
    for index in [3, 0, 2, 1] {
        let frame = frames.frame(index).unwrap();
        let expected = &events[index * EVENTS_PER_FRAME..events.len().min((index + 1) * EVENTS_PER_FRAME)];
        assert_eq!(frame.len(), expected.len());
        for ((position, bytes), event) in frame.events().zip(expected) {
            assert_eq!((position, bytes), (event.position, &*event.event_bytes));
        }
    }
}

#[test]
fn bytes_that_hold_a_line_feed_are_refused() {
    let mut writer = SegmentWriter::new(Vec::new(), 0).unwrap();
    assert!(writer.push(b"{\n}", None).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_segment_of_any_length_reads_back(seed: u64, count in 1usize..1500, jobs_max in 1usize..500) {
        let events: Vec<Event> = SyntheticLog::new(seed, jobs_max).take(count).collect();
        let scratch = TempDir::new().unwrap();
        let (path, written) = write(&scratch, &events);
        read_back(&path, &events, &written);
    }

    /// Nothing panics, nothing eats memory, and whatever is read has another hash than the manifest says.
    #[test]
    fn a_changed_byte_is_an_error_or_another_hash(at: prop::sample::Index, bit in 0u8..8) {
        let events: Vec<Event> = SyntheticLog::new(4, 20).take(600).collect();
        let scratch = TempDir::new().unwrap();
        let (path, written) = write(&scratch, &events);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(sha256) = hash_of(&path) {
            prop_assert_ne!(sha256, written.sha256);
        }
    }

    #[test]
    fn a_segment_cut_off_is_refused(keep: prop::sample::Index) {
        let events: Vec<Event> = SyntheticLog::new(5, 20).take(300).collect();
        let scratch = TempDir::new().unwrap();
        let (path, written) = write(&scratch, &events);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..keep.index(bytes.len())]).unwrap();
        prop_assert!(hash_of(&path).is_err(), "{written:?}");
    }
}

/// Write events that begin where a segment begins.
fn write(scratch: &TempDir, events: &[Event]) -> (PathBuf, Written) {
    let mut writer = SegmentWriter::new(Vec::new(), events[0].position).unwrap();
    let mut seen = HashSet::new();
    for event in events {
        let is_first = seen.insert(event.stream_id);
        let previous = (is_first && event.version.0 > 1).then_some(&event.previous);
        writer.push(&event.event_bytes, previous).unwrap();
    }
    let (bytes, written) = writer.finish().unwrap();
    let path = scratch.path().join(format!("{}.jsonl.zst", events[0].position));
    std::fs::write(&path, bytes).unwrap();
    (path, written)
}

fn read_back(path: &Path, events: &[Event], written: &Written) {
    let segment = Segment::open(path).unwrap();
    assert_eq!(segment.header().events, events.len() as u64);
    let mut chain = SegmentChain::new(&segment);
    let mut frames = segment.frames().unwrap();
    let mut expected = events.iter();
    while let Some(frame) = frames.next_frame().unwrap() {
        for (position, bytes) in frame.events() {
            let event = expected.next().expect("no more events than were written");
            assert_eq!((position, bytes), (event.position, &*event.event_bytes));
            let envelope = Envelope::read(bytes).unwrap();
            let link = chain.link(position, envelope.stream_id, envelope.version, bytes).unwrap();
            assert_eq!((link.previous, link.hash), (event.previous, event.event_hash));
        }
    }
    assert!(expected.next().is_none());
    assert_eq!(frames.finish().unwrap(), written.sha256);
}

fn hash_of(path: &Path) -> Result<Hash, SegmentError> {
    let segment = Segment::open(path)?;
    let mut frames = segment.frames()?;
    while frames.next_frame()?.is_some() {}
    frames.finish()
}
