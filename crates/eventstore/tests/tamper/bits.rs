//! Any bit of any stored column of any table of the log.
//!
//! Every flip is found, but for those that say nothing about the log: [`irrelevant`] names them, and they are tried
//! too. By default one bit of every byte of events is turned over and some of everything else; with `BPC_TEST_LONG=1`
//! all bits there are.

use std::collections::{BTreeMap, HashSet};

use bpc_eventstore::Store;
use bpc_eventstore::verify::VerifyOptions;
use bpc_testkit::on_both_databases;
use uuid::Uuid;

use crate::common::{number as count, run_sql};
use crate::log::{Event, Log, lift_rules};
use crate::scene::{ORIGIN, line, log_of, report, secret};

type Flip = dyn Fn(&mut Log, usize);

/// A place where one bit can be turned over.
struct Place {
    column: &'static str,
    bits: usize,
    flip: Box<Flip>,
}

fn bytes(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

fn number(value: &mut i64, bit: usize) {
    *value ^= 1 << bit;
}

/// Text stays text: PostgreSQL keeps nothing else, and in SQLite other bytes are tried with the columns of
/// bytes.
fn text(value: &mut String, bit: usize) {
    let mut letters = value.clone().into_bytes();
    bytes(&mut letters, bit);
    if let Some(changed) = String::from_utf8(letters).ok().filter(|changed| !changed.contains('\0')) {
        *value = changed;
    }
}

type FlipEvent = fn(&mut Event, usize);

type Bits = fn(&Event) -> usize;

/// Columns of an event whose changes are found where they are: they are made to all events at once.
const TOGETHER: [(&str, Bits, FlipEvent); 6] = [
    ("occurred_at", |_| 63, |event, bit| number(&mut event.occurred_at, bit)),
    ("tenant_id", |_| 128, |event, bit| event.tenant_id = flipped(event.tenant_id, bit)),
    ("stream_type", |event| event.stream_type.len() * 8, |event, bit| text(&mut event.stream_type, bit)),
    ("event_type", |event| event.event_type.len() * 8, |event, bit| text(&mut event.event_type, bit)),
    ("event_hash", |event| event.event_hash.len() * 8, |event, bit| bytes(&mut event.event_hash, bit)),
    ("event_bytes", |event| event.event_bytes.len() * 8, |event, bit| bytes(&mut event.event_bytes, bit)),
];

/// Columns of an event that say which one it is.
const ALONE: [(&str, usize, FlipEvent); 2] = [
    ("version", 31, |event, bit| event.version ^= 1 << bit),
    ("stream_id", 128, |event, bit| event.stream_id = flipped(event.stream_id, bit)),
];

fn flipped(id: Uuid, bit: usize) -> Uuid {
    let mut id = id.into_bytes();
    bytes(&mut id, bit);
    Uuid::from_bytes(id)
}

fn of_events(log: &Log) -> Vec<Place> {
    let mut places = Vec::new();
    for index in 0..log.events.len() {
        for (column, bits, flip) in ALONE {
            let flip = move |log: &mut Log, bit: usize| flip(&mut log.events[index], bit);
            places.push(Place { column, bits, flip: Box::new(flip) });
        }
    }
    places
}

fn of_seals(log: &Log) -> Vec<Place> {
    let mut places = Vec::new();
    for position in 0..log.order.len() {
        // Ids are small here; a high bit makes one that is not there, as a low one does.
        let flip = move |log: &mut Log, bit: usize| number(&mut log.order[position], bit * 5);
        places.push(Place { column: "log_order.event_ids", bits: 12, flip: Box::new(flip) });
    }
    let flip = |log: &mut Log, bit: usize| {
        let mut first = 1;
        number(&mut first, bit);
        log.first_ids.insert(0, first);
    };
    places.push(Place { column: "log_order.first_id", bits: 62, flip: Box::new(flip) });
    for (index, tile) in log.tiles.iter().enumerate() {
        let flip = move |log: &mut Log, bit: usize| bytes(&mut log.tiles[index].2, bit);
        places.push(Place { column: "tiles.hashes", bits: tile.2.len() * 8, flip: Box::new(flip) });
        let flip = move |log: &mut Log, bit: usize| number(&mut log.tiles[index].0, bit);
        places.push(Place { column: "tiles.level", bits: 8, flip: Box::new(flip) });
        let flip = move |log: &mut Log, bit: usize| number(&mut log.tiles[index].1, bit);
        places.push(Place { column: "tiles.tile_index", bits: 62, flip: Box::new(flip) });
    }
    let flip = |log: &mut Log, bit: usize| number(&mut log.size, bit);
    // Larger sizes make a walk through positions that are not there; a few bits are enough of it.
    places.push(Place { column: "log_state.size", bits: 14, flip: Box::new(flip) });
    let flip = |log: &mut Log, bit: usize| bytes(&mut log.root, bit);
    places.push(Place { column: "log_state.root", bits: 256, flip: Box::new(flip) });
    for index in 0..log.late.len() {
        let flip = move |log: &mut Log, bit: usize| number(&mut log.late[index].0, bit);
        places.push(Place { column: "late_events.event_id", bits: 62, flip: Box::new(flip) });
        let flip = move |log: &mut Log, bit: usize| number(&mut log.late[index].1, bit);
        places.push(Place { column: "late_events.position", bits: 62, flip: Box::new(flip) });
    }
    for (index, checkpoint) in log.checkpoints.iter().enumerate() {
        let flip = move |log: &mut Log, bit: usize| number(&mut log.checkpoints[index].0, bit);
        places.push(Place { column: "checkpoints.size", bits: 62, flip: Box::new(flip) });
        let flip = move |log: &mut Log, bit: usize| text(&mut log.checkpoints[index].1, bit);
        places.push(Place { column: "checkpoints.note", bits: checkpoint.1.len() * 8, flip: Box::new(flip) });
        let flip = move |log: &mut Log, bit: usize| number(&mut log.checkpoints[index].2, bit);
        places.push(Place { column: "checkpoints.made_at", bits: 62, flip: Box::new(flip) });
    }
    places
}

/// Flips that say nothing about the log.
fn irrelevant(before: &Log, after: &Log) -> bool {
    // The flip made no text, so nothing was changed.
    if before == after {
        return true;
    }
    // The time of a checkpoint is signed to the second.
    let times = |log: &Log| log.checkpoints.iter().map(|it| it.2 / 1_000_000).collect::<Vec<_>>();
    let rounded = Log { checkpoints: before.checkpoints.clone(), ..after.clone() };
    rounded == *before
        && times(before) == times(after)
        && before.checkpoints.iter().zip(&after.checkpoints).all(|(a, b)| (&a.0, &a.1) == (&b.0, &b.1))
}

/// A log of 50 events, of which two were sealed late, and two not yet.
async fn sound_log(db: &bpc_testkit::TestDatabase) -> (Store, Log) {
    let store = log_of(db, 48).await;
    lift_rules(&store).await;
    let mut log = Log::load(&store).await;
    // Of different streams, so that both stay in the order of their versions.
    let (a, b) = (log.position(crate::scene::named("a"), 3), log.position(crate::scene::named("b"), 1));
    log.order.swap(a, b);
    let (job, many) =
        (log.position(crate::scene::named("other-job"), 6), log.position(crate::scene::named("many"), 1));
    log.order.swap(job, many);
    log.reseal();
    log.sign(&secret(), ORIGIN);
    log.store(&store).await;
    let log = Log::load(&store).await;
    assert_eq!((log.events.len(), log.late.len(), log.checkpoints.len()), (50, 2, 2));
    let found = report(&store, &VerifyOptions::default()).await;
    assert!(found.is_sound(), "{:#?}", found.findings);
    (store, log)
}

fn is_long() -> bool {
    std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1")
}

on_both_databases! {
    async fn a_bit_of_an_event_turned_over_is_found_where_it_is(db) {
        let (store, sound) = sound_log(&db).await;
        // Nine, so that all bits of a byte have their turn.
        let step = if is_long() { 1 } else { 9 };
        let (mut tried, mut silent) = (0, Vec::new());
        for (column, bits, flip) in TOGETHER {
            let bits_max = sound.events.iter().map(bits).max().unwrap();
            for bit in (0..bits_max).step_by(step) {
                let mut log = sound.clone();
                log.events.iter_mut().filter(|event| bit < bits(event)).for_each(|event| flip(event, bit));
                log.store_changes(&sound, &store).await;
                let options = VerifyOptions::default();
                let found = report(&store, &options).await;
                let places: HashSet<_> = found.findings.iter().map(|it| (it.stream.0, it.version)).collect();
                for (before, after) in sound.events.iter().zip(&log.events).filter(|(before, after)| before != after) {
                    tried += 1;
                    if !places.contains(&(before.stream_id, Some(before.version.into()))) {
                        silent.push(format!("{column} bit {bit} of event {}", after.id));
                    }
                }
                sound.store_changes(&log, &store).await;
            }
        }
        assert!(silent.is_empty(), "of {tried} these were not found: {silent:#?}");
        assert!(tried > 15_000, "{tried}");
        assert!(report(&store, &VerifyOptions::default()).await.is_sound());
    }

    async fn a_bit_of_the_order_the_tree_or_a_checkpoint_turned_over_is_found(db) {
        let (store, sound) = sound_log(&db).await;
        let mut places = of_seals(&sound);
        places.extend(of_events(&sound));
        let step = if is_long() { 1 } else { 61 };
        let (mut tried, mut silent) = (BTreeMap::new(), Vec::new());
        for (number, place) in places.iter().enumerate() {
            // Beginning with another bit in each place: together all bits of a byte are tried.
            for bit in (number % step.min(place.bits)..place.bits).step_by(step) {
                let mut log = sound.clone();
                (place.flip)(&mut log, bit);
                log.store_changes(&sound, &store).await;
                let found = report(&store, &VerifyOptions::default()).await;
                *tried.entry(place.column).or_insert(0) += 1;
                if irrelevant(&sound, &log) {
                    let found: Vec<_> = found.findings.iter().map(line).collect();
                    assert!(found.is_empty(), "{} bit {bit}: {found:?}", place.column);
                } else if found.is_sound() {
                    silent.push(format!("{} bit {bit}", place.column));
                }
                sound.store_changes(&log, &store).await;
            }
        }
        assert!(silent.is_empty(), "of {tried:?} these were not found: {silent:#?}");
        assert_eq!(tried.len(), 14, "a column of every sort: {tried:?}");
    }

    /// The id of a row says where it stands in the order, and nothing while it does not stand there.
    async fn a_bit_of_an_id_turned_over_is_found_once_the_event_is_sealed(db) {
        let (store, sound) = sound_log(&db).await;
        let mut silent = Vec::new();
        for (number, event) in sound.events.iter().enumerate() {
            for bit in (number % 7..40).step_by(if is_long() { 1 } else { 13 }) {
                let id = event.id ^ (1 << bit);
                if count(&store, &format!("SELECT count(*) FROM events WHERE id = {id}")).await > 0 {
                    continue;
                }
                set_id(&store, event.id, id).await;
                let found = report(&store, &VerifyOptions::default()).await;
                if found.is_sound() {
                    silent.push(event.id);
                }
                set_id(&store, id, event.id).await;
            }
        }
        let unsealed: Vec<i64> = sound.events.iter().map(|it| it.id).filter(|id| !sound.order.contains(id)).collect();
        assert_eq!(unsealed.len(), 2);
        assert!(silent.iter().all(|id| unsealed.contains(id)), "{silent:?}");
    }

    /// What else belongs to sealing: where the sealer looks again. Whatever stands there, nothing sealed is another.
    async fn gaps_that_the_sealer_remembers_are_no_part_of_the_log(db) {
        let (store, _) = sound_log(&db).await;
        if store.kind() == "postgres" {
            let gap = "INSERT INTO seal_gaps (is_fresh, writers, first_ids, last_ids) VALUES (false, '{3/7}', '{1000000}', '{2000000}')";
            run_sql(&store, gap).await.unwrap();
            for change in ["is_fresh = true", "writers = '{}'", "first_ids = '{7777777}'", "last_ids = '{1000000}'"] {
                run_sql(&store, &format!("UPDATE seal_gaps SET {change}")).await.unwrap();
                let found = report(&store, &VerifyOptions::default()).await;
                assert!(found.is_sound(), "{change}: {:#?}", found.findings);
            }
        }
    }
}

async fn set_id(store: &Store, from: i64, to: i64) {
    if store.kind() == "postgres" {
        // An identity column takes no value in an update.
        let columns =
            "tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes";
        let sql = format!(
            "WITH gone AS (DELETE FROM events WHERE id = {from} RETURNING {columns}) \
             INSERT INTO events (id, {columns}) OVERRIDING SYSTEM VALUE SELECT {to}, {columns} FROM gone"
        );
        run_sql(store, &sql).await.unwrap();
    } else {
        run_sql(store, &format!("UPDATE events SET id = {to} WHERE id = {from}")).await.unwrap();
    }
}
