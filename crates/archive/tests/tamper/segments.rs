//! An archive of more than one segment: what a segment says about the events before it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use bpc_archive::Archive;
use bpc_archive::segment::SegmentWriter;
use bpc_core::Hash;
use bpc_eventstore::verify::VerifyOptions;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::made_up::{Event, Source, SyntheticLog};
use crate::opinion::{Auditor, of_verify};

/// Which hash the second segment says stands before the event at a position; none if it says nothing.
type Claim = fn(u64, Hash) -> Option<Hash>;

/// Write the second segment again, with a manifest to match.
fn rewrite(directory: &Path, events: &[Event], claim: Claim) {
    let mut manifest = Archive::open(directory).unwrap().manifest().clone();
    let entry = &mut manifest.segments[1];
    let mut writer = SegmentWriter::new(Vec::new(), entry.first).unwrap();
    let mut seen = HashSet::new();
    for event in &events[entry.first as usize..] {
        let is_claimed = seen.insert(event.stream_id) && event.version.0 > 1;
        let claimed = is_claimed.then(|| claim(event.position, event.previous)).flatten();
        writer.push(&event.event_bytes, claimed.as_ref()).unwrap();
    }
    let (bytes, _) = writer.finish().unwrap();
    fs::write(directory.join(&entry.file), &bytes).unwrap();
    (entry.bytes, entry.sha256) = (bytes.len() as u64, Hash(Sha256::digest(&bytes).into()));
    fs::write(directory.join("manifest.json"), manifest.to_bytes()).unwrap();
}

#[test]
fn the_hashes_before_a_segment_are_checked_by_both() {
    let events: Vec<Event> = SyntheticLog::new(61, 200).take(65_800).collect();
    let directory = TempDir::new().unwrap();
    Source::new(&events).whole(directory.path());
    let (mut auditor, options) = (Auditor::new(), VerifyOptions::default());
    assert_eq!(auditor.opinion(directory.path(), &options), [""; 0]);
    assert_eq!(of_verify(directory.path(), &options), [""; 0]);

    // Some events are chained to another hash than that of the event before, some to nothing.
    rewrite(directory.path(), &events, |at, hash| match at {
        ..65_560 => Some(Hash([1; 32])),
        65_560..65_600 => None,
        _ => Some(hash),
    });
    let found = of_verify(directory.path(), &options);
    let audited = auditor.opinion(directory.path(), &options);
    for range in [65_536..65_560, 65_560..65_600] {
        let mut seen = HashSet::new();
        let is_first = |event: &&Event| seen.insert(event.stream_id) && range.contains(&event.position);
        let begins = events[65_536..].iter().filter(is_first).find(|event| event.version.0 > 1).unwrap();
        let expected = format!("L0 HASH_MISMATCH ?/{} @{}", begins.version, begins.position);
        assert!(audited.contains(&expected), "{expected} in {audited:?}");
    }
    let places = |lines: &[String]| -> HashSet<String> {
        lines.iter().filter_map(|line| Some(line.split_once('@')?.1.to_owned())).collect()
    };
    assert_eq!(places(&found), places(&audited), "{found:?} {audited:?}");
}
