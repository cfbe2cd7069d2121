//! One run over all events: read by one, checked by all cores, gathered in order.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::thread::available_parallelism;

use bpc_core::Hash;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::StoreError;

use super::batch::Batch;
use super::check::Checker;
use super::keys::Keys;
use super::tally::Tally;

/// Batches read ahead.
const AHEAD: usize = 2;
/// Batches on their way at once: one is checked while the next is read and the one before gathered.
const IN_FLIGHT_MAX: usize = 4;

/// Rows come from a source in batches, or its failure. Batches that are done with go back, so that their
/// memory is used again.
pub(in crate::verify) struct Batches {
    from: mpsc::Receiver<Result<Batch, ScanError>>,
    spent: mpsc::Sender<Batch>,
}

/// The other end, where the source is.
pub(in crate::verify) struct Outlet {
    to: mpsc::Sender<Result<Batch, ScanError>>,
    spent: mpsc::Receiver<Batch>,
    /// Of all events that were passed on.
    highest_id: Option<i64>,
}

/// Why a run over all events ended early.
#[derive(Debug)]
pub(in crate::verify) enum ScanError {
    /// They cannot be read.
    Failed(StoreError),
    /// They do not come in the order of their ids, or nearly: they must be read another way.
    Disordered,
}

impl From<StoreError> for ScanError {
    fn from(error: StoreError) -> Self {
        ScanError::Failed(error)
    }
}

impl From<sqlx::Error> for ScanError {
    fn from(error: sqlx::Error) -> Self {
        ScanError::Failed(error.into())
    }
}

/// Both ends.
pub(in crate::verify) fn batches() -> (Outlet, Batches) {
    let (to, from) = mpsc::channel(AHEAD);
    let (give_back, spent) = mpsc::channel(IN_FLIGHT_MAX + AHEAD);
    (Outlet { to, spent, highest_id: None }, Batches { from, spent: give_back })
}

impl Outlet {
    /// Send a batch on; `false` if nobody listens any more. For threads that may wait.
    pub(in crate::verify) fn blocking_pass_on(&mut self, mut full: Batch) -> bool {
        full.tell_events(&mut self.highest_id);
        self.to.blocking_send(Ok(full)).is_ok()
    }

    /// Tell of a failure, as the last thing.
    pub(in crate::verify) fn blocking_fail(self, error: ScanError) {
        let _ = self.to.blocking_send(Err(error));
    }

    /// An empty batch, in the memory of one that is done with.
    pub(in crate::verify) fn empty(&mut self) -> Batch {
        let mut batch = self.used();
        batch.clear();
        batch
    }

    /// A batch that is done with, or a new one.
    pub(in crate::verify) fn used(&mut self) -> Batch {
        self.spent.try_recv().unwrap_or_default()
    }
}

/// Leaves of a batch; `None` for an event that does not say what it is.
pub(in crate::verify) type Leaves = Vec<Option<Hash>>;

/// What to do with a batch once it is checked.
pub(in crate::verify) trait Gather {
    /// In the order of the batches.
    async fn take(&mut self, batch: &Batch, leaves: Leaves) -> Result<(), StoreError>;
}

/// Check everything that comes, following streams in `range` on at most so much memory.
pub(in crate::verify) async fn scan(
    mut batches: Batches,
    keys: &Keys,
    range: RangeInclusive<u64>,
    bytes_max: usize,
    gather: &mut impl Gather,
) -> Result<Vec<Tally>, ScanError> {
    let cores = available_parallelism().map_or(2, usize::from);
    let mut shards: Vec<Shard> = (0..cores)
        .map(|at| Shard::start(at, cores, keys.clone(), range.clone(), bytes_max / cores))
        .collect();
    let mut in_flight = VecDeque::new();
    loop {
        let next =
            if in_flight.len() < IN_FLIGHT_MAX { batches.from.recv().await.transpose()? } else { None };
        match next {
            Some(batch) => {
                let batch = Arc::new(batch);
                for shard in &shards {
                    // A checker that is gone has panicked, which is told when it is waited for.
                    let _ = shard.to.send(Arc::clone(&batch)).await;
                }
                in_flight.push_back(batch);
            }
            None => match in_flight.pop_front() {
                Some(batch) => {
                    let leaves = gathered(&mut shards, batch.len()).await;
                    gather.take(&batch, leaves).await?;
                    // Unless a checker is still letting go of it.
                    if let Some(spent) = Arc::into_inner(batch) {
                        let _ = batches.spent.try_send(spent);
                    }
                }
                None => break,
            },
        }
    }
    let mut tallies = Vec::with_capacity(cores);
    for Shard { to, task, .. } in shards {
        drop(to);
        tallies.push(task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())));
    }
    Ok(tallies)
}

/// One checker on a thread of its own.
struct Shard {
    to: mpsc::Sender<Arc<Batch>>,
    from: mpsc::Receiver<Vec<(u32, Option<Hash>)>>,
    task: JoinHandle<Tally>,
}

impl Shard {
    fn start(at: usize, shards: usize, keys: Keys, range: RangeInclusive<u64>, bytes_max: usize) -> Self {
        let (to, mut batches) = mpsc::channel::<Arc<Batch>>(IN_FLIGHT_MAX);
        let (leaves, from) = mpsc::channel(IN_FLIGHT_MAX);
        let task = spawn_blocking(move || {
            let mut checker = Checker::new(keys, range, bytes_max);
            while let Some(batch) = batches.blocking_recv() {
                let mut checked = Vec::with_capacity(batch.len() / shards + batch.len() / 8);
                if batch.has_damage() {
                    checker.doubt_everything();
                }
                checker.take(batch.events_of(at, shards), |number, leaf| checked.push((number, leaf)));
                if leaves.blocking_send(checked).is_err() {
                    break;
                }
            }
            checker.finish()
        });
        Shard { to, from, task }
    }
}

async fn gathered(shards: &mut [Shard], rows: usize) -> Leaves {
    let mut leaves = vec![None; rows];
    for shard in shards {
        for (number, leaf) in shard.from.recv().await.unwrap_or_default() {
            leaves[number as usize] = leaf;
        }
    }
    leaves
}
