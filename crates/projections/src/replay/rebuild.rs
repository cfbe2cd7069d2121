//! Every view from nothing.

use std::sync::Arc;
use std::time::Instant;

use bpc_eventstore::{Store, portable};
use sqlx::AssertSqlSafe;
use tokio::sync::mpsc;

use crate::domain::Projection;

use super::error::ReplayError;
use super::folded::{Folded, Read};
use super::report::{Progress, RebuildReport};
use super::source::ReplaySource;
use super::until::Until;
use super::views::view_tables;
use super::write::write;

/// Batches that wait for the writer: one being filled, one waiting, one being written.
const BATCHES_WAITING: usize = 1;

/// Rebuild every view of a log into `target`, a fresh SQLite store that has been migrated, as they stood
/// at `until`.
///
/// What of the log fits no view is reported, located by stream and version; no row follows from such a
/// stream. A replay that is broken off leaves a target that is good for nothing.
pub async fn rebuild(
    source: &mut dyn ReplaySource,
    target: &Store,
    projections: &[Arc<dyn Projection>],
    until: Until,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<RebuildReport, ReplayError> {
    let start = Instant::now();
    begins_from_nothing(target, projections).await?;
    let (batches, waiting) = mpsc::channel(BATCHES_WAITING);
    let read = async {
        let mut folded = Folded::new(batches, progress);
        source.replay(until, &mut folded).await?;
        Ok(folded.finish().await)
    };
    let (read, refused) = tokio::try_join!(read, write(target, projections, waiting))?;
    let Read { events, streams, jobs, mut drifts } = read;
    drifts.append(refused);
    let elapsed = start.elapsed();
    tracing::info!(events, streams, jobs, drift = drifts.total, ?elapsed, "views rebuilt");
    Ok(RebuildReport { events, streams, jobs, drift_total: drifts.total, drift: drifts.kept, elapsed })
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
