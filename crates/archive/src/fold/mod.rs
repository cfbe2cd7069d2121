//! Folding an archive: every stream from its first event to its last, whatever segments they stand in.
//!
//! Streams are parted by a byte of their ids, and the parts are folded one by one on all cores. Memory
//! follows from the streams of a part, not from those of the log.

mod link;
mod objection;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use bpc_core::Job;
use bpc_projections::replay::Until;

use crate::cache::{Caches, PARTS, PartMemory};
use crate::segment::{EVENTS_PER_SEGMENT, SegmentError};

use link::PartLinker;

pub use objection::{Objection, ObjectionKind};

/// What came of the streams of one part.
#[derive(Debug, Default)]
pub struct PartFold {
    /// Events read.
    pub events: u64,
    /// Streams that are no jobs.
    pub other_streams: u64,
    /// Streams that are jobs.
    pub job_streams: u64,
    /// The jobs that they fold to; none of a history that cannot be.
    pub jobs: Vec<Job>,
    /// Positions of the events of other streams that count.
    pub others: Vec<u64>,
    /// What cannot be, in the order of streams.
    pub objections: Vec<Objection>,
}

/// How to fold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldOptions {
    /// Where it ends.
    pub(crate) until: Until,
    /// Go on behind an event that cannot be, to find what else cannot; otherwise it ends its stream.
    pub(crate) goes_on: bool,
}

/// Fold all streams of an archive up to `until`. `each` gets what came of a part, on whichever thread folded
/// it; `false` ends the whole.
pub fn fold_archive(
    caches: &Caches,
    until: Until,
    each: impl Fn(PartFold) -> bool + Sync,
) -> Result<(), SegmentError> {
    fold(caches, FoldOptions { until, goes_on: false }, each)
}

pub(crate) fn fold(
    caches: &Caches,
    options: FoldOptions,
    each: impl Fn(PartFold) -> bool + Sync,
) -> Result<(), SegmentError> {
    let segments = match options.until {
        Until::Size(size) => size.div_ceil(EVENTS_PER_SEGMENT) as usize,
        Until::Newest | Until::Moment(_) => usize::MAX,
    };
    let segments = segments.min(caches.archive().manifest().segments.len());
    // First all caches, so that building those that are missing is shared by all cores too.
    on_all_cores(segments, |segment| caches.warm(segment).map(|()| true))?;
    let start = || (PartLinker::new(options), PartMemory::default());
    on_all_cores_from(PARTS, start, |(linker, memory), part| {
        for segment in 0..segments {
            let first = segment as u64 * EVENTS_PER_SEGMENT;
            caches.part(segment, part, memory, |part| linker.take(part, first))?;
        }
        Ok(each(linker.finish()))
    })
}

/// Do something for each number below `end`, on all cores, until it returns `false` or fails.
pub(crate) fn on_all_cores<E: Send>(
    end: usize,
    work: impl Fn(usize) -> Result<bool, E> + Sync,
) -> Result<(), E> {
    on_all_cores_from(end, || (), |(), number| work(number))
}

/// The same with something that each core has for itself from the start, and keeps from one number to the next.
fn on_all_cores_from<S, E: Send>(
    end: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<bool, E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let run = || {
        let mut own = start();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= end {
                return;
            }
            match work(&mut own, number) {
                Ok(true) => {}
                Ok(false) => next.store(end, Ordering::Relaxed),
                Err(error) => {
                    next.store(end, Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..cores.min(end) {
            scope.spawn(run);
        }
        run();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
