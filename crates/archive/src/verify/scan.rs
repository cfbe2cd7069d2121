//! The quick check: every event once, in order, on all cores. It says yes, or that something is wrong and the
//! exact look must say what.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle, available_parallelism};

use bpc_core::{Hash, StreamId};
use bpc_eventstore::verify::quick::{Checker, Keys, RawEvent, Tally, shard_of};

use crate::archive::Archive;
use crate::segment::SegmentError;

use super::batch::{Batch, Placed, read_segment};

/// Batches on their way at once: one is checked while the next is read and the one before gathered.
const IN_FLIGHT_MAX: usize = 4;

/// What came of one run over all events.
pub(super) struct Scanned {
    /// Of each checker.
    pub(super) tallies: Vec<Tally>,
    /// Segments that cannot be read, or are not those that the manifest names.
    pub(super) broken: Vec<(usize, SegmentError)>,
    /// Is every hash that segments say stands before an event the right one, and none missing?
    pub(super) is_linked: bool,
}

/// Leaves of a batch; `None` for an event that is not sound, or belongs to a stream that is not followed.
type Leaves = Vec<(u32, Option<Hash>)>;

/// Check everything, following streams in `range` on at most so much memory. `each` gets the batches in order,
/// with the leaves of their events.
pub(super) fn scan(
    archive: &Archive,
    keys: &Keys,
    range: RangeInclusive<u64>,
    bytes_max: usize,
    mut each: impl FnMut(&Batch, &[Option<Hash>]),
) -> Scanned {
    let cores = available_parallelism().map_or(2, usize::from).min(64);
    thread::scope(|scope| {
        let mut shards: Vec<Shard<'_>> = Vec::with_capacity(cores);
        let mut inboxes = Vec::with_capacity(cores);
        for at in 0..cores {
            let (inbox, batches) = sync_channel(IN_FLIGHT_MAX);
            let (outbox, leaves) = sync_channel(IN_FLIGHT_MAX);
            let checker = Checker::new(keys.clone(), range.clone(), bytes_max / cores);
            let task = scope.spawn(move || check(at as u8, checker, &batches, &outbox));
            shards.push(Shard { leaves, task });
            inboxes.push(inbox);
        }
        let (gather, batches) = sync_channel::<Arc<Batch>>(IN_FLIGHT_MAX);
        let reader = scope.spawn(move || read(archive, &inboxes, &gather));
        for batch in batches {
            let mut leaves = vec![None; batch.len()];
            for shard in &shards {
                // A checker that is gone has panicked, which is told when it is waited for.
                for (number, leaf) in shard.leaves.recv().unwrap_or_default() {
                    leaves[number as usize] = leaf;
                }
            }
            each(&batch, &leaves);
        }
        let broken = ended(reader);
        let (mut tallies, mut is_linked) = (Vec::with_capacity(cores), true);
        for shard in shards {
            drop(shard.leaves);
            let (tally, links) = ended(shard.task);
            tallies.push(tally);
            is_linked &= links;
        }
        Scanned { tallies, broken, is_linked }
    })
}

struct Shard<'s> {
    leaves: Receiver<Leaves>,
    task: ScopedJoinHandle<'s, (Tally, bool)>,
}

fn read(
    archive: &Archive,
    inboxes: &[SyncSender<Arc<Batch>>],
    gather: &SyncSender<Arc<Batch>>,
) -> Vec<(usize, SegmentError)> {
    let shard = |stream: StreamId| shard_of(stream.0.as_bytes(), inboxes.len()) as u8;
    let mut send = |batch| {
        let batch = Arc::new(batch);
        inboxes.iter().all(|inbox| inbox.send(Arc::clone(&batch)).is_ok()) && gather.send(batch).is_ok()
    };
    let mut broken = Vec::new();
    for (number, entry) in archive.manifest().segments.iter().enumerate() {
        if let Err(error) = read_segment(archive, entry, &shard, &mut send) {
            broken.push((number, error));
        }
    }
    broken
}

/// One checker. Returns what it saw, and whether its share of the links between segments is right.
fn check(
    at: u8,
    mut checker: Checker,
    batches: &Receiver<Arc<Batch>>,
    outbox: &SyncSender<Leaves>,
) -> (Tally, bool) {
    let mut is_linked = true;
    for batch in batches {
        let mut leaves = Vec::with_capacity(batch.len());
        for (number, position, event_bytes) in batch.iter() {
            let placed = &batch.events[number];
            if placed.shard != at {
                continue;
            }
            let previous = placed.previous.as_ref();
            let raw = RawEvent { event_bytes, event_hash: None, stream_id: None, previous };
            let leaf = checker.take(raw, position as i64);
            is_linked &= placed.previous.is_some() == wants_link(placed);
            leaves.push((number as u32, leaf));
        }
        if outbox.send(leaves).is_err() {
            break;
        }
    }
    let tally = checker.finish();
    let is_linked = is_linked && tally.is_linked;
    (tally, is_linked)
}

/// A segment says the hash before an event just where the event before is not in it.
fn wants_link(placed: &Placed) -> bool {
    placed.begins_here && placed.place.is_some_and(|(_, version)| version.0 > 1)
}

fn ended<T>(task: ScopedJoinHandle<'_, T>) -> T {
    task.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
