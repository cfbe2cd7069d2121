//! Every view from nothing.

use std::sync::Arc;
use std::time::Instant;

use bpc_core::Timestamp;
use bpc_eventstore::{Conn, Store, portable};
use futures_util::TryStreamExt;
use sqlx::AssertSqlSafe;
use tokio::sync::mpsc::{self, Sender};

use crate::domain::Projection;

use super::batch::Batch;
use super::drift::Drifts;
use super::error::ReplayError;
use super::log::events;
use super::report::{Progress, RebuildReport};
use super::stream::{StreamFold, Taken};
use super::views::view_tables;
use super::write::write;

/// Batches that wait for the writer: one being filled, one waiting, one being written.
const BATCHES_WAITING: usize = 1;
/// Events between two words about progress.
const PROGRESS_EVERY: u64 = 4096;

/// Rebuild every view of the log that `source` shows into `target`, a fresh SQLite store that has been
/// migrated. With `as_of`, the views as they stood at that moment.
///
/// For views that can be compared with live ones, `source` is a transaction of
/// [`Store::begin_read`], so that all of the log is read at one moment. What of the log fits no view is
/// reported, located by stream and version; no row follows from such a stream. A replay that is
/// broken off leaves a target that is good for nothing.
pub async fn rebuild(
    source: &mut Conn<'_>,
    target: &Store,
    projections: &[Arc<dyn Projection>],
    as_of: Option<Timestamp>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<RebuildReport, ReplayError> {
    let start = Instant::now();
    begins_from_nothing(target, projections).await?;
    let (batches, waiting) = mpsc::channel(BATCHES_WAITING);
    let (read, refused) =
        tokio::try_join!(read(source, as_of, batches, progress), write(target, projections, waiting))?;
    let Read { events, streams, jobs, mut drifts } = read;
    drifts.append(refused);
    let elapsed = start.elapsed();
    tracing::info!(events, streams, jobs, drift = drifts.total, ?elapsed, "views rebuilt");
    Ok(RebuildReport { events, streams, jobs, drift_total: drifts.total, drift: drifts.kept, elapsed })
}

/// What was read of the log.
#[derive(Default)]
struct Read {
    events: u64,
    streams: u64,
    jobs: u64,
    drifts: Drifts,
}

/// Fold the log into batches for the writer.
async fn read(
    source: &mut Conn<'_>,
    as_of: Option<Timestamp>,
    batches: Sender<Batch>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Read, ReplayError> {
    let mut read = Read::default();
    let mut batch = Batch::default();
    let mut stream: Option<StreamFold> = None;
    let mut log = events(source);
    while let Some(event) = log.try_next().await? {
        if stream.as_ref().is_none_or(|stream| stream.stream_id != event.stream_id) {
            read.finish(stream.take(), &mut batch);
        }
        let fold = stream.get_or_insert_with(|| StreamFold::new(event.stream_id));
        if fold.take(&event, as_of, &mut read.drifts) == Taken::ToViews {
            batch.forward(event);
        }
        read.events += 1;
        if read.events.is_multiple_of(PROGRESS_EVERY) {
            progress(Progress::Rebuilding { events: read.events });
        }
        // The writer ends early only with an error of its own, which is then the result of both.
        if batch.is_full() && batches.send(std::mem::take(&mut batch)).await.is_err() {
            break;
        }
    }
    read.finish(stream, &mut batch);
    let _ = batches.send(batch).await;
    progress(Progress::Rebuilding { events: read.events });
    Ok(read)
}

impl Read {
    /// A stream has no more events: what it folded to is its row.
    fn finish(&mut self, stream: Option<StreamFold>, batch: &mut Batch) {
        let Some(stream) = stream.filter(StreamFold::has_begun) else {
            return;
        };
        self.streams += 1;
        self.jobs += u64::from(stream.is_job());
        if let Some(job) = stream.into_job() {
            batch.place(job);
        }
    }
}

/// A row that was there before would be taken for one that follows from the log.
async fn begins_from_nothing(target: &Store, projections: &[Arc<dyn Projection>]) -> Result<(), ReplayError> {
    let mut tx = target.begin_read().await.map_err(ReplayError::target)?;
    for view in view_tables(projections) {
        let sql = format!("SELECT 1 FROM {} LIMIT 1", view.name);
        let is_empty = portable!(tx.conn(), c => {
            sqlx::query(AssertSqlSafe(sql)).fetch_optional(c).await.map(|row| row.is_none())
        });
        if !is_empty.map_err(ReplayError::target)? {
            return Err(ReplayError::TargetNotEmpty(view.name));
        }
    }
    Ok(())
}
