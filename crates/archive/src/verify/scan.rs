//! The quick check: every event once, segments on all cores, what they say put together in order. It says yes, or
//! that something is wrong and the exact look must say what.

use std::ops::RangeInclusive;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle, available_parallelism};

use bpc_eventstore::verify::quick::{Chainer, Follower, Keys, Tally};

use crate::archive::Archive;

use super::segment::{Checked, Wanted, check_segment};

/// Segments that wait behind each core until those before them are done: one, so that it can go on, and no more,
/// because each is some megabytes of runs.
const WAITING_MAX: usize = 1;
/// Each core takes some 10 MB, more where events are large.
const CORES_MAX: usize = 8;

/// Check everything, following streams in `range` on at most so much memory. `each` gets what the segments say, in
/// order, with the number of each.
pub(super) fn scan(
    archive: &Archive,
    keys: &Keys,
    range: RangeInclusive<u64>,
    bytes_max: usize,
    wanted: Option<&Wanted<'_>>,
    mut each: impl FnMut(usize, Checked),
) -> Tally {
    let segments = archive.manifest().segments.len();
    let cores = available_parallelism().map_or(2, usize::from).min(CORES_MAX).min(segments.max(1));
    let mut follower = Follower::new(keys.clone(), range.clone(), bytes_max);
    thread::scope(|scope| {
        let (mut tasks, mut outlets) = (Vec::with_capacity(cores), Vec::with_capacity(cores));
        for core in 0..cores {
            let (to, from) = sync_channel(WAITING_MAX);
            let chainer = Chainer::new(keys.clone(), range.clone());
            let numbers = (core..segments).step_by(cores);
            tasks.push(scope.spawn(move || check(archive, numbers, chainer, wanted, &to)));
            outlets.push(from);
        }
        for number in 0..segments {
            // A core that is gone has panicked, which is told when it is waited for.
            let Ok(checked) = outlets[number % cores].recv() else { break };
            follower.take(&checked.runs);
            each(number, checked);
        }
        drop(outlets);
        tasks.into_iter().for_each(ended);
    });
    follower.finish()
}

/// The share of one core.
fn check(
    archive: &Archive,
    numbers: impl Iterator<Item = usize>,
    mut chainer: Chainer,
    wanted: Option<&Wanted<'_>>,
    to: &SyncSender<Checked>,
) {
    for number in numbers {
        let entry = &archive.manifest().segments[number];
        if to.send(check_segment(archive, entry, &mut chainer, wanted)).is_err() {
            break;
        }
    }
}

fn ended<T>(task: ScopedJoinHandle<'_, T>) -> T {
    task.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
