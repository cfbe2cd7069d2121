//! Are the live views what the log says?

use std::sync::Arc;
use std::time::Instant;

use bpc_eventstore::Store;

use crate::calendar::unnamed_jobs;
use crate::domain::Projection;

use super::compare::{compare, report};
use super::database::DatabaseSource;
use super::drift::{Drift, Drifts};
use super::error::ReplayError;
use super::rebuild::rebuild;
use super::report::{CheckReport, Progress};
use super::scratch::Scratch;
use super::until::Until;
use super::views::view_tables;

/// Rebuild every view beside the store and compare it with the live one, row by row.
///
/// The log and the live views are read in one transaction that only reads, at one moment, so what
/// others write meanwhile is neither waited for nor taken for drift. Nothing of the store is changed.
pub async fn check(
    store: &Store,
    projections: &[Arc<dyn Projection>],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<CheckReport, ReplayError> {
    let start = Instant::now();
    let scratch = Scratch::create().await?;
    let mut live = store.begin_read().await.map_err(ReplayError::source)?;
    let mut conn = live.conn();
    let mut source = DatabaseSource::new(&mut conn);
    let rebuilt = rebuild(&mut source, &scratch.store, projections, Until::Newest, progress).await?;

    let mut drifts = Drifts { total: rebuilt.drift_total, kept: rebuilt.drift };
    let tables = view_tables(projections);
    let mut rows = 0;
    let mut target = scratch.store.begin_read().await.map_err(ReplayError::target)?;
    for table in &tables {
        let note = |difference| report(table, &difference, &mut drifts);
        rows += compare(table, &mut target.conn(), &mut live.conn(), progress, note).await?;
    }
    for job in unnamed_jobs(&mut live.conn()).await.map_err(ReplayError::source)? {
        drifts.add(|| Drift::of_lease(job));
    }
    drop((target, live));
    scratch.remove().await;

    let elapsed = start.elapsed();
    tracing::info!(events = rebuilt.events, rows, drift = drifts.total, ?elapsed, "views compared");
    Ok(CheckReport {
        events: rebuilt.events,
        streams: rebuilt.streams,
        jobs: rebuilt.jobs,
        views: tables.iter().map(|table| table.name).collect(),
        rows,
        drift_total: drifts.total,
        drift: drifts.kept,
        elapsed,
    })
}
