//! The run: one reader, all cores, findings in order, flat memory.

use std::collections::VecDeque;
use std::thread::available_parallelism;
use std::time::Instant;

use futures_util::TryStreamExt;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::database::Conn;
use crate::error::StoreError;
use crate::store::Store;

use super::chunk::{self, Before, Checked};
use super::finding::{Finding, Findings};
use super::row::EventRow;
use super::scan::{Rows, count_events, postgres_rows, sqlite_rows};
use super::{VerifyOptions, VerifyReport};

/// Rows in a chunk: enough that handing it to a thread costs nothing beside checking it.
const CHUNK_ROWS_MAX: usize = 2048;
/// Memory of a chunk, about: a few of the largest events end one early.
const CHUNK_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Check the log as it is at this moment; what is appended meanwhile is not looked at, and nobody has
/// to wait. `progress` hears now and then how many events are checked.
pub async fn verify(
    store: &Store,
    options: &VerifyOptions,
    progress: impl FnMut(u64),
) -> Result<VerifyReport, StoreError> {
    let started = Instant::now();
    let mut tx = store.begin_read().await?;
    let mut run = Run {
        running: VecDeque::new(),
        running_max: available_parallelism().map_or(2, usize::from) + 1,
        findings_max: options.findings_max,
        checked: Checked::nothing(options.findings_max),
        progress,
    };
    match tx.conn() {
        Conn::Postgres(conn) => run.read(postgres_rows(conn, options.tenant)).await?,
        Conn::Sqlite(conn) => run.read(sqlite_rows(conn, options.tenant)).await?,
    }
    let stored = count_events(tx.conn(), options.tenant).await?;
    let Checked { events, streams, jobs, mut findings } = run.checked;
    if events != stored {
        findings.add(|| Finding::hidden_rows(stored, events));
    }
    let Findings { total: findings_total, kept: findings, .. } = findings;
    let (level, elapsed) = ("L0", started.elapsed());
    Ok(VerifyReport { level, events, streams, jobs, unsealed: events, findings_total, findings, elapsed })
}

struct Run<P> {
    /// Chunks being checked, in order.
    running: VecDeque<JoinHandle<Checked>>,
    /// So many, then the reader waits: this and the size of a chunk bound the memory.
    running_max: usize,
    findings_max: usize,
    /// What came of the chunks before those.
    checked: Checked,
    progress: P,
}

impl<P: FnMut(u64)> Run<P> {
    /// Cut the rows into chunks and have all of them checked.
    async fn read<R: EventRow>(&mut self, mut rows: Rows<'_, R>) -> Result<(), StoreError> {
        let mut before = None;
        let (mut chunk, mut bytes) = (Vec::with_capacity(CHUNK_ROWS_MAX), 0);
        while let Some(row) = rows.try_next().await? {
            bytes += row.size();
            chunk.push(row);
            if chunk.len() == CHUNK_ROWS_MAX || bytes >= CHUNK_BYTES_MAX {
                let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK_ROWS_MAX));
                before = self.check(full, before).await;
                bytes = 0;
            }
        }
        self.check(chunk, before).await;
        while !self.running.is_empty() {
            self.gather().await;
        }
        Ok(())
    }

    /// Begin to check a chunk, as soon as there is room for it. Returns how it ends.
    async fn check<R: EventRow>(&mut self, rows: Vec<R>, before: Option<Before>) -> Option<Before> {
        if self.running.len() == self.running_max {
            self.gather().await;
        }
        let stream_id = rows.last()?.stream_id().kept();
        let (last, check) = oneshot::channel();
        let findings_max = self.findings_max;
        self.running.push_back(spawn_blocking(move || chunk::check(&rows, before, last, findings_max)));
        Some(Before { stream_id, check })
    }

    /// Wait for the oldest chunk.
    async fn gather(&mut self) {
        if let Some(chunk) = self.running.pop_front() {
            let checked = chunk.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            self.checked.append(checked);
            (self.progress)(self.checked.events);
        }
    }
}
