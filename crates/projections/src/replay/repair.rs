//! The live views made what the log says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bpc_eventstore::{Conn, Store, StoreError, Tx};
use sqlx::AssertSqlSafe;

use crate::calendar::{self, unnamed_jobs};
use crate::domain::{Projection, ViewTable};

use super::compare::{Difference, compare, report};
use super::database::DatabaseSource;
use super::drift::{Drift, DriftCode, Drifts};
use super::error::ReplayError;
use super::patch::Patch;
use super::rebuild::rebuild;
use super::report::{Progress, RepairReport};
use super::scratch::Scratch;
use super::until::Until;
use super::views::{shown_by, view_tables};

/// So long a repair tries to be alone before it gives up.
const ALONE_WITHIN: Duration = Duration::from_secs(60);

/// Rebuild every view beside the store and rewrite the live rows that differ, all in one transaction:
/// whoever reads sees the views before or after, and a crash changes nothing.
///
/// Whoever writes waits until it is done. A log whose histories cannot be is left alone: rows that follow
/// from nothing would have to go, and with them perhaps the only trace of what was there.
pub async fn repair(
    store: &Store,
    projections: &[Arc<dyn Projection>],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<RepairReport, ReplayError> {
    let start = Instant::now();
    let views = view_tables(projections);
    let scratch = Scratch::create().await?;
    let mut live = begin_alone(store, &views).await.map_err(ReplayError::source)?;
    let mut conn = live.conn();
    let mut source = DatabaseSource::new(&mut conn);
    let rebuilt = rebuild(&mut source, &scratch.store, projections, Until::Newest, progress).await?;
    let is_unsound =
        |code| matches!(code, DriftCode::ReplayEventUnreadable | DriftCode::ReplayIllegalHistory);
    if let Some(drift) = rebuilt.drift.iter().find(|drift| is_unsound(drift.code)) {
        return Err(ReplayError::LogUnsound(format!("{}: {}", drift.key, drift.message)));
    }

    let mut drifts = Drifts { total: rebuilt.drift_total, kept: rebuilt.drift };
    let mut repaired = Vec::new();
    let mut rows = 0;
    let mut target = scratch.store.begin_read().await.map_err(ReplayError::target)?;
    // Before anything is mended: jobs that share rows are named by none.
    for job in unnamed_jobs(&mut live.conn()).await.map_err(ReplayError::source)? {
        drifts.add(|| Drift::of_lease(job));
    }
    for view in &views {
        let mut patch = Patch::default();
        let note = |difference: Difference| {
            report(view, &difference, &mut drifts);
            patch.add(view, difference);
        };
        rows += compare(view, &mut target.conn(), &mut live.conn(), progress, note).await?;
        if !patch.is_empty() && dissolve(view, &mut live.conn()).await.map_err(ReplayError::source)? {
            patch = Patch::default();
            let add = |difference| patch.add(view, difference);
            compare(view, &mut target.conn(), &mut live.conn(), progress, add).await?;
        }
        let changed = patch.apply(view, &mut target.conn(), &mut live.conn()).await?;
        if changed > 0 {
            repaired.push((view.name, changed));
        }
    }
    calendar::rewrite(&mut live.conn()).await.map_err(ReplayError::source)?;
    live.commit().await.map_err(ReplayError::source)?;
    drop(target);
    scratch.remove().await;

    let elapsed = start.elapsed();
    tracing::info!(
        events = rebuilt.events,
        rows,
        drift = drifts.total,
        ?repaired,
        ?elapsed,
        "views repaired"
    );
    Ok(RepairReport {
        events: rebuilt.events,
        streams: rebuilt.streams,
        jobs: rebuilt.jobs,
        rows,
        repaired: repaired.into_iter().collect(),
        drift_total: drifts.total,
        drift: drifts.kept,
        elapsed,
    })
}

/// Give every job of a view a row of its own, where some share one: those can be mended one by one. `false` if none does.
async fn dissolve(view: &ViewTable, live: &mut Conn<'_>) -> Result<bool, StoreError> {
    let (conn, cohorts) = match (live, view.name) {
        (Conn::Postgres(conn), "job_queue") => (conn, "queue_cohorts"),
        (Conn::Postgres(conn), "finished_jobs") => (conn, "finished_cohorts"),
        _ => return Ok(false),
    };
    let (name, columns, shown_by) = (view.name, view.columns.join(", "), shown_by(view));
    let rows =
        format!("INSERT INTO {name} ({columns}) SELECT {columns} FROM {shown_by} ON CONFLICT DO NOTHING");
    sqlx::query(AssertSqlSafe(rows)).execute(&mut **conn).await?;
    let gone = sqlx::query(AssertSqlSafe(format!("DELETE FROM {cohorts}"))).execute(&mut **conn).await?;
    Ok(gone.rows_affected() > 0)
}

/// A transaction that nobody else can change these views beside. On SQLite that is any that writes. On
/// PostgreSQL the views are locked before anything is read: everyone who changes a view appends its events
/// in the same transaction, so what is in flight is seen neither in the log nor in the views.
async fn begin_alone(store: &Store, views: &[ViewTable]) -> Result<Tx, StoreError> {
    let start = Instant::now();
    let names: Vec<&str> = views.iter().map(|view| view.name).collect();
    // Whoever holds one view and waits for another that we hold is not kept waiting for as long as makes
    // PostgreSQL look for a deadlock (a second): we let go and begin again. Rebuilding takes its time, and
    // the connection rests meanwhile.
    let sql = format!(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL idle_in_transaction_session_timeout = 0; \
         SET LOCAL lock_timeout = '60s'; LOCK TABLE job_queue IN EXCLUSIVE MODE; \
         SET LOCAL lock_timeout = '200ms'; LOCK TABLE queue_cohorts, finished_cohorts, {} IN EXCLUSIVE MODE; SET LOCAL lock_timeout = 0",
        names.join(", ")
    );
    loop {
        let mut tx = store.begin().await?;
        let Conn::Postgres(conn) = tx.conn() else {
            return Ok(tx);
        };
        match sqlx::raw_sql(AssertSqlSafe(sql.clone())).execute(conn).await {
            Ok(_) => return Ok(tx),
            Err(error) if !is_lock_timeout(&error) => return Err(error.into()),
            Err(_) if start.elapsed() > ALONE_WITHIN => return Err(StoreError::Busy(start.elapsed())),
            Err(_) => {}
        }
    }
}

fn is_lock_timeout(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "55P03")
}
