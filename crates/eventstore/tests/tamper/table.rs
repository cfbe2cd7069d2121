//! The table of tamperings.
//!
//! Each line is done to a sound log behind the engine's back, once carelessly and once by somebody who then
//! repairs every hash within reach: versions dense, chains right, order, tiles and root made anew. Below
//! it stands everything that verify finds, as `LEVEL CODE stream/version @position ...`. A last line of
//! two dots means: and more of the same.
//!
//! Without the key nobody gets past L1. Whoever has it is found by what an auditor kept (L2), and
//! whoever shows two histories, by witnesses (L3).

use std::time::Duration;

use bpc_core::note::{SignatureKind, VerifierKey};
use bpc_core::{Hash, chain_hash};
use bpc_eventstore::seal::LogSecret;
use bpc_eventstore::verify::{KeptCheckpoint, VerifyOptions};
use bpc_testkit::{TestDatabase, on_both_databases};
use uuid::Uuid;

use crate::log::{Event, Log, lift_rules};
use crate::scene::{ORIGIN, line, log_of, named, report, secret};

/// Something that is done to a log without its key.
pub struct Tampering {
    pub what: &'static str,
    pub attack: fn(&mut Log),
    /// What verify says to it as it is.
    pub careless: &'static [&'static str],
    /// And after every hash that can be repaired is.
    pub repaired: &'static [&'static str],
}

/// Both checkpoints speak of another log.
const BOTH: &[&str] =
    &["L1 CHECKPOINT_MISMATCH @0 checkpoint 13", "L1 CHECKPOINT_MISMATCH @0 checkpoint 300"];
/// The log is one event shorter than what was signed for, and its beginning is another.
const SHORTER: &[&str] = &["L1 CHECKPOINT_MISMATCH @0 checkpoint 13", "L1 CHECKPOINT_AHEAD checkpoint 300"];
/// There is nothing to repair, or the repair undoes it.
pub const NOTHING: &[&str] = &[];

const TABLE: &[Tampering] = &[
    // --- what an event says ---
    Tampering {
        what: "a word in one event",
        attack: |log| log.event(named("a"), 2).say("\"number\":2", "\"number\":7"),
        careless: &["L0 HASH_MISMATCH a/2 @9 event_hash"],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in one event, with its own hash made right",
        attack: |log| {
            let before = Hash::from_slice(&log.event(named("a"), 1).event_hash).unwrap();
            let event = log.event(named("a"), 2);
            event.say("\"number\":2", "\"number\":7");
            event.event_hash = chain_hash(&before, &event.event_bytes).0.to_vec();
        },
        careless: &["L0 HASH_MISMATCH a/3 @10 event_hash", "L1 LEAF_MISMATCH a/2 @9"],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in the last event of a stream, with its own hash made right",
        attack: |log| {
            let before = Hash::from_slice(&log.event(named("a"), 2).event_hash).unwrap();
            let event = log.event(named("a"), 3);
            event.say("\"number\":3", "\"number\":7");
            event.event_hash = chain_hash(&before, &event.event_bytes).0.to_vec();
        },
        careless: &["L1 LEAF_MISMATCH a/3 @10"],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in one event, with all hashes of its stream made right",
        attack: |log| {
            log.event(named("a"), 1).say("\"number\":1", "\"number\":7");
            log.rehash(named("a"));
        },
        careless: &["L1 LEAF_MISMATCH a/1 @8", "L1 LEAF_MISMATCH a/2 @9", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in every event, with all hashes of all streams made right",
        attack: |log| {
            for event in &mut log.events {
                event.say("\"actor\":\"", "\"actor\":\"not-");
            }
            for name in ["log", "tenant", "job", "other-job", "a", "b", "many"] {
                log.rehash(named(name));
            }
        },
        careless: &["L1 LEAF_MISMATCH tenant/1 @0", "L1 LEAF_MISMATCH log/1 @1", ".."],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in an event that no checkpoint covers yet, with its hash made right",
        attack: |log| {
            log.event(named("b"), 4).say("\"number\":2", "\"number\":7");
            log.rehash(named("b"));
        },
        // The one window that hashes do not close. Its size and age are shown.
        careless: NOTHING,
        repaired: NOTHING,
    },
    // --- copies beside the event ---
    Tampering {
        what: "only the copied event type",
        attack: |log| log.event(named("job"), 4).event_type = "RELEASED".to_owned(),
        careless: &["L0 COLUMN_MISMATCH job/4 @5 event_type"],
        repaired: &["L0 COLUMN_MISMATCH job/4 @5 event_type"],
    },
    Tampering {
        what: "only the copied time",
        attack: |log| log.event(named("job"), 4).occurred_at += 1,
        careless: &["L0 COLUMN_MISMATCH job/4 @5 occurred_at"],
        repaired: &["L0 COLUMN_MISMATCH job/4 @5 occurred_at"],
    },
    Tampering {
        what: "only the copied tenant",
        attack: |log| log.event(named("job"), 4).tenant_id = Uuid::from_u128(1),
        careless: &["L0 COLUMN_MISMATCH job/4 @5 tenant_id"],
        repaired: &["L0 COLUMN_MISMATCH job/4 @5 tenant_id"],
    },
    Tampering {
        what: "an event moved to another stream, by its column",
        attack: |log| log.event(named("a"), 3).stream_id = named("b").0,
        careless: &[
            "L0 COLUMN_MISMATCH b/3 @10 stream_id",
            "L0 HASH_MISMATCH b/3 @10 event_hash",
            "L0 VERSION_DUPLICATE b/3",
        ],
        repaired: &[
            "L0 COLUMN_MISMATCH b/3 @10 stream_id",
            "L1 LEAF_MISMATCH b/3 @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    Tampering {
        what: "an event moved to another stream, in word and column",
        attack: |log| {
            let event = log.event(named("a"), 3);
            let (from, to) = (named("a").to_string(), named("c").to_string());
            event.say(&from, &to);
            event.say("\"version\":3", "\"version\":1");
            (event.stream_id, event.version) = (named("c").0, 1);
            log.rehash(named("c"));
        },
        careless: &["L1 LEAF_MISMATCH c/1 @10"],
        repaired: BOTH,
    },
    Tampering {
        what: "an event moved to another tenant, in word and column",
        attack: |log| {
            let event = log.event(named("a"), 3);
            let to = Uuid::from_u128(1);
            event.say(&event.tenant_id.to_string(), &to.to_string());
            event.tenant_id = to;
            log.rehash(named("a"));
        },
        careless: &["L0 STREAM_MIXED a/3 @10 tenant_id", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: &[
            "L0 STREAM_MIXED a/3 @10 tenant_id",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    // --- events that are gone ---
    Tampering {
        what: "the first event of a stream deleted",
        attack: |log| delete(log, "a", 1),
        careless: &["L0 VERSION_GAP a/2 @9", "L1 EVENT_MISSING @8"],
        repaired: SHORTER,
    },
    Tampering {
        what: "an event in the middle of a stream deleted",
        attack: |log| delete(log, "a", 2),
        careless: &["L0 VERSION_GAP a/3 @10", "L1 EVENT_MISSING @9"],
        repaired: SHORTER,
    },
    Tampering {
        what: "the last event of a stream deleted",
        attack: |log| delete(log, "a", 3),
        careless: &["L1 EVENT_MISSING @10"],
        repaired: SHORTER,
    },
    Tampering {
        what: "a whole stream deleted",
        attack: |log| log.events.retain(|event| event.stream_id != named("a").0),
        careless: &["L1 EVENT_MISSING @8", "L1 EVENT_MISSING @9", "L1 EVENT_MISSING @10"],
        repaired: SHORTER,
    },
    Tampering {
        what: "a whole stream deleted, with its places in the order",
        attack: |log| {
            log.events.retain(|event| event.stream_id != named("a").0);
            let ids: Vec<i64> = log.events.iter().map(|event| event.id).collect();
            log.order.retain(|id| ids.contains(id));
        },
        careless: &["L1 ORDER_MISMATCH @256 event_ids", "L1 LEAF_MISMATCH b/1 @8", ".."],
        repaired: SHORTER,
    },
    Tampering {
        what: "the end of the log deleted, with its places in the order",
        attack: |log| {
            let gone = log.order.split_off(290);
            log.events.retain(|event| !gone.contains(&event.id));
        },
        careless: &["L1 ORDER_MISMATCH @256 event_ids"],
        repaired: &["L1 CHECKPOINT_AHEAD checkpoint 300"],
    },
    Tampering {
        what: "the end of the log deleted, with its places in the order and the checkpoint over it",
        attack: |log| {
            let gone = log.order.split_off(290);
            log.events.retain(|event| !gone.contains(&event.id));
            log.checkpoints.pop();
        },
        careless: &["L1 ORDER_MISMATCH @256 event_ids"],
        // Only who knows of the checkpoint that is gone can tell: L2.
        repaired: NOTHING,
    },
    // --- events that were never written ---
    Tampering {
        what: "an event inserted at the end of a stream",
        attack: |log| insert(log, 500_000, "a", 4),
        // Not sealed, so no lie yet: the sealer will seal it like any other.
        careless: NOTHING,
        repaired: NOTHING,
    },
    Tampering {
        what: "an event inserted among those that are sealed",
        attack: |log| {
            // A number that was never used.
            log.events.iter_mut().for_each(|event| event.id *= 2);
            log.order.iter_mut().for_each(|id| *id *= 2);
            insert(log, 41, "a", 4);
        },
        careless: &["L1 EVENT_NOT_IN_ORDER a/4"],
        // Sealed behind the others, and not signed for: as if it had been appended.
        repaired: NOTHING,
    },
    Tampering {
        what: "an event doubled",
        attack: |log| {
            let twin = Event { id: 500_000, ..log.event(named("a"), 2).clone() };
            log.events.push(twin);
        },
        careless: &["L0 VERSION_DUPLICATE a/2"],
        repaired: BOTH,
    },
    Tampering {
        what: "the first event of a finished job doubled",
        attack: |log| {
            let twin = Event { id: 500_000, ..log.event(named("job"), 1).clone() };
            log.events.push(twin);
        },
        careless: &["L0 VERSION_DUPLICATE job/1"],
        repaired: &[
            "L0 ILLEGAL_HISTORY job/2",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    Tampering {
        what: "two rows of one version, the second with other words and its own hash",
        attack: |log| {
            let before = Hash::from_slice(&log.event(named("a"), 1).event_hash).unwrap();
            let mut twin = Event { id: 500_000, ..log.event(named("a"), 2).clone() };
            twin.say("\"number\":2", "\"number\":9");
            twin.event_hash = chain_hash(&before, &twin.event_bytes).0.to_vec();
            log.events.push(twin);
        },
        careless: &["L0 VERSION_DUPLICATE a/2"],
        repaired: BOTH,
    },
    // --- order ---
    Tampering {
        what: "two events of a stream swapped, row for row",
        attack: |log| {
            let (two, three) = (log.event(named("a"), 2).clone(), log.event(named("a"), 3).clone());
            *log.event(named("a"), 2) = Event { id: two.id, version: 77, ..three };
            *log.event(named("a"), 3) = Event { id: log.event(named("a"), 3).id, ..two };
            log.event(named("a"), 77).version = 3;
        },
        careless: &["L1 LEAF_MISMATCH a/3 @9", "L1 LEAF_MISMATCH a/2 @10"],
        repaired: BOTH,
    },
    Tampering {
        what: "what two events of a stream say swapped, with all hashes made right",
        attack: |log| {
            log.event(named("a"), 2).say("\"number\":2", "\"number\":3");
            log.event(named("a"), 3).say("\"number\":3", "\"number\":2");
            log.rehash(named("a"));
        },
        careless: &["L1 LEAF_MISMATCH a/2 @9", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: BOTH,
    },
    Tampering {
        what: "the order of two streams swapped",
        attack: |log| {
            let (a, b) = (log.position(named("a"), 3), log.position(named("b"), 1));
            log.order.swap(a, b);
        },
        careless: &["L1 LATE_EVENTS_MISMATCH", "L1 LEAF_MISMATCH b/1 @10", "L1 LEAF_MISMATCH a/3 @11"],
        repaired: BOTH,
    },
    Tampering {
        what: "one event in two places of the order",
        attack: |log| log.order[9] = log.order[8],
        careless: &["L1 ORDER_MISMATCH a/1 @9", "L1 EVENT_NOT_IN_ORDER a/2"],
        repaired: &[
            "L1 ORDER_MISMATCH a/1 @9",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    Tampering {
        what: "the insertion ids of two events swapped",
        attack: |log| {
            let (a, b) = (log.event(named("a"), 3).id, log.event(named("b"), 1).id);
            log.event(named("a"), 3).id = b;
            log.event(named("b"), 1).id = a;
            log.events.sort_by_key(|event| event.id);
        },
        careless: &["L1 LEAF_MISMATCH b/1 @10", "L1 LEAF_MISMATCH a/3 @11"],
        repaired: BOTH,
    },
    Tampering {
        what: "where the ids of a tile begin",
        attack: |log| log.first_ids.extend([(1, 3)]),
        careless: &["L1 ORDER_MISMATCH @256 first_id"],
        repaired: NOTHING,
    },
    Tampering {
        what: "an event said to be late that was not",
        attack: |log| log.late.push((7, 6)),
        careless: &["L1 LATE_EVENTS_MISMATCH"],
        repaired: NOTHING,
    },
    // --- spellings: the value is the same, the bytes are not ---
    Tampering {
        what: "a space",
        attack: |log| respell(log, "\"schema\":1", "\"schema\": 1"),
        careless: &["L0 JSON_NOT_CANONICAL a/3 @10", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: &[
            "L0 JSON_NOT_CANONICAL a/3 @10",
            "L1 LEAF_MISMATCH a/3 @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    Tampering {
        what: "a key out of order",
        attack: |log| respell(log, "{\"number\":3}", "{\"z\":1,\"number\":3}"),
        careless: &["L0 JSON_NOT_CANONICAL a/3 @10", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: &[
            "L0 JSON_NOT_CANONICAL a/3 @10",
            "L1 LEAF_MISMATCH a/3 @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    Tampering {
        what: "1.0 for 1",
        attack: |log| respell(log, "\"schema\":1", "\"schema\":1.0"),
        careless: &["L0 JSON_NUMBER_NOT_INTEGER a/3 @10", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: &[
            "L0 JSON_NUMBER_NOT_INTEGER a/3 @10",
            "L1 LEAF_MISMATCH a/3 @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    Tampering {
        what: "an escape for a letter",
        attack: |log| respell(log, "user:test", "user:\\u0074est"),
        careless: &["L0 JSON_NOT_CANONICAL a/3 @10", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: &[
            "L0 JSON_NOT_CANONICAL a/3 @10",
            "L1 LEAF_MISMATCH a/3 @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    Tampering {
        what: "a key twice",
        attack: |log| respell(log, "\"number\":3", "\"number\":3,\"number\":3"),
        careless: &["L0 JSON_DUPLICATE_KEY a/3 @10", "L1 LEAF_MISMATCH a/3 @10"],
        repaired: &[
            "L0 JSON_DUPLICATE_KEY a/3 @10",
            "L1 LEAF_MISMATCH a/3 @10",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 13",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 300",
        ],
    },
    // --- hashes ---
    Tampering {
        what: "a first event chained to something",
        attack: |log| {
            let event = log.event(named("a"), 1);
            event.event_hash = chain_hash(&Hash([1; 32]), &event.event_bytes).0.to_vec();
        },
        careless: &["L0 HASH_MISMATCH a/1 @8 event_hash", "L1 LEAF_MISMATCH a/1 @8"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a hash cut short",
        attack: |log| log.event(named("a"), 2).event_hash.truncate(31),
        careless: &["L0 HASH_MISMATCH a/2 @9 event_hash", "L1 LEAF_MISMATCH a/2 @9"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a hash that is NULL",
        attack: |log| {
            let id = log.event(named("a"), 2).id;
            log.null_hashes.push(id);
        },
        careless: &["L0 HASH_MISMATCH a/2 @9 event_hash", "L1 LEAF_MISMATCH a/2 @9"],
        repaired: &["L0 HASH_MISMATCH a/2 @9 event_hash", "L1 LEAF_MISMATCH a/2 @9"],
    },
    // --- tiles and root ---
    Tampering {
        what: "a leaf in a full tile",
        attack: |log| log.tile(0, 0)[5 * 32] ^= 1,
        careless: &["L1 TILE_MISMATCH @5 tile/0/000"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a leaf in the last tile",
        attack: |log| log.tile(0, 1)[5 * 32] ^= 1,
        careless: &["L1 TILE_MISMATCH @261 tile/0/001.p/44"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a hash of an upper tile",
        attack: |log| log.tile(1, 0)[0] ^= 1,
        careless: &["L1 TILE_MISMATCH tile/1/000.p/1"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a full tile missing",
        attack: |log| log.tiles.retain(|tile| (tile.0, tile.1) != (0, 0)),
        careless: &["L1 TILE_MISSING tile/0/000"],
        repaired: NOTHING,
    },
    Tampering {
        what: "an upper tile missing",
        attack: |log| log.tiles.retain(|tile| tile.0 != 1),
        careless: &["L1 TILE_MISSING tile/1/000.p/1"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a tile cut short",
        attack: |log| log.tile(0, 1).truncate(20 * 32),
        careless: &["L1 TILE_MISMATCH tile/0/001.p/44"],
        repaired: NOTHING,
    },
    Tampering {
        what: "a tile that has no place in the tree",
        attack: |log| log.tiles.push((3, 0, vec![0; 32])),
        careless: &["L1 TILE_SURPLUS tile/3/0"],
        repaired: NOTHING,
    },
    Tampering {
        what: "the recorded root",
        attack: |log| log.root[0] ^= 1,
        careless: &["L1 ROOT_MISMATCH root"],
        repaired: NOTHING,
    },
    Tampering {
        what: "the recorded size, smaller",
        attack: |log| log.size = 299,
        careless: &[
            "L1 ORDER_MISMATCH @256 event_ids",
            "L1 TILE_MISMATCH tile/0/001.p/43",
            "L1 ROOT_MISMATCH root",
            "L1 CHECKPOINT_AHEAD checkpoint 300",
        ],
        repaired: NOTHING,
    },
    Tampering {
        what: "the recorded size, larger",
        attack: |log| log.size = 301,
        careless: &[
            "L1 ORDER_MISMATCH @256 event_ids",
            "L1 TILE_MISMATCH tile/0/001.p/45",
            "L1 ROOT_MISMATCH root",
        ],
        repaired: NOTHING,
    },
    // --- checkpoints ---
    Tampering {
        what: "a checkpoint over another size",
        attack: |log| {
            let other = log.newest_note().text.replace("\n300\n", "\n299\n");
            log.checkpoints[1].1 = log.checkpoints[1].1.replace(&log.newest_note().text, &other);
        },
        careless: &[
            "L1 CHECKPOINT_COLUMN_MISMATCH checkpoint 300 size",
            "L1 NOTE_SIGNATURE_INVALID checkpoint 300",
        ],
        repaired: &[
            "L1 CHECKPOINT_COLUMN_MISMATCH checkpoint 300 size",
            "L1 NOTE_SIGNATURE_INVALID checkpoint 300",
        ],
    },
    Tampering {
        what: "a checkpoint whose signature was changed",
        attack: |log| {
            let mut note = log.newest_note();
            note.signatures[0].signature[9] ^= 1;
            log.checkpoints[1].1 = note.to_string();
        },
        careless: &["L1 NOTE_SIGNATURE_INVALID checkpoint 300"],
        repaired: &["L1 NOTE_SIGNATURE_INVALID checkpoint 300"],
    },
    Tampering {
        what: "a checkpoint without signatures",
        attack: |log| log.checkpoints[1].1 = log.newest_note().text,
        careless: &["L1 NOTE_MALFORMED checkpoint 300"],
        repaired: &["L1 NOTE_MALFORMED checkpoint 300"],
    },
    Tampering {
        what: "a checkpoint that is no note",
        attack: |log| log.checkpoints[1].1 = "to whom it may concern".to_owned(),
        careless: &["L1 NOTE_MALFORMED checkpoint 300"],
        repaired: &["L1 NOTE_MALFORMED checkpoint 300"],
    },
    Tampering {
        what: "a checkpoint made later than the log signed",
        attack: |log| log.checkpoints[1].2 += 1_000_000,
        careless: &["L1 CHECKPOINT_COLUMN_MISMATCH checkpoint 300 made_at"],
        repaired: &["L1 CHECKPOINT_COLUMN_MISMATCH checkpoint 300 made_at"],
    },
    Tampering {
        what: "a checkpoint filed under another size",
        attack: |log| log.checkpoints[1].0 = 200,
        careless: &["L1 CHECKPOINT_COLUMN_MISMATCH checkpoint 200 size"],
        repaired: &["L1 CHECKPOINT_COLUMN_MISMATCH checkpoint 200 size"],
    },
    Tampering {
        what: "two checkpoints of one size, the second by another key",
        attack: |log| {
            let mut twin = log.clone();
            twin.checkpoints.remove(0);
            twin.sign(&LogSecret::new([9; 32]), ORIGIN);
            log.checkpoints.append(&mut twin.checkpoints);
        },
        careless: &["L1 CHECKPOINT_DUPLICATE checkpoint 300", "L1 CHECKPOINT_KEY_UNKNOWN checkpoint 300"],
        repaired: &["L1 CHECKPOINT_DUPLICATE checkpoint 300", "L1 CHECKPOINT_KEY_UNKNOWN checkpoint 300"],
    },
    Tampering {
        what: "all checkpoints signed by another key",
        attack: |log| log.sign(&LogSecret::new([9; 32]), ORIGIN),
        careless: &["L1 CHECKPOINT_KEY_UNKNOWN checkpoint 13", "L1 CHECKPOINT_KEY_UNKNOWN checkpoint 300"],
        repaired: &["L1 CHECKPOINT_KEY_UNKNOWN checkpoint 13", "L1 CHECKPOINT_KEY_UNKNOWN checkpoint 300"],
    },
    Tampering {
        what: "the key of the log swapped in its event, and everything signed by it",
        attack: swap_key,
        careless: NOTHING,
        // A log of one's own. Only who knows the right key, or kept a checkpoint, can tell.
        repaired: NOTHING,
    },
    Tampering {
        what: "all checkpoints gone",
        attack: |log| log.checkpoints.clear(),
        // As if it had never been signed: nothing is covered, and verify says so.
        careless: NOTHING,
        repaired: NOTHING,
    },
];

fn delete(log: &mut Log, name: &str, version: i32) {
    log.events.retain(|event| (event.stream_id, event.version) != (named(name).0, version));
}

/// An event in the right place of its stream, with the right hash.
fn insert(log: &mut Log, id: i64, name: &str, version: i32) {
    let mut event = log.event(named(name), version - 1).clone();
    event.say(&format!("\"version\":{}", version - 1), &format!("\"version\":{version}"));
    (event.id, event.version) = (id, version);
    log.events.push(event);
    log.events.sort_by_key(|event| event.id);
    log.rehash(named(name));
}

/// The last event of a stream in another spelling, with its hash made right.
fn respell(log: &mut Log, before: &str, after: &str) {
    log.event(named("a"), 3).say(before, after);
    log.rehash(named("a"));
}

fn swap_key(log: &mut Log) {
    let other = LogSecret::new([9; 32]);
    log.event(named("log"), 1).say(secret().public_hex(), other.public_hex());
    log.repair();
    log.sign(&other, ORIGIN);
}

type Case = (String, Log, VerifyOptions, Vec<&'static str>);

/// Every line of a table, by both attackers.
pub fn attacks(table: &[Tampering], sound: &Log) -> impl Iterator<Item = Case> {
    table.iter().flat_map(|case| {
        let mut careless = sound.clone();
        (case.attack)(&mut careless);
        let mut repaired = careless.clone();
        repaired.repair();
        [(careless, case.careless, "careless"), (repaired, case.repaired, "repaired")].map(
            |(log, expected, how)| {
                (format!("{} ({how})", case.what), log, VerifyOptions::default(), expected.to_vec())
            },
        )
    })
}

/// Is exactly that found which is expected?
pub async fn check(db: &TestDatabase, cases: impl Iterator<Item = Case>, store: &bpc_eventstore::Store) {
    let mut wrong = Vec::new();
    for (what, log, options, expected) in cases {
        log.store(store).await;
        let report = report(store, &options).await;
        let found: Vec<String> = report.findings.iter().map(line).collect();
        let is_as_expected = match expected.split_last() {
            Some((&"..", first)) => found.len() > first.len() && found[..first.len()] == *first,
            _ => found == expected,
        };
        if !is_as_expected {
            let shown: Vec<_> = found.iter().take(8).collect();
            wrong.push(format!("{what}: {} findings {shown:#?} instead of {expected:#?}", found.len()));
        }
    }
    assert!(wrong.is_empty(), "on {:?}:\n{}", db.kind(), wrong.join("\n"));
}

on_both_databases! {
    async fn without_the_key_every_tampering_is_found_where_it_is(db) {
        let store = log_of(&db, 300).await;
        lift_rules(&store).await;
        let sound = Log::load(&store).await;
        sound.store(&store).await;
        let untouched = report(&store, &VerifyOptions::default()).await;
        assert!(untouched.is_sound(), "{:#?}", untouched.findings);
        assert_eq!((untouched.held, untouched.up_to_position, untouched.unsealed), (Some("L1"), 300, 2));
        check(&db, attacks(TABLE, &sound), &store).await;
    }

    async fn with_the_key_or_a_key_of_ones_own_what_others_kept_tells(db) {
        let store = log_of(&db, 300).await;
        lift_rules(&store).await;
        let sound = Log::load(&store).await;
        let public = hex::decode(secret().public_hex()).unwrap().try_into().unwrap();
        let key = VerifierKey::new(ORIGIN, SignatureKind::Ed25519, &public).unwrap();
        let keep = |at: usize| KeptCheckpoint::parse(sound.checkpoints[at].1.as_bytes()).unwrap();
        let kept = || VerifyOptions { checkpoints: vec![keep(0), keep(1)], ..VerifyOptions::default() };
        let known = || VerifyOptions { keys: vec![key.clone()], ..VerifyOptions::default() };
        let nothing = VerifyOptions::default;
        let forged = |attack: fn(&mut Log)| {
            let mut log = sound.clone();
            attack(&mut log);
            log
        };
        let rewritten = || forged(|log| {
            log.event(named("a"), 2).say("\"number\":2", "\"number\":7");
            log.repair();
            log.sign(&secret(), ORIGIN);
        });
        let truncated = || forged(|log| {
            let gone = log.order.split_off(290);
            log.events.retain(|event| !gone.contains(&event.id));
            log.repair();
            log.sign(&secret(), ORIGIN);
        });
        let restored = || forged(|log| {
            let gone = log.order.split_off(13);
            log.events.retain(|event| !gone.contains(&event.id) && event.version < 3 || event.stream_id != named("b").0 && !gone.contains(&event.id));
            log.reseal();
            log.checkpoints.pop();
        });
        let cases = vec![
            ("nothing", sound.clone(), kept(), vec![]),
            ("nothing", sound.clone(), known(), vec![]),
            ("an event rewritten and everything signed again", rewritten(), nothing(), vec![]),
            (
                "an event rewritten and everything signed again",
                rewritten(),
                kept(),
                vec!["L2 HISTORY_REWRITTEN checkpoint 13", "L2 HISTORY_REWRITTEN checkpoint 300"],
            ),
            ("the end cut off and the rest signed again", truncated(), nothing(), vec![]),
            ("the end cut off and the rest signed again", truncated(), kept(), vec!["L2 LOG_TRUNCATED checkpoint 300"]),
            ("an old backup restored", restored(), nothing(), vec![]),
            ("an old backup restored", restored(), kept(), vec!["L2 LOG_TRUNCATED checkpoint 300"]),
            ("a log of one's own under a key of one's own", forged(swap_key), nothing(), vec![]),
            ("a log of one's own under a key of one's own", forged(swap_key), known(), vec!["L1 KEY_NOT_KNOWN"]),
            (
                "a log of one's own under a key of one's own",
                forged(swap_key),
                kept(),
                vec!["L2 CHECKPOINT_KEY_UNKNOWN checkpoint 13", "L2 CHECKPOINT_KEY_UNKNOWN checkpoint 300"],
            ),
            (
                "the sealer stopped",
                forged(|log| {
                    log.order.truncate(13);
                    log.reseal();
                    log.checkpoints.pop();
                }),
                VerifyOptions { unsealed_age_max: Some(Duration::from_secs(30)), ..nothing() },
                vec!["L1 SEALER_BEHIND"],
            ),
        ];
        let cases = cases.into_iter().map(|(what, log, options, expected)| (what.to_owned(), log, options, expected));
        check(&db, cases, &store).await;
    }
}

#[test]
fn every_line_of_the_table_is_about_something_else() {
    assert_all_differ(TABLE);
}

/// No two lines of a table have one name.
pub fn assert_all_differ(table: &[Tampering]) {
    let mut names: Vec<_> = table.iter().map(|case| case.what).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), table.len());
}
