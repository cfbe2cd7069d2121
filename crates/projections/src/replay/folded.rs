//! What comes out of a log while it is read.

use bpc_core::Job;
use tokio::sync::mpsc::Sender;

use super::batch::Batch;
use super::drift::{Drift, Drifts};
use super::report::Progress;

/// Takes rows, events and counts from a source, and passes them on in batches. It waits for the writer of
/// the views, so that a source which is faster does not fill the memory.
pub struct Folded<'p> {
    batch: Batch,
    batches: Sender<Batch>,
    progress: &'p mut (dyn FnMut(Progress) + Send),
    pub(super) read: Read,
}

/// What was read of the log.
#[derive(Default)]
pub(super) struct Read {
    pub(super) events: u64,
    pub(super) streams: u64,
    pub(super) jobs: u64,
    pub(super) drifts: Drifts,
}

impl<'p> Folded<'p> {
    pub(super) fn new(batches: Sender<Batch>, progress: &'p mut (dyn FnMut(Progress) + Send)) -> Self {
        Folded { batch: Batch::default(), batches, progress, read: Read::default() }
    }

    /// A stream that is no job and has at least one event.
    pub fn stream(&mut self) {
        self.read.streams += 1;
    }

    /// The stream of a job, and what it folded to; `None` if its history cannot be.
    pub async fn job(&mut self, job: Option<Job>) {
        self.read.streams += 1;
        self.read.jobs += 1;
        if let Some(job) = job {
            self.batch.place(job);
            self.pass_on().await;
        }
    }

    /// The bytes of an event that is not a job's, behind those of its stream.
    pub async fn event(&mut self, event_bytes: Vec<u8>) {
        self.batch.forward(event_bytes);
        self.pass_on().await;
    }

    /// So many more events are read.
    pub fn events(&mut self, count: u64) {
        self.read.events += count;
        (self.progress)(Progress::Rebuilding { events: self.read.events });
    }

    /// Something of the log fits no view.
    pub fn drift(&mut self, drift: impl FnOnce() -> Drift) {
        self.read.drifts.add(drift);
    }

    /// Pass on what remains.
    pub(super) async fn finish(mut self) -> Read {
        self.send().await;
        self.read
    }

    async fn pass_on(&mut self) {
        if self.batch.is_full() {
            self.send().await;
        }
    }

    /// The writer ends early only with an error of its own, which is then the result of all.
    async fn send(&mut self) {
        let _ = self.batches.send(std::mem::take(&mut self.batch)).await;
    }
}
