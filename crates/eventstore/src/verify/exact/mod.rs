//! The exact look at streams, event by event in order of their versions: what is wrong, and where.
//!
//! One reader goes through the log by stream and version and cuts it into chunks; chunks are checked
//! on all cores at once and their findings gathered in order. A stream that goes on in the next chunk
//! hands its state over, so memory stays flat however long the log or any stream in it is.

mod cell;
mod chain;
mod chunk;
mod place;
mod row;
mod scan;
mod stream;

use std::collections::{HashSet, VecDeque};
use std::thread::available_parallelism;

use bpc_core::{StreamId, TenantId};
use futures_util::TryStreamExt;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::database::Conn;
use crate::error::StoreError;

use super::finding::Finding;
use chunk::Before;
use row::EventRow;
use scan::{Rows, postgres_rows, postgres_rows_of, sqlite_rows, sqlite_rows_of};

pub(super) use chunk::Checked;
pub(super) use scan::count_events;

/// Rows in a chunk: enough that handing it to a thread costs nothing beside checking it.
const CHUNK_ROWS_MAX: usize = 2048;
/// Memory of a chunk, about: a few of the largest events end one early.
const CHUNK_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Streams looked up in one statement.
const STREAMS_MAX: usize = 128;

/// Look at every stream; `tenant` leaves out rows whose column names another. `progress` hears now and
/// then how many events are checked.
pub(super) async fn check_all(
    conn: &mut Conn<'_>,
    tenant: Option<TenantId>,
    findings_max: usize,
    progress: impl FnMut(u64),
) -> Result<Checked, StoreError> {
    let mut run = Run::new(findings_max, progress);
    match conn {
        Conn::Postgres(conn) => run.read(postgres_rows(conn, tenant)).await?,
        Conn::Sqlite(conn) => run.read(sqlite_rows(conn, tenant)).await?,
    }
    let mut checked = run.checked;
    let (stored, read) = (count_events(conn.reborrow(), tenant).await?, checked.events);
    if read != stored {
        checked.findings.add(|| Finding::hidden_rows(stored, read));
    }
    Ok(checked)
}

/// Look at some streams, which are in order. Of the events with ids in `seen`, all should be met: returns
/// how many were not, because no index leads to them.
pub(super) async fn check_streams(
    conn: &mut Conn<'_>,
    streams: &[StreamId],
    seen: HashSet<i64>,
    findings_max: usize,
) -> Result<(Checked, usize), StoreError> {
    let mut run = Run::new(findings_max, |_| {});
    run.unmet = seen;
    match conn {
        Conn::Postgres(conn) => {
            for part in streams.chunks(STREAMS_MAX) {
                run.read(postgres_rows_of(conn, part)).await?;
            }
        }
        Conn::Sqlite(conn) => {
            for stream in streams {
                run.read(sqlite_rows_of(conn, *stream)).await?;
            }
        }
    }
    Ok((run.checked, run.unmet.len()))
}

struct Run<P> {
    /// Chunks being checked, in order.
    running: VecDeque<JoinHandle<Checked>>,
    /// So many, then the reader waits: this and the size of a chunk bound the memory.
    running_max: usize,
    findings_max: usize,
    /// What came of the chunks before those.
    checked: Checked,
    /// Ids of events that should come by.
    unmet: HashSet<i64>,
    progress: P,
}

impl<P: FnMut(u64)> Run<P> {
    fn new(findings_max: usize, progress: P) -> Self {
        Run {
            running: VecDeque::new(),
            running_max: available_parallelism().map_or(2, usize::from) + 1,
            findings_max,
            checked: Checked::nothing(findings_max),
            unmet: HashSet::new(),
            progress,
        }
    }

    /// Cut the rows into chunks and have all of them checked.
    async fn read<R: EventRow>(&mut self, mut rows: Rows<'_, R>) -> Result<(), StoreError> {
        let mut before = None;
        let (mut chunk, mut bytes) = (Vec::with_capacity(CHUNK_ROWS_MAX), 0);
        while let Some(row) = rows.try_next().await? {
            bytes += row.size();
            if !self.unmet.is_empty()
                && let Some(id) = row.id()
            {
                self.unmet.remove(&id);
            }
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
