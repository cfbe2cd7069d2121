//! From PostgreSQL: rows are copied out in binary, three times as fast as they are selected.

mod copied;
mod table;
mod wire;

use std::thread;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, PgPool};
use tokio::task::JoinHandle;

use crate::verify::quick::{Batches, Outlet, ScanError, batches};

use super::merge::Merge;
use table::{COHORTS, EVENTS, TableRows};

/// How the server comes by the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) enum Route {
    /// Page after page, as they lie. A third of what the index costs the server, and nothing can be hidden; but they must
    /// lie nearly in the order of their ids.
    Table,
    /// In the order of their ids, by their index.
    Index,
}

/// Read the table itself, from its beginning, in one process: several would take the cores from those who check.
const BY_TABLE: &str = "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off; \
    SET enable_bitmapscan = off; SET synchronize_seqscans = off; SET max_parallel_workers_per_gather = 0; \
    SET jit = off";

/// Follow the order of the ids through their index: nothing is sorted.
const BY_INDEX: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; \
    SET max_parallel_workers_per_gather = 0; SET jit = off";

/// Every id is one of these; asked for like this, it is their index that is gone through, if any.
const COUNT: &str = "SELECT (SELECT count(*) FROM events WHERE id >= -9223372036854775808) \
    + (SELECT count(*) FROM cohort_events WHERE id >= -9223372036854775808)";

impl Route {
    fn session(self) -> &'static str {
        match self {
            Route::Table => BY_TABLE,
            Route::Index => BY_INDEX,
        }
    }

    fn other(self) -> Self {
        match self {
            Route::Table => Route::Index,
            Route::Index => Route::Table,
        }
    }
}

/// All events as they were at the moment of an exported snapshot, in the order of their ids.
pub(in crate::verify) fn postgres_batches(pool: &PgPool, snapshot: String, route: Route) -> Batches {
    let (mut outlet, batches) = batches();
    let options = pool.connect_options();
    // Not one of the threads that the runtime waits for when it ends: a server may be silent for long.
    thread::spawn(move || {
        if let Err(error) = copy(&options, &snapshot, route, &mut outlet) {
            outlet.blocking_fail(error);
        }
    });
    batches
}

/// How many rows there are at that moment on the other route, counted beside everything else: what an index does not
/// lead to is missing on one of them.
pub(in crate::verify) fn postgres_count(
    pool: &PgPool,
    snapshot: String,
    route: Route,
) -> JoinHandle<sqlx::Result<u64>> {
    let options = pool.connect_options();
    tokio::spawn(async move {
        let mut conn = at_snapshot(&options, &snapshot, route.other()).await?;
        let count: i64 = sqlx::query_scalar(COUNT).fetch_one(&mut conn).await?;
        conn.close().await?;
        Ok(count.max(0) as u64)
    })
}

fn copy(
    options: &PgConnectOptions,
    snapshot: &str,
    route: Route,
    outlet: &mut Outlet,
) -> Result<(), ScanError> {
    let [events, cohorts] = [EVENTS, COHORTS].map(|table| TableRows::read(table, options, snapshot, route));
    let mut tables = [events?, cohorts?];
    let mut merge = Merge::default();
    while let Some(batch) = merge.next(|table| tables[table].next(|| outlet.used()))? {
        if !outlet.blocking_pass_on(batch) {
            return Ok(());
        }
    }
    Ok(tables.into_iter().try_for_each(TableRows::close)?)
}

async fn at_snapshot(
    options: &PgConnectOptions,
    snapshot: &str,
    route: Route,
) -> Result<PgConnection, sqlx::Error> {
    let mut conn = options.connect().await?;
    conn.execute(sqlx::raw_sql(route.session())).await?;
    conn.execute(sqlx::raw_sql(AssertSqlSafe(begin(snapshot)))).await?;
    Ok(conn)
}

fn begin(snapshot: &str) -> String {
    format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{snapshot}'")
}
