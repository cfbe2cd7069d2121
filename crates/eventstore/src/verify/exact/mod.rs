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
mod sweep;

use std::collections::{HashSet, VecDeque};
use std::thread::available_parallelism;

use bpc_core::{StreamId, TenantId};
use futures_util::TryStreamExt;
use sqlx::postgres::PgRow;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::database::Conn;
use crate::error::StoreError;

use super::finding::{Finding, Findings};
use chunk::Before;
use row::EventRow;
use scan::{Rows, count_rows, postgres_rows, postgres_rows_of, shared_ids, sqlite_rows, sqlite_rows_of};
use sweep::Sweep;

pub(super) use chunk::Checked;

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
        Conn::Postgres(conn) => run.sweep(postgres_rows(conn, tenant), None).await?,
        Conn::Sqlite(conn) => run.read(sqlite_rows(conn, tenant)).await?,
    }
    if let (Conn::Postgres(conn), None) = (&mut *conn, tenant) {
        run.check_ids(shared_ids(conn)).await?;
    }
    let read = run.rows;
    let mut checked = run.finish();
    let stored = count_rows(conn.reborrow(), tenant).await?;
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
                run.sweep(postgres_rows_of(conn, part), Some(part)).await?;
            }
        }
        Conn::Sqlite(conn) => {
            for stream in streams {
                run.read(sqlite_rows_of(conn, *stream)).await?;
            }
        }
    }
    let unmet = run.unmet.len();
    Ok((run.finish(), unmet))
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
    /// Rows read, whatever is in them.
    rows: u64,
    /// Rows that hold no events though they should.
    broken: Findings,
    progress: P,
}

/// The chunk that is being put together.
struct Open<R> {
    rows: Vec<R>,
    bytes: usize,
    before: Option<Before>,
}

impl<R> Open<R> {
    fn new() -> Self {
        Open { rows: Vec::with_capacity(CHUNK_ROWS_MAX), bytes: 0, before: None }
    }
}

impl<P: FnMut(u64)> Run<P> {
    fn new(findings_max: usize, progress: P) -> Self {
        Run {
            running: VecDeque::new(),
            running_max: available_parallelism().map_or(2, usize::from) + 1,
            findings_max,
            checked: Checked::nothing(findings_max),
            unmet: HashSet::new(),
            rows: 0,
            broken: Findings::keeping(findings_max),
            progress,
        }
    }

    /// Cut rows of one event each into chunks and have all of them checked.
    async fn read<R: EventRow>(&mut self, mut rows: Rows<'_, R>) -> Result<(), StoreError> {
        let mut open = Open::new();
        while let Some(row) = rows.try_next().await? {
            self.rows += 1;
            self.add(row, &mut open).await;
        }
        self.close(open).await;
        Ok(())
    }

    /// The same with rows of which some are cohorts, for some streams or for all.
    async fn sweep(
        &mut self,
        mut rows: Rows<'_, PgRow>,
        streams: Option<&[StreamId]>,
    ) -> Result<(), StoreError> {
        let (mut open, mut sweep) = (Open::new(), Sweep::over(streams));
        while let Some(row) = rows.try_next().await? {
            self.rows += 1;
            sweep.take(row, &mut self.broken);
            while let Some(event) = sweep.next() {
                self.add(event, &mut open).await;
            }
        }
        sweep.end();
        while let Some(event) = sweep.next() {
            self.add(event, &mut open).await;
        }
        self.close(open).await;
        Ok(())
    }

    /// An event that has the id of one in a cohort leads to either.
    async fn check_ids(&mut self, mut shared: Rows<'_, (i64, i64)>) -> Result<(), StoreError> {
        while let Some((cohort, event)) = shared.try_next().await? {
            let why = format!("event {event} has the id of one of them");
            self.broken.add(|| Finding::of_cohort(Some(cohort), "id", &why));
        }
        Ok(())
    }

    /// What came of it, rows without events first: they explain what is missing.
    fn finish(self) -> Checked {
        let Run { broken, mut checked, .. } = self;
        let of_events = std::mem::replace(&mut checked.findings, broken);
        checked.findings.append(of_events);
        checked
    }

    /// The next event in order.
    async fn add<R: EventRow>(&mut self, row: R, open: &mut Open<R>) {
        open.bytes += row.size();
        if !self.unmet.is_empty()
            && let Some(id) = row.id()
        {
            self.unmet.remove(&id);
        }
        open.rows.push(row);
        if open.rows.len() == CHUNK_ROWS_MAX || open.bytes >= CHUNK_BYTES_MAX {
            let full = std::mem::replace(open, Open::new());
            open.before = self.check(full).await;
        }
    }

    /// There are no more: wait for all chunks.
    async fn close<R: EventRow>(&mut self, open: Open<R>) {
        self.check(open).await;
        while !self.running.is_empty() {
            self.gather().await;
        }
    }

    /// Begin to check a chunk, as soon as there is room for it. Returns how it ends.
    async fn check<R: EventRow>(&mut self, chunk: Open<R>) -> Option<Before> {
        let Open { rows, before, .. } = chunk;
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
