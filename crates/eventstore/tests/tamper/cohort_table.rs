//! The table of tamperings with rows that hold events of many jobs, as the other table has it.

use bpc_core::{Hash, chain_hash};
use bpc_eventstore::verify::VerifyOptions;
use bpc_testkit::TestDatabase;
use uuid::Uuid;

use crate::cohort::CohortRow;
use crate::log::{Bend, Event, Log, lift_rules};
use crate::scene::{log_of_cohorts, named, report};
use crate::table::{NOTHING, Tampering, assert_all_differ, attacks, check};

/// The first three are enqueued, leased, and two of them succeed; the others succeed, which is not sealed.
const ENQUEUED: i64 = 192;
const LEASED: i64 = 256;
const SUCCEEDED: i64 = 320;

/// Both checkpoints speak of another log.
const BOTH: &[&str] = &["L1 CHECKPOINT_MISMATCH @0 checkpoint 15", "L1 CHECKPOINT_MISMATCH @0 checkpoint 23"];
/// The log is shorter than what was signed for, and its beginning is another.
const SHORTER: &[&str] = &["L1 CHECKPOINT_MISMATCH @0 checkpoint 15", "L1 CHECKPOINT_AHEAD checkpoint 23"];

/// What is found when the row of those who are leased is no cohort.
macro_rules! broken {
    ($finding:literal) => {
        &[
            $finding,
            "L0 VERSION_GAP one-1/3 @8",
            "L0 VERSION_GAP one-2/3 @9",
            "L0 VERSION_GAP one-3/3 @10",
            "L1 EVENT_MISSING @5",
            "L1 EVENT_MISSING @6",
            "L1 EVENT_MISSING @7",
        ]
    };
}

const TABLE: &[Tampering] = &[
    // --- what an event says ---
    Tampering {
        what: "a word in one event",
        attack: |log| log.event(named("one-2"), 2).say("\"w1\"", "\"w2\""),
        careless: &["L0 HASH_MISMATCH one-2/2 @6 event_hash"],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in one event, with its own hash made right",
        attack: |log| {
            let before = Hash::from_slice(&log.event(named("one-2"), 1).event_hash).unwrap();
            let event = log.event(named("one-2"), 2);
            event.say("\"w1\"", "\"w2\"");
            event.event_hash = chain_hash(&before, &event.event_bytes).0.to_vec();
        },
        careless: &["L0 HASH_MISMATCH one-2/3 @9 event_hash", "L1 LEAF_MISMATCH one-2/2 @6"],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in one event, with all hashes of its stream made right",
        attack: |log| {
            log.event(named("one-3"), 2).say("\"w1\"", "\"w2\"");
            log.rehash(named("one-3"));
        },
        careless: &[
            "L1 LEAF_MISMATCH one-3/2 @7",
            "L1 LEAF_MISMATCH one-3/3 @10",
            "L1 LEAF_MISMATCH one-3/4 @11",
        ],
        repaired: BOTH,
    },
    Tampering {
        what: "a word in an event that no checkpoint covers yet, with its hash made right",
        attack: |log| {
            log.event(named("two-2"), 3).say("\"duration_ms\":5", "\"duration_ms\":7");
            log.rehash(named("two-2"));
        },
        careless: NOTHING,
        repaired: NOTHING,
    },
    Tampering {
        what: "a space in one event, with all hashes of its stream made right",
        attack: |log| {
            log.event(named("one-2"), 3).say("\"schema\":1", "\"schema\": 1");
            log.rehash(named("one-2"));
        },
        careless: &["L0 JSON_NOT_CANONICAL one-2/3 @9", "L1 LEAF_MISMATCH one-2/3 @9"],
        repaired: &[
            "L0 JSON_NOT_CANONICAL one-2/3 @9",
            "L1 LEAF_MISMATCH one-2/3 @9",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 15",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 23",
        ],
    },
    Tampering {
        what: "one hash",
        attack: |log| log.event(named("one-2"), 3).event_hash[7] ^= 1,
        careless: &["L0 HASH_MISMATCH one-2/3 @9 event_hash", "L1 LEAF_MISMATCH one-2/3 @9"],
        repaired: NOTHING,
    },
    // --- copies beside the events ---
    Tampering {
        what: "only the copied event type",
        attack: |log| bend(log, LEASED, |row| row.event_type = "RELEASED".to_owned()),
        careless: &[
            "L0 COLUMN_MISMATCH one-1/2 @5 event_type",
            "L0 COLUMN_MISMATCH one-2/2 @6 event_type",
            "L0 COLUMN_MISMATCH one-3/2 @7 event_type",
        ],
        repaired: &[
            "L0 COLUMN_MISMATCH one-1/2 @5 event_type",
            "L0 COLUMN_MISMATCH one-2/2 @6 event_type",
            "L0 COLUMN_MISMATCH one-3/2 @7 event_type",
        ],
    },
    Tampering {
        what: "only the copied time",
        attack: |log| bend(log, SUCCEEDED, |row| row.occurred_at += 1),
        careless: &["L0 COLUMN_MISMATCH one-1/3 @8 occurred_at", "L0 COLUMN_MISMATCH one-2/3 @9 occurred_at"],
        repaired: &["L0 COLUMN_MISMATCH one-1/3 @8 occurred_at", "L0 COLUMN_MISMATCH one-2/3 @9 occurred_at"],
    },
    Tampering {
        what: "only the copied tenant",
        attack: |log| bend(log, SUCCEEDED, |row| row.tenant_id = Uuid::from_u128(1)),
        careless: &["L0 COLUMN_MISMATCH one-1/3 @8 tenant_id", "L0 COLUMN_MISMATCH one-2/3 @9 tenant_id"],
        repaired: &["L0 COLUMN_MISMATCH one-1/3 @8 tenant_id", "L0 COLUMN_MISMATCH one-2/3 @9 tenant_id"],
    },
    Tampering {
        what: "only the copied version",
        attack: |log| bend(log, SUCCEEDED, |row| row.version = 7),
        careless: &[
            "L0 COLUMN_MISMATCH one-1/7 @8 version",
            "L0 VERSION_GAP one-1/7 @8",
            "L0 COLUMN_MISMATCH one-2/7 @9 version",
            "L0 VERSION_GAP one-2/7 @9",
        ],
        repaired: &[
            "L0 COLUMN_MISMATCH one-1/7 @8 version",
            "L0 VERSION_GAP one-1/7 @8",
            "L0 COLUMN_MISMATCH one-2/7 @9 version",
            "L0 VERSION_GAP one-2/7 @9",
        ],
    },
    Tampering {
        what: "the id of a job in the middle, by its column",
        attack: |log| bend(log, LEASED, |row| row.stream_ids[31] ^= 8),
        careless: &[
            "L0 VERSION_GAP one-2/3 @9",
            "L0 COLUMN_MISMATCH ?/2 @6 stream_id",
            "L0 VERSION_GAP ?/2 @6",
        ],
        repaired: &[
            "L0 VERSION_GAP one-2/3 @9",
            "L0 COLUMN_MISMATCH ?/2 @6 stream_id",
            "L0 VERSION_GAP ?/2 @6",
        ],
    },
    // --- the row itself ---
    Tampering {
        what: "an id of a row that is not given out",
        attack: |log| bend(log, LEASED, |row| row.id += 1),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @6 id"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @6 id"),
    },
    Tampering {
        what: "the first job of a row",
        attack: |log| bend(log, LEASED, |row| row.first_stream_id = Uuid::from_u128(1)),
        careless: broken!("L0 COHORT_DAMAGED ?/2 @5 first_stream_id"),
        repaired: broken!("L0 COHORT_DAMAGED ?/2 @5 first_stream_id"),
    },
    Tampering {
        what: "the last job of a row",
        attack: |log| bend(log, LEASED, |row| row.last_stream_id = row.first_stream_id),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 last_stream_id"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 last_stream_id"),
    },
    Tampering {
        what: "a row without jobs",
        attack: |log| bend(log, LEASED, |row| row.stream_ids.clear()),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
    },
    Tampering {
        what: "a row without anything",
        attack: |log| {
            bend(log, LEASED, |row| {
                row.stream_ids.clear();
                row.event_hashes.clear();
                row.event_lines.clear();
            });
        },
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
    },
    Tampering {
        what: "more jobs than a row may have",
        attack: |log| {
            bend(log, LEASED, |row| {
                row.stream_ids = row.stream_ids.repeat(22);
                row.event_hashes = row.event_hashes.repeat(22);
                row.event_lines = [&row.event_lines[..]; 22].join(&b'\n');
            });
        },
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
    },
    Tampering {
        what: "the id of a job cut short",
        attack: |log| bend(log, LEASED, |row| row.stream_ids.truncate(47)),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
    },
    Tampering {
        what: "a job of another millisecond",
        attack: |log| bend(log, LEASED, |row| row.stream_ids[16 + 5] ^= 1),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
    },
    Tampering {
        what: "a job twice",
        attack: |log| bend(log, LEASED, |row| row.stream_ids.copy_within(0..16, 16)),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
    },
    Tampering {
        what: "a hash too few",
        attack: |log| bend(log, LEASED, |row| row.event_hashes.truncate(64)),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_hashes"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_hashes"),
    },
    Tampering {
        what: "a hash too many",
        attack: |log| bend(log, LEASED, |row| row.event_hashes.extend([0; 32])),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_hashes"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_hashes"),
    },
    Tampering {
        what: "only the line of an event removed",
        attack: |log| bend(log, LEASED, |row| row.with_lines(|lines| _ = lines.remove(1))),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_lines"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_lines"),
    },
    Tampering {
        what: "only the line of an event doubled",
        attack: |log| bend(log, LEASED, |row| row.with_lines(|lines| lines.push(lines[2]))),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_lines"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_lines"),
    },
    Tampering {
        what: "a line feed behind the last line",
        attack: |log| bend(log, LEASED, |row| row.event_lines.push(b'\n')),
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_lines"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 event_lines"),
    },
    Tampering {
        what: "only the lines of two neighbours swapped",
        attack: |log| bend(log, SUCCEEDED, |row| row.with_lines(|lines| lines.swap(0, 1))),
        careless: &[
            "L0 COLUMN_MISMATCH one-1/3 @8 stream_id",
            "L0 HASH_MISMATCH one-1/3 @8 event_hash",
            "L0 COLUMN_MISMATCH one-2/3 @9 stream_id",
            "L0 HASH_MISMATCH one-2/3 @9 event_hash",
            "L1 LEAF_MISMATCH one-1/3 @8",
            "L1 LEAF_MISMATCH one-2/3 @9",
        ],
        repaired: &[
            "L0 COLUMN_MISMATCH one-1/3 @8 stream_id",
            "L0 HASH_MISMATCH one-1/3 @8 event_hash",
            "L0 COLUMN_MISMATCH one-2/3 @9 stream_id",
            "L0 HASH_MISMATCH one-2/3 @9 event_hash",
            "L1 LEAF_MISMATCH one-1/3 @8",
            "L1 LEAF_MISMATCH one-2/3 @9",
        ],
    },
    Tampering {
        what: "two neighbours swapped, with ids and hashes",
        attack: |log| {
            let place = |log: &Log, name| {
                let is_it = |event: &Event| event.stream_id == named(name).0 && event.version == 2;
                log.events.iter().position(is_it).unwrap()
            };
            let (two, three) = (place(log, "one-2"), place(log, "one-3"));
            log.events.swap(two, three);
        },
        careless: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
        repaired: broken!("L0 COHORT_DAMAGED one-1/2 @5 stream_ids"),
    },
    // --- events and rows that are gone ---
    Tampering {
        what: "an event in the middle of a row deleted, with id and hash",
        attack: |log| log.events.retain(|it| (it.stream_id, it.version) != (named("one-2").0, 2)),
        careless: &["L0 VERSION_GAP one-2/3 @9", "L1 EVENT_MISSING @7", "L1 LEAF_MISMATCH one-3/2 @6"],
        repaired: &[
            "L0 COLUMN_MISMATCH one-2/3 @8 version",
            "L0 VERSION_GAP one-2/3 @8",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 15",
            "L1 CHECKPOINT_AHEAD checkpoint 23",
        ],
    },
    Tampering {
        what: "the last event of a row deleted, with id and hash",
        attack: |log| log.events.retain(|it| (it.stream_id, it.version) != (named("one-2").0, 3)),
        careless: &["L1 EVENT_MISSING @9"],
        repaired: SHORTER,
    },
    Tampering {
        what: "a row deleted",
        attack: |log| log.events.retain(|event| event.cohort != Some(LEASED)),
        careless: &[
            "L0 VERSION_GAP one-1/3 @8",
            "L0 VERSION_GAP one-2/3 @9",
            "L0 VERSION_GAP one-3/3 @10",
            "L1 EVENT_MISSING @5",
            "L1 EVENT_MISSING @6",
            "L1 EVENT_MISSING @7",
        ],
        repaired: &[
            "L0 ILLEGAL_HISTORY one-1/2 @5",
            "L0 ILLEGAL_HISTORY one-2/2 @6",
            "L0 ILLEGAL_HISTORY one-3/2 @7",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 15",
            "L1 CHECKPOINT_AHEAD checkpoint 23",
        ],
    },
    Tampering {
        what: "the last row of its jobs deleted",
        attack: |log| log.events.retain(|event| event.cohort != Some(SUCCEEDED)),
        careless: &["L1 EVENT_MISSING @8", "L1 EVENT_MISSING @9"],
        repaired: SHORTER,
    },
    // --- rows that were never written ---
    Tampering {
        what: "a row doubled",
        attack: |log| copy(log, LEASED, 6400),
        careless: &[
            "L0 VERSION_DUPLICATE one-1/2",
            "L0 VERSION_DUPLICATE one-2/2",
            "L0 VERSION_DUPLICATE one-3/2",
        ],
        repaired: &[
            "L0 ILLEGAL_HISTORY one-1/3",
            "L0 ILLEGAL_HISTORY one-2/3",
            "L0 ILLEGAL_HISTORY one-3/3",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 15",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 23",
        ],
    },
    Tampering {
        what: "the first row of its jobs doubled",
        attack: |log| copy(log, ENQUEUED, 6400),
        careless: &[
            "L0 VERSION_DUPLICATE one-1/1",
            "L0 VERSION_DUPLICATE one-2/1",
            "L0 VERSION_DUPLICATE one-3/1",
        ],
        repaired: &[
            "L0 ILLEGAL_HISTORY one-1/2",
            "L0 ILLEGAL_HISTORY one-2/2",
            "L0 ILLEGAL_HISTORY one-3/2",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 15",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 23",
        ],
    },
    Tampering {
        what: "an event of a row once more in a row of its own",
        attack: |log| {
            let twin = Event { id: 6400, cohort: None, ..log.event(named("one-2"), 2).clone() };
            log.events.push(twin);
        },
        careless: &["L0 VERSION_DUPLICATE one-2/2"],
        repaired: &[
            "L0 COLUMN_MISMATCH one-2/3 @9 version",
            "L0 HASH_MISMATCH one-2/3 @9 event_hash",
            "L0 VERSION_DUPLICATE one-2/3",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 15",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 23",
        ],
    },
    Tampering {
        what: "a row of events that no job of it has",
        attack: |log| {
            copy(log, SUCCEEDED, 6400);
            for event in log.events.iter_mut().filter(|event| event.cohort == Some(6400)) {
                event.say("\"version\":3}", "\"version\":4}");
                event.version = 4;
            }
            ["one-1", "one-2"].into_iter().for_each(|name| log.rehash(named(name)));
        },
        careless: &["L0 ILLEGAL_HISTORY one-1/4", "L0 ILLEGAL_HISTORY one-2/4"],
        repaired: &["L0 ILLEGAL_HISTORY one-1/4", "L0 ILLEGAL_HISTORY one-2/4"],
    },
    // --- ids ---
    Tampering {
        what: "another id of a row",
        attack: |log| {
            copy(log, LEASED, 6400);
            log.events.retain(|event| event.cohort != Some(LEASED));
        },
        careless: &["L1 EVENT_MISSING @5", "L1 EVENT_MISSING @6", "L1 EVENT_MISSING @7"],
        repaired: SHORTER,
    },
    Tampering {
        what: "the ids of two rows swapped",
        attack: |log| {
            for event in &mut log.events {
                let other = match event.cohort {
                    Some(LEASED) => SUCCEEDED,
                    Some(SUCCEEDED) => LEASED,
                    _ => continue,
                };
                event.id = event.id % 64 + other;
                event.cohort = Some(other);
            }
            log.events.sort_by_key(|event| event.id);
        },
        careless: &[
            "L1 EVENT_MISSING @7",
            "L1 EVENT_NOT_IN_ORDER one-3/2",
            "L1 LEAF_MISMATCH one-1/3 @5",
            "L1 LEAF_MISMATCH one-2/3 @6",
            "L1 LEAF_MISMATCH one-1/2 @8",
            "L1 LEAF_MISMATCH one-2/2 @9",
        ],
        repaired: BOTH,
    },
    Tampering {
        what: "an event with the id of one in a row of many",
        attack: |log| log.event(named("a"), 3).id = LEASED + 1,
        careless: &[
            "L0 COHORT_DAMAGED one-1/2 @5 id",
            "L1 EVENT_MISSING @14",
            "L1 EVENT_NOT_IN_ORDER a/3 @6",
        ],
        repaired: &[
            "L0 COHORT_DAMAGED one-1/2 @5 id",
            "L1 EVENT_NOT_IN_ORDER a/3 @6",
            "L1 CHECKPOINT_MISMATCH @0 checkpoint 15",
            "L1 CHECKPOINT_AHEAD checkpoint 23",
        ],
    },
    Tampering {
        what: "the last event of a row in a row of its own",
        attack: |log| log.event(named("one-3"), 2).cohort = None,
        // The same events, hashes and order in other rows: nothing was changed that is the log.
        careless: NOTHING,
        repaired: NOTHING,
    },
];

fn bend(log: &mut Log, id: i64, change: fn(&mut CohortRow)) {
    log.bends.push(Bend { id, change });
}

/// The events of a row once more, in a row with another id.
fn copy(log: &mut Log, row: i64, id: i64) {
    let events = log.events.iter().filter(|event| event.cohort == Some(row));
    let twins: Vec<Event> =
        events.map(|event| Event { id: event.id - row + id, cohort: Some(id), ..event.clone() }).collect();
    log.events.extend(twins);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tampering_with_rows_of_many_events_is_found_where_it_is() {
    let db = TestDatabase::postgres().await;
    let store = log_of_cohorts(&db).await;
    lift_rules(&store).await;
    let sound = Log::load(&store).await;
    sound.store(&store).await;
    let untouched = report(&store, &VerifyOptions::default()).await;
    assert!(untouched.is_sound(), "{:#?}", untouched.findings);
    assert_eq!((untouched.held, untouched.up_to_position, untouched.unsealed), (Some("L1"), 23, 3));
    check(&db, attacks(TABLE, &sound), &store).await;
}

#[test]
fn every_line_of_the_table_is_about_something_else() {
    assert_all_differ(TABLE);
}
