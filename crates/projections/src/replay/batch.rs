//! What one transaction writes into the rebuilt views.

use bpc_core::Job;

use crate::write::JobWrites;

/// Large enough that commits cost nothing, small enough that a few of them fit into memory.
const ROWS_MAX: usize = 4096;
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// Rows of finished streams, and events for the views that follow single events.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) jobs: JobWrites,
    pub(super) events: Vec<Vec<u8>>,
    rows: usize,
    bytes: usize,
}

impl Batch {
    /// The row of a job that no event follows for.
    pub(super) fn place(&mut self, job: Job) {
        self.rows += 1;
        self.jobs.create(job, Vec::new());
    }

    /// An event, behind those of its stream.
    pub(super) fn forward(&mut self, event_bytes: Vec<u8>) {
        self.rows += 1;
        self.bytes += event_bytes.len();
        self.events.push(event_bytes);
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= ROWS_MAX || self.bytes >= BYTES_MAX
    }
}
