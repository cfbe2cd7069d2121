//! Any bit of any stored column of any table of the log, one by one.
//!
//! Every flip is found, but for a list of places where a bit says nothing about the log. That list is
//! [`irrelevant`], and whatever is on it is tried too, and must indeed be silent.

use std::collections::BTreeMap;

use bpc_eventstore::verify::VerifyOptions;
use bpc_testkit::on_both_databases;

use crate::log::{Event, Log, lift_rules};
use crate::scene::{line, log_of, report};

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

fn of_event(index: usize, event: &Event) -> Vec<Place> {
    fn place(index: usize, column: &'static str, bits: usize, flip: fn(&mut Event, usize)) -> Place {
        Place { column, bits, flip: Box::new(move |log, bit| flip(&mut log.events[index], bit)) }
    }
    vec![
        place(index, "occurred_at", 63, |event, bit| number(&mut event.occurred_at, bit)),
        place(index, "version", 31, |event, bit| event.version ^= 1 << bit),
        place(index, "tenant_id", 128, |event, bit| {
            let mut id = event.tenant_id.into_bytes();
            bytes(&mut id, bit);
            event.tenant_id = uuid::Uuid::from_bytes(id);
        }),
        place(index, "stream_id", 128, |event, bit| {
            let mut id = event.stream_id.into_bytes();
            bytes(&mut id, bit);
            event.stream_id = uuid::Uuid::from_bytes(id);
        }),
        place(index, "stream_type", event.stream_type.len() * 8, |event, bit| {
            text(&mut event.stream_type, bit);
        }),
        place(index, "event_type", event.event_type.len() * 8, |event, bit| {
            text(&mut event.event_type, bit);
        }),
        place(index, "event_hash", event.event_hash.len() * 8, |event, bit| {
            bytes(&mut event.event_hash, bit)
        }),
        place(index, "event_bytes", event.event_bytes.len() * 8, |event, bit| {
            bytes(&mut event.event_bytes, bit)
        }),
    ]
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

/// Every `step`-th bit, beginning with another one in each place: all places are tried, and in all of them
/// together all bits of a byte.
async fn flip_all(db: &bpc_testkit::TestDatabase, step: usize) {
    let store = log_of(db, 48).await;
    lift_rules(&store).await;
    let sound = Log::load(&store).await;
    assert_eq!(sound.events.len(), 50);
    let mut places = of_seals(&sound);
    for (index, event) in sound.events.iter().enumerate() {
        places.extend(of_event(index, event));
    }
    let (mut tried, mut silent) = (BTreeMap::new(), Vec::new());
    for (number, place) in places.iter().enumerate() {
        for bit in (number % step..place.bits).step_by(step) {
            let mut log = sound.clone();
            (place.flip)(&mut log, bit);
            log.store_changes(&sound, &store).await;
            let found = report(&store, &VerifyOptions::default()).await;
            *tried.entry(place.column).or_insert(0) += 1;
            if irrelevant(&sound, &log) {
                assert!(
                    found.is_sound(),
                    "{} bit {bit}: {:?}",
                    place.column,
                    found.findings.iter().map(line).collect::<Vec<_>>()
                );
            } else if found.is_sound() {
                silent.push(format!("{} bit {bit}", place.column));
            }
            sound.store_changes(&log, &store).await;
        }
    }
    assert!(silent.is_empty(), "of {tried:?} these were not found: {silent:#?}");
    let columns = [
        "event_bytes",
        "event_hash",
        "tiles.hashes",
        "log_order.event_ids",
        "checkpoints.note",
        "log_state.root",
    ];
    assert!(columns.iter().all(|column| tried.contains_key(column)), "{tried:?}");
}

on_both_databases! {
    /// Some thousand of them at every run.
    async fn a_bit_turned_over_is_found(db) {
        flip_all(&db, 97).await;
    }

    /// All of them: some hundred thousand, an hour on each database.
    #[ignore = "takes an hour; run with --ignored"]
    async fn every_bit_turned_over_is_found(db) {
        flip_all(&db, 1).await;
    }
}
