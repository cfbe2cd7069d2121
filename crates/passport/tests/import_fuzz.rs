//! No document, however malformed, panics or hangs the importers: the public samples, mutated.
//!
//! A few thousand mutations by default; a minute of them with `BPC_TEST_LONG=1`. Mutations follow
//! from a seed that is printed with a failure; `BPC_TEST_SEED` sets it.

mod common;

use std::time::{Duration, Instant};

use bpc_passport::facts::{Fact, Problem};
use bpc_passport::import::{DocumentKind, Format, Imported, Request, import};
use bpc_passport::json::Json;
use common::data;

const FILES: &[&str] = &[
    "batterypass-ready/ev.gefeg.json",
    "batterypass-ready/ev.source.json",
    "batterypass-ready/other-industrial.gefeg.json",
    "batterypass-samm/CarbonFootprintForBatteries-1.2.0-payload.utf16le.json",
    "batterypass-samm/GeneralProductInformation-1.2.0-payload.json",
    "batterypass-samm/MaterialComposition-1.2.0-payload.utf16le.json",
    "bom-lci/cell-nmc111.json",
    "catenax/BatteryPass-6.1.0.json",
    "catenax/Pcf-9.0.0.json",
    "catenax/SingleLevelBomAsBuilt-4.0.0.json",
    "catenax/SingleLevelBomAsSpecified-2.0.1.json",
    "catenax/tractusx-dpp-bomAsBuiltRelationships.json",
];

/// Pieces that parsers have stumbled over.
const PIECES: &[&str] = &[
    "-1.7976931348623157E308",
    "1e999999999999999999999",
    "-0",
    "0.0000000000000000000000000000001",
    "99999999999999999999999999999999999999",
    "null",
    "true",
    "[]",
    "{}",
    "[[[[[[[[[[",
    "\"\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\u{feff}",
    "\u{1f}",
    "\"7172-75-08\"",
    "\"27.04.2022\"",
    "\"--06\"",
    "\"9999-12-31T23:59:60Z\"",
    "\"201-004-7\"",
    "\"\u{202e}%/..\u{10ffff}\"",
    "{\"facts\":",
    ",",
    ":",
    "}",
];

#[test]
fn no_mutation_of_a_real_document_panics_or_hangs() {
    let seed = std::env::var("BPC_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let long = std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1");
    let end = Instant::now() + Duration::from_secs(60);
    let files: Vec<Vec<u8>> = FILES.iter().map(|file| data(file)).collect();
    let mut random = Random(seed);
    let (mut rounds, mut accepted) = (0_u64, 0_u64);
    while if long { Instant::now() < end } else { rounds < 4000 } {
        let mut bytes = files[random.below(files.len())].clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &files, &mut random);
        }
        let kind = [DocumentKind::Bom, DocumentKind::Pcf, DocumentKind::DueDiligence][random.below(3)];
        let started = Instant::now();
        let result = std::panic::catch_unwind(|| {
            import(Request { bytes: &bytes, kind, format: Format::Auto, sku: None })
        });
        let place = format!("seed {seed}, round {rounds}");
        assert!(started.elapsed() < Duration::from_secs(20), "{place}: too slow");
        match result {
            Ok(Ok(imported)) => {
                accepted += 1;
                check_facts(&imported, &place);
            }
            Ok(Err(error)) => check_problems(error.problems(), &place),
            Err(_) => panic!("{place}: a panic on {:?}", String::from_utf8_lossy(&bytes)),
        }
        agree_with_serde_json(&bytes, &place);
        rounds += 1;
    }
    println!("{rounds} documents, {accepted} accepted, seed {seed}");
    assert!(accepted > rounds / 100, "most mutations should not be noise: {accepted} of {rounds}");
}

/// What was accepted can be stored and read back.
fn check_facts(imported: &Imported, place: &str) {
    assert!(!imported.facts.is_empty(), "{place}");
    for found in &imported.facts {
        let fact = &found.fact;
        let again = Fact::from_payload(fact.fact_type(), fact.key(), fact.payload().as_bytes());
        assert_eq!(again.as_ref(), Ok(fact), "{place}");
    }
}

fn check_problems(problems: &[Problem], place: &str) {
    assert!(!problems.is_empty(), "{place}: refused for nothing");
    for problem in problems {
        assert!(
            !problem.code.is_empty() && !problem.expected.is_empty() && !problem.found.is_empty(),
            "{place}"
        );
        assert!(problem.pointer.is_empty() || problem.pointer.starts_with('/'), "{place}: {problem:?}");
    }
}

/// The reader accepts what an independent reader accepts, apart from its own limits.
fn agree_with_serde_json(bytes: &[u8], place: &str) {
    if bytes.starts_with(&[0xFF, 0xFE])
        || bytes.starts_with(&[0xFE, 0xFF])
        || bytes.starts_with(&[0xEF, 0xBB])
    {
        return;
    }
    let ours = Json::read(bytes);
    // Raw values: serde_json itself refuses numbers that overflow floating point.
    let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(bytes);
    match ours {
        Ok(_) => assert!(theirs.is_ok(), "{place}: we accept what serde_json refuses"),
        Err(error) if matches!(error.code(), "JSON_TOO_DEEP" | "JSON_DUPLICATE_KEY") => {}
        Err(error) => {
            // A raw value is not unescaped, so lone surrogates pass it by.
            let text = String::from_utf8_lossy(bytes);
            let surrogate = text.contains("\\u") || text.contains("\\U");
            assert!(theirs.is_err() || surrogate, "{place}: we refuse ({error}) what serde_json accepts");
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, files: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 => drop(bytes.drain(at..(at + random.below(60)).min(bytes.len()))),
        2 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
        3 => {
            let other = &files[random.below(files.len())];
            let from = random.below(other.len());
            let piece = other[from..(from + random.below(400)).min(other.len())].to_vec();
            drop(bytes.splice(at..at, piece));
        }
        4 => bytes.truncate(at),
        // Replaces one value, which leaves JSON that importers get to see.
        _ => replace_value(bytes, at, random),
    }
}

/// Puts a piece in the place of the value behind the next colon.
fn replace_value(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let find = |from: usize, any: &[u8]| {
        bytes.iter().skip(from).position(|byte| any.contains(byte)).map(|i| from + i)
    };
    let Some(start) = find(at, b":").map(|colon| colon + 1) else { return };
    let Some(end) = find(start, b",}]\n") else { return };
    let piece: Vec<u8> = PIECES[random.below(PIECES.len())].bytes().collect();
    drop(bytes.splice(start..end, piece));
}

/// SplitMix64: small, seeded, the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}
