//! The table of tamperings with an archive.
//!
//! The log is that of the table for databases (`crates/eventstore/tests/tamper/table.rs`), 300 events in one segment,
//! with the checkpoint over all of them. Each line is done to it once by somebody who makes the manifest name
//! what is there, and once by somebody who then repairs everything within reach: versions dense, so that chains are
//! right, tiles made anew. Below it stands all that verify finds, as `LEVEL CODE stream/version @position file`. An
//! auditor who has only the documents must find the same.
//!
//! Who does not even mend the manifest is found by that, too: the segment is another file than it names.

use bpc_core::note::{Cosigner, SignatureKind, SignedNote, Signer, VerifierKey};
use bpc_eventstore::seal::LogSecret;
use bpc_eventstore::verify::{KeptCheckpoint, VerifyOptions};
use tempfile::TempDir;

use crate::files::Files;
use crate::opinion::{Auditor, of_verify};
use crate::scene::{ORIGIN, named, secret};

struct Tampering {
    what: &'static str,
    attack: fn(&mut Files),
    /// What verify says to it with a manifest that fits.
    mended: &'static [&'static str],
    /// And after everything that can be repaired is.
    repaired: &'static [&'static str],
}

const SEGMENT: &str = "segments/00000000.partial-300.jsonl.zst";
/// The notes speak of another log.
const UNSIGNED: &[&str] = &[
    "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
    "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
];
/// The repair undoes it, or there was nothing to find.
const NOTHING: &[&str] = &[];

const TABLE: &[Tampering] = &[
    // --- what an event says ---
    Tampering {
        what: "a word in one event",
        attack: |files| files.say(named("a"), 2, "\"number\":2", "\"number\":7"),
        mended: &["L1 LEAF_MISMATCH a/2 @9"],
        repaired: UNSIGNED,
    },
    Tampering {
        what: "a word in the first event of all",
        attack: |files| files.say(named("tenant"), 1, "Acme", "Acne"),
        mended: &["L1 LEAF_MISMATCH tenant/1 @0"],
        repaired: UNSIGNED,
    },
    Tampering {
        what: "who caused the last event of a job",
        attack: |files| files.say(named("job"), 6, "\"actor\":\"system\"", "\"actor\":\"user:me\""),
        mended: &["L1 LEAF_MISMATCH job/6 @7"],
        repaired: UNSIGNED,
    },
    Tampering {
        what: "the time of an event",
        attack: |files| files.say(named("a"), 3, "31.000000Z", "31.000001Z"),
        mended: &["L1 LEAF_MISMATCH a/3 @10"],
        repaired: UNSIGNED,
    },
    Tampering {
        what: "an attempt counted twice",
        attack: |files| files.say(named("job"), 2, "\"attempt\":1", "\"attempt\":2"),
        mended: &["L0 ILLEGAL_HISTORY job/2 @3", "L1 LEAF_MISMATCH job/2 @3"],
        repaired: &[
            "L0 ILLEGAL_HISTORY job/2 @3",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "a failure that became a success",
        attack: |files| {
            let at = files.position(named("job"), 3);
            let text = String::from_utf8(files.events[at].clone()).unwrap();
            let (head, _) = text.split_once(",\"payload\":").unwrap();
            let (_, tail) = text.split_once(",\"schema\":").unwrap();
            let head = head.replace("\"FAILED\"", "\"SUCCEEDED\"");
            files.events[at] =
                format!("{head},\"payload\":{{\"duration_ms\":5,\"emitted\":[]}},\"schema\":{tail}")
                    .into_bytes();
        },
        mended: &["L0 ILLEGAL_HISTORY job/4 @5", "L1 LEAF_MISMATCH job/3 @4"],
        repaired: &[
            "L0 ILLEGAL_HISTORY job/4 @5",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "an event that says another tenant",
        attack: |files| {
            let tenant = crate::common::acme().to_string();
            files.say(named("a"), 3, &tenant, "00000000-0000-8000-8000-000000000000");
        },
        mended: &["L0 STREAM_MIXED a/3 @10", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: &[
            "L0 STREAM_MIXED a/3 @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "an event moved to another stream",
        attack: |files| {
            let (from, to) = (named("a").to_string(), named("b").to_string());
            files.say(named("a"), 3, &from, &to);
        },
        mended: &["L0 VERSION_GAP b/3 @10", "L0 VERSION_DUPLICATE b/1 @11", "L1 LEAF_MISMATCH b/3 @10"],
        repaired: UNSIGNED,
    },
    // --- which events there are ---
    Tampering {
        what: "the first event of a stream deleted",
        attack: |files| delete(files, "a", 1),
        mended: &[
            "L0 VERSION_GAP a/2 @8",
            "L1 LEAF_MISMATCH a/2 @8",
            "L1 LEAF_MISMATCH b/1 @10",
            "L1 LEAF_MISMATCH other-job/1 @12",
            "L1 LEAF_MISMATCH many/1 @18",
            "L1 TILE_MISSING tile/0/001.p/43",
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "an event in the middle of a stream deleted",
        attack: |files| delete(files, "a", 2),
        mended: &[
            "L0 VERSION_GAP a/3 @9",
            "L1 LEAF_MISMATCH a/3 @9",
            "L1 LEAF_MISMATCH b/1 @10",
            "L1 LEAF_MISMATCH other-job/1 @12",
            "L1 LEAF_MISMATCH many/1 @18",
            "L1 TILE_MISSING tile/0/001.p/43",
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "the last event of a stream deleted",
        attack: |files| delete(files, "a", 3),
        mended: &[
            "L1 LEAF_MISMATCH b/1 @10",
            "L1 LEAF_MISMATCH other-job/1 @12",
            "L1 LEAF_MISMATCH many/1 @18",
            "L1 TILE_MISSING tile/0/001.p/43",
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "the last event of all deleted",
        attack: |files| drop(files.events.pop()),
        mended: &[
            "L1 TILE_MISSING tile/0/001.p/43",
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH checkpoints/299",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "a whole stream deleted",
        attack: |files| (1..=6).for_each(|version| delete(files, "job", version)),
        mended: &[
            "L1 LEAF_MISMATCH a/1 @2",
            "L1 LEAF_MISMATCH b/1 @5",
            "L1 LEAF_MISMATCH other-job/1 @7",
            "L1 LEAF_MISMATCH many/1 @13",
            "L1 TILE_MISSING tile/0/001.p/38",
            "L1 CHECKPOINT_MISMATCH checkpoints/294",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH checkpoints/294",
            "L1 CHECKPOINT_AHEAD checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "an event inserted at the end of its stream",
        attack: |files| {
            let at = files.position(named("a"), 3);
            let text = String::from_utf8(files.events[at].clone()).unwrap();
            files.events.insert(at + 1, text.replace("\"version\":3}", "\"version\":4}").into_bytes());
        },
        mended: &[
            "L1 LEAF_MISMATCH a/4 @11",
            "L1 LEAF_MISMATCH b/1 @12",
            "L1 LEAF_MISMATCH other-job/1 @14",
            "L1 LEAF_MISMATCH many/1 @20",
            "L1 TILE_MISSING tile/0/001.p/45",
            "L1 CHECKPOINT_MISMATCH checkpoints/301",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH checkpoints/301",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "an event doubled",
        attack: |files| {
            let at = files.position(named("a"), 2);
            files.events.insert(at, files.events[at].clone());
        },
        mended: &[
            "L0 VERSION_DUPLICATE a/2 @10",
            "L1 LEAF_MISMATCH a/2 @10",
            "L1 LEAF_MISMATCH b/1 @12",
            "L1 LEAF_MISMATCH other-job/1 @14",
            "L1 LEAF_MISMATCH many/1 @20",
            "L1 TILE_MISSING tile/0/001.p/45",
            "L1 CHECKPOINT_MISMATCH checkpoints/301",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH checkpoints/301",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "two events of a stream swapped",
        attack: |files| {
            let (one, other) = (files.position(named("a"), 1), files.position(named("a"), 2));
            files.events.swap(one, other);
        },
        mended: &["L0 VERSION_GAP a/2 @8", "L0 VERSION_DUPLICATE a/1 @9", "L1 LEAF_MISMATCH a/2 @8"],
        repaired: UNSIGNED,
    },
    Tampering {
        what: "two events of different streams swapped",
        attack: |files| {
            let (one, other) = (files.position(named("a"), 3), files.position(named("b"), 1));
            files.events.swap(one, other);
        },
        mended: &["L1 LEAF_MISMATCH b/1 @10", "L1 LEAF_MISMATCH a/3 @11"],
        repaired: UNSIGNED,
    },
    // --- another spelling of the same ---
    Tampering {
        what: "a space",
        attack: |files| files.say(named("a"), 3, "\":", "\": "),
        mended: &["L0 JSON_NOT_CANONICAL @10"],
        repaired: &[
            "L0 JSON_NOT_CANONICAL @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "keys in another order",
        attack: |files| files.say(named("a"), 3, "\"schema\":1,\"stream_id\"", "\"stream_id\""),
        mended: &["L0 EVENT_MALFORMED @10"],
        repaired: &[
            "L0 EVENT_MALFORMED @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "1.0 for 1",
        attack: |files| files.say(named("a"), 3, "\"schema\":1", "\"schema\":1.0"),
        mended: &["L0 JSON_NUMBER_NOT_INTEGER @10"],
        repaired: &[
            "L0 JSON_NUMBER_NOT_INTEGER @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "an escape for a letter",
        attack: |files| files.say(named("a"), 3, "user:test", "user:\\u0074est"),
        mended: &["L0 JSON_NOT_CANONICAL @10"],
        repaired: &[
            "L0 JSON_NOT_CANONICAL @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "a key twice",
        attack: |files| files.say(named("a"), 3, "\"number\":3", "\"number\":3,\"number\":3"),
        mended: &["L0 JSON_DUPLICATE_KEY @10"],
        repaired: &[
            "L0 JSON_DUPLICATE_KEY @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "half of a surrogate pair",
        attack: |files| files.say(named("a"), 3, "user:test", "user:\\ud800"),
        mended: &["L0 JSON_INVALID_UNICODE @10"],
        repaired: &[
            "L0 JSON_INVALID_UNICODE @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "bytes that are no event at all",
        attack: |files| {
            let at = files.position(named("a"), 3);
            files.events[at] = b"x".repeat(100);
        },
        mended: &["L0 JSON_SYNTAX @10"],
        repaired: &[
            "L0 JSON_SYNTAX @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
        ],
    },
    // --- tiles ---
    Tampering {
        what: "a leaf in a full tile",
        attack: |files| files.other("tile/0/000")[5 * 32] ^= 1,
        mended: &["L1 TILE_MISMATCH tile/0/000"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a leaf in the last tile",
        attack: |files| files.other("tile/0/001.p/44")[5 * 32] ^= 1,
        mended: &["L1 TILE_MISMATCH tile/0/001.p/44"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a hash of an upper tile",
        attack: |files| files.other("tile/1/000.p/1")[0] ^= 1,
        mended: &["L1 TILE_MISMATCH tile/1/000.p/1"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a tile missing",
        attack: |files| drop(files.others.remove("tile/0/000")),
        mended: &["L1 TILE_MISSING tile/0/000"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a tile cut short",
        attack: |files| files.other("tile/0/001.p/44").truncate(20 * 32),
        mended: &["L1 TILE_MISSING tile/0/001.p/44"],
        repaired: NOTHING,
    },
    // --- checkpoints ---
    Tampering {
        what: "a checkpoint over another size",
        attack: |files| {
            let note = files.checkpoint();
            let other = note.to_string().replacen("\n300\n", "\n299\n", 1);
            files.others.insert("checkpoint".to_owned(), other.into_bytes());
        },
        mended: &["L1 NOTE_SIGNATURE_INVALID checkpoint checkpoint 299"],
        repaired: &["L1 NOTE_SIGNATURE_INVALID checkpoint checkpoint 299"],
    },
    Tampering {
        what: "a signature changed",
        attack: |files| {
            let mut note = files.checkpoint();
            note.signatures[0].signature[9] ^= 1;
            files.set_checkpoint(&note.to_string());
        },
        mended: &[
            "L1 NOTE_SIGNATURE_INVALID checkpoints/300 checkpoint 300",
            "L1 NOTE_SIGNATURE_INVALID checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 NOTE_SIGNATURE_INVALID checkpoints/300 checkpoint 300",
            "L1 NOTE_SIGNATURE_INVALID checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "the signature over the time changed",
        attack: |files| {
            let mut note = files.checkpoint();
            note.signatures[1].signature[7] ^= 1;
            files.set_checkpoint(&note.to_string());
        },
        mended: &[
            "L1 NOTE_SIGNATURE_INVALID checkpoints/300 checkpoint 300",
            "L1 NOTE_SIGNATURE_INVALID checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 NOTE_SIGNATURE_INVALID checkpoints/300 checkpoint 300",
            "L1 NOTE_SIGNATURE_INVALID checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "a checkpoint without signatures",
        attack: |files| {
            let text = files.checkpoint().text;
            files.set_checkpoint(&text);
        },
        mended: &["L1 NOTE_MALFORMED checkpoints/300 checkpoint 300", "L1 NOTE_MALFORMED checkpoint"],
        repaired: &["L1 NOTE_MALFORMED checkpoints/300 checkpoint 300", "L1 NOTE_MALFORMED checkpoint"],
    },
    Tampering {
        what: "a checkpoint that is no note",
        attack: |files| files.set_checkpoint("to whom it may concern"),
        mended: &["L1 NOTE_MALFORMED checkpoints/300 checkpoint 300", "L1 NOTE_MALFORMED checkpoint"],
        repaired: &["L1 NOTE_MALFORMED checkpoints/300 checkpoint 300", "L1 NOTE_MALFORMED checkpoint"],
    },
    Tampering {
        what: "a checkpoint missing",
        attack: |files| drop(files.others.remove("checkpoints/300")),
        mended: &["L1 CHECKPOINT_MISSING checkpoints/300 checkpoint 300"],
        repaired: &["L1 CHECKPOINT_MISSING checkpoints/300 checkpoint 300"],
    },
    Tampering {
        what: "a checkpoint by another key of the same name",
        attack: |files| {
            let text = files.checkpoint().text;
            let forger = Signer::new(ORIGIN, &[9; 32]).unwrap();
            let note = SignedNote { signatures: vec![forger.sign(&text)], text };
            files.set_checkpoint(&note.to_string());
        },
        mended: &[
            "L1 CHECKPOINT_KEY_UNKNOWN checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_KEY_UNKNOWN checkpoint checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_KEY_UNKNOWN checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_KEY_UNKNOWN checkpoint checkpoint 300",
        ],
    },
    Tampering {
        what: "the key of the log swapped in its event, and everything signed by it",
        attack: swap_key,
        // A log of one's own. Only who knows the right key, or kept a checkpoint, can tell.
        mended: NOTHING,
        repaired: NOTHING,
    },
    // --- blobs ---
    Tampering {
        what: "a byte of a blob",
        attack: |files| {
            let blob = files.blob();
            files.other(&blob)[0] ^= 1;
        },
        mended: &["L1 BLOB_MISMATCH {blob}"],
        repaired: &["L1 BLOB_MISMATCH {blob}"],
    },
    Tampering {
        what: "a blob missing",
        attack: |files| {
            let blob = files.blob();
            files.others.remove(&blob);
        },
        mended: &["L1 BLOB_MISSING {blob}"],
        repaired: &["L1 BLOB_MISSING {blob}"],
    },
    Tampering {
        what: "an event that names a blob which is nowhere",
        attack: |files| {
            let blob = format!("\"length\":5,\"number\":3,\"sha256\":\"{}\"", "ab".repeat(32));
            files.say(named("a"), 3, "\"number\":3", &blob);
        },
        mended: &["L1 LEAF_MISMATCH a/3 @10", "L1 BLOB_MISSING a/3 @10"],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
            "L1 BLOB_MISSING a/3 @10",
        ],
    },
    Tampering {
        what: "an event that names a blob with another length",
        attack: |files| {
            let name = files.blob().split('/').next_back().unwrap().to_owned();
            let blob = format!("\"length\":5,\"number\":3,\"sha256\":\"{name}\"");
            files.say(named("a"), 3, "\"number\":3", &blob);
        },
        mended: &["L1 LEAF_MISMATCH a/3 @10", "L1 BLOB_LENGTH_MISMATCH a/3 @10"],
        repaired: &[
            "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
            "L1 BLOB_LENGTH_MISMATCH a/3 @10",
        ],
    },
    // --- the manifest ---
    Tampering {
        what: "another origin in the manifest",
        attack: |files| files.manifest.origin = "example.org/log".to_owned(),
        mended: &["L1 MANIFEST_MISMATCH manifest.json"],
        repaired: &["L1 MANIFEST_MISMATCH manifest.json"],
    },
    Tampering {
        what: "another key in the manifest",
        attack: |files| {
            files.manifest.keys = vec![Signer::new(ORIGIN, &[9; 32]).unwrap().verifier().to_string()];
        },
        mended: &["L1 MANIFEST_MISMATCH manifest.json"],
        repaired: &["L1 MANIFEST_MISMATCH manifest.json"],
    },
    Tampering {
        what: "a manifest in another format",
        attack: |files| files.manifest.format = "BPC-ARCHIVE-2".to_owned(),
        mended: &["ARCHIVE_MANIFEST_INVALID"],
        repaired: &["ARCHIVE_MANIFEST_INVALID"],
    },
];

fn delete(files: &mut Files, name: &str, version: u32) {
    let at = files.position(named(name), version);
    files.events.remove(at);
}

fn swap_key(files: &mut Files) {
    let other = LogSecret::new([9; 32]);
    files.say(named("log"), 1, secret().public_hex(), other.public_hex());
    files.manifest.keys = vec![Signer::new(ORIGIN, &[9; 32]).unwrap().verifier().to_string()];
    files.repair();
    files.sign(&other, ORIGIN);
}

/// Both opinions on one archive, which must be `expected`.
fn check(
    auditor: &mut Auditor,
    what: &str,
    files: &Files,
    options: &VerifyOptions,
    expected: &[&str],
) -> Option<String> {
    let scratch = TempDir::new().unwrap();
    files.store(scratch.path());
    let found = of_verify(scratch.path(), options);
    let (mut one, mut other) = (found.clone(), auditor.opinion(scratch.path(), options));
    one.sort();
    other.sort();
    other.dedup();
    if one != other {
        return Some(format!("{what}: verify says {one:#?}, the auditor {other:#?}"));
    }
    let expected: Vec<String> = expected.iter().map(|line| line.replace("{blob}", &files.blob())).collect();
    (found != expected).then(|| format!("{what}: {found:#?} instead of {expected:#?}"))
}

#[test]
fn without_the_key_every_tampering_is_found_where_it_is() {
    let sound = Files::of_log(300);
    let nothing = VerifyOptions::default();
    let mut wrong: Vec<String> =
        check(&mut Auditor::new(), "nothing", &sound, &nothing, &[]).into_iter().collect();
    let judge = |auditor: &mut Auditor, case: &Tampering| {
        let mut wrong = Vec::new();
        let mut careless = sound.clone();
        (case.attack)(&mut careless);
        let mut mended = careless.clone();
        mended.mend();
        let mut repaired = careless.clone();
        repaired.repair();
        wrong.extend(check(auditor, &format!("{} (mended)", case.what), &mended, &nothing, case.mended));
        wrong.extend(check(
            auditor,
            &format!("{} (repaired)", case.what),
            &repaired,
            &nothing,
            case.repaired,
        ));
        if careless.events != sound.events && careless.manifest == sound.manifest {
            let scratch = TempDir::new().unwrap();
            careless.store(scratch.path());
            let found = of_verify(scratch.path(), &nothing);
            if !found.contains(&format!("L1 SEGMENT_MALFORMED {SEGMENT}")) {
                wrong.push(format!("{} (careless): {found:#?}", case.what));
            }
        }
        wrong
    };
    // Most of it is waiting for other programs.
    std::thread::scope(|scope| {
        let judge_all = |part: &[Tampering]| {
            let mut auditor = Auditor::new();
            part.iter().flat_map(|case| judge(&mut auditor, case)).collect::<Vec<_>>()
        };
        let parts = TABLE.chunks(TABLE.len().div_ceil(4));
        let judged: Vec<_> = parts.map(|part| scope.spawn(move || judge_all(part))).collect();
        judged.into_iter().for_each(|part| wrong.extend(part.join().unwrap()));
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn with_the_key_or_a_key_of_ones_own_what_others_kept_tells() {
    let sound = Files::of_log(300);
    let public = hex::decode(secret().public_hex()).unwrap().try_into().unwrap();
    let key = VerifierKey::new(ORIGIN, SignatureKind::Ed25519, &public).unwrap();
    let note = sound.checkpoint().to_string();
    let kept = || VerifyOptions {
        checkpoints: vec![KeptCheckpoint::parse(note.as_bytes()).unwrap()],
        ..VerifyOptions::default()
    };
    let known = || VerifyOptions { keys: vec![key.clone()], ..VerifyOptions::default() };
    let witness = Cosigner::new("witness.example/w", &[42; 32]).unwrap();
    let witnessed =
        || VerifyOptions { witnesses: vec![witness.verifier().clone()], ..VerifyOptions::default() };
    let nothing = VerifyOptions::default;
    let forged = |attack: fn(&mut Files)| {
        let mut files = sound.clone();
        attack(&mut files);
        files
    };
    let rewritten = forged(|files| {
        files.say(named("a"), 2, "\"number\":2", "\"number\":7");
        files.repair();
        files.sign(&secret(), ORIGIN);
    });
    let truncated = forged(|files| {
        files.events.truncate(290);
        files.repair();
        files.sign(&secret(), ORIGIN);
    });
    let mut cosigned = sound.clone();
    let line = witness.cosign(&cosigned.checkpoint().text, 1_794_858_600);
    cosigned.set_checkpoint(&format!("{note}{line}\n"));
    let mut recosigned = rewritten.clone();
    let split = SignedNote::parse(&cosigned.others["checkpoint"]).unwrap();
    recosigned.set_checkpoint(&split.to_string());
    let cases: Vec<(&str, &Files, VerifyOptions, &[&str])> = vec![
        ("nothing", &sound, kept(), &[]),
        ("nothing", &sound, known(), &[]),
        ("nothing, witnessed", &cosigned, witnessed(), &[]),
        ("nothing, not witnessed", &sound, witnessed(), &["L3 WITNESS_MISSING"]),
        ("an event rewritten and everything signed again", &rewritten, nothing(), &[]),
        (
            "an event rewritten and everything signed again",
            &rewritten,
            kept(),
            &["L2 HISTORY_REWRITTEN checkpoint 300"],
        ),
        ("the end cut off and the rest signed again", &truncated, nothing(), &[]),
        (
            "the end cut off and the rest signed again",
            &truncated,
            kept(),
            &["L2 LOG_TRUNCATED checkpoint 300"],
        ),
    ];
    let own = forged(swap_key);
    let more: Vec<(&str, &Files, VerifyOptions, &[&str])> = vec![
        ("a log of one's own under a key of one's own", &own, nothing(), &[]),
        ("a log of one's own under a key of one's own", &own, known(), &["L1 KEY_NOT_KNOWN"]),
        (
            "a log of one's own under a key of one's own",
            &own,
            kept(),
            &["L2 CHECKPOINT_KEY_UNKNOWN checkpoint 300"],
        ),
        (
            "another history under the note of the witness",
            &recosigned,
            witnessed(),
            &[
                "L1 CHECKPOINT_MISMATCH @0 checkpoints/300 checkpoint 300",
                "L1 CHECKPOINT_MISMATCH @0 checkpoint checkpoint 300",
                "L3 HISTORY_REWRITTEN checkpoint 300",
                "L3 WITNESS_MISSING",
            ],
        ),
    ];
    let cases = cases.into_iter().chain(more);
    let mut auditor = Auditor::new();
    let wrong: Vec<String> = cases
        .filter_map(|(what, files, options, expected)| check(&mut auditor, what, files, &options, expected))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_line_of_the_table_is_about_something_else() {
    let mut names: Vec<_> = TABLE.iter().map(|case| case.what).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TABLE.len());
}
