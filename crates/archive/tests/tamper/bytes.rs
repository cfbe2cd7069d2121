//! Any byte of any file of an archive, one by one.
//!
//! A change is found, or the archive is not even opened. What is no part of an archive is named in
//! [`NO_PART_OF_IT`], and may hold anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bpc_eventstore::verify::VerifyOptions;
use tempfile::TempDir;

use crate::files::Files;
use crate::opinion::{Auditor, of_verify};

/// The lock of whoever writes, caches of whoever replays, and whatever else no manifest names.
const NO_PART_OF_IT: [&str; 4] =
    [".lock", "segments/00000000.partial-20.fold", "checkpoints/7", "segments/00000000.jsonl.zst.draft"];

/// Of how many changes the auditor is asked, too.
const AUDITED: usize = 19;

/// One bit of every byte, or all of them.
fn bits(byte: usize) -> Vec<u8> {
    let is_long = std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1");
    if is_long { (0..8).collect() } else { vec![(byte % 8) as u8] }
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

/// Everything that goes unnoticed, or that the two opinions differ on.
fn turn_over(files: &Files, share: usize, shares: usize, tried: &Mutex<usize>) -> Vec<String> {
    let scratch = TempDir::new().unwrap();
    files.store(scratch.path());
    let (mut auditor, options, mut wrong) = (Auditor::new(), VerifyOptions::default(), Vec::new());
    let mut number = 0;
    for path in walk(scratch.path()) {
        let sound = fs::read(&path).unwrap();
        let name = path.strip_prefix(scratch.path()).unwrap().display().to_string();
        for (byte, bit) in
            (0..sound.len()).flat_map(|byte| bits(byte).into_iter().map(move |bit| (byte, bit)))
        {
            number += 1;
            if number % shares != share {
                continue;
            }
            let mut bytes = sound.clone();
            bytes[byte] ^= 1 << bit;
            fs::write(&path, &bytes).unwrap();
            let found = of_verify(scratch.path(), &options);
            if found.is_empty() {
                wrong.push(format!("byte {byte} bit {bit} of {name} goes unnoticed"));
            }
            if (number / shares).is_multiple_of(AUDITED) {
                let audited = auditor.opinion(scratch.path(), &options);
                let (found, audited) = (places(found), places(audited));
                if found != audited {
                    wrong
                        .push(format!("byte {byte} bit {bit} of {name}: {found:?}, the auditor {audited:?}"));
                }
            }
            *tried.lock().unwrap() += 1;
        }
        fs::write(&path, &sound).unwrap();
    }
    assert_eq!(of_verify(scratch.path(), &options), [""; 0]);
    wrong
}

/// Bytes that break several rules at once break those of one sort or another first.
fn places(findings: Vec<String>) -> BTreeSet<String> {
    let is_of_event = |code: &str| ["JSON_", "EVENT_", "PAYLOAD_"].iter().any(|sort| code.starts_with(sort));
    let place = |line: String| match line.split(' ').collect::<Vec<_>>()[..] {
        [level, code, place] if is_of_event(code) => format!("{level} no event {place}"),
        _ => line,
    };
    findings.into_iter().map(place).collect()
}

#[test]
fn a_change_of_any_byte_of_any_file_is_found() {
    let files = Files::of_log(20);
    let tried = Mutex::new(0);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let shares: Vec<_> = (0..2)
            .map(|share| {
                scope.spawn({
                    let (files, tried) = (&files, &tried);
                    move || turn_over(files, share, 2, tried)
                })
            })
            .collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tried.lock().unwrap(), wrong.join("\n"));
    assert!(*tried.lock().unwrap() > 3000);
}

#[test]
fn what_is_no_part_of_an_archive_may_hold_anything() {
    let files = Files::of_log(20);
    let scratch = TempDir::new().unwrap();
    files.store(scratch.path());
    let options = VerifyOptions::default();
    for name in NO_PART_OF_IT {
        fs::write(scratch.path().join(name), b"anything").unwrap();
        assert_eq!(of_verify(scratch.path(), &options), [""; 0], "{name}");
        assert_eq!(Auditor::new().opinion(scratch.path(), &options), [""; 0], "{name}");
    }
}
