//! From PostgreSQL: rows are copied out in binary, three times as fast as they are selected.

use futures_util::TryStreamExt;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, PgPool};
use tokio::task::JoinHandle;

use crate::verify::quick::{Batch, Batches, COLUMNS, Outlet, batches};

use super::{BATCH_BYTES_MAX, BATCH_ROWS_MAX};

/// What the server sends before the first row: a signature, flags, and the length of nothing more.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What it sends behind the last one.
const TRAILER: &[u8] = &(-1_i16).to_be_bytes();

/// Follow the order of the ids through their index: nothing is sorted.
const SESSION: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off";

/// Read the table itself, in one process: several would take the cores from those who check.
const TABLE_ONLY: &str = "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off; \
    SET max_parallel_workers_per_gather = 0";

/// All events as they were at the moment of an exported snapshot, over a connection of its own.
pub(in crate::verify) fn postgres_batches(pool: &PgPool, snapshot: String) -> Batches {
    let (mut outlet, batches) = batches();
    let options = pool.connect_options();
    tokio::spawn(async move {
        if let Err(error) = copy(&options, &snapshot, &mut outlet).await {
            outlet.fail(error.into()).await;
        }
    });
    batches
}

/// How many events the table has at that moment, counted without its indexes, beside everything else.
pub(in crate::verify) fn postgres_count(pool: &PgPool, snapshot: String) -> JoinHandle<sqlx::Result<u64>> {
    let options = pool.connect_options();
    tokio::spawn(async move {
        let mut conn = at_snapshot(&options, &snapshot).await?;
        conn.execute(sqlx::raw_sql(TABLE_ONLY)).await?;
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM events").fetch_one(&mut conn).await?;
        conn.close().await?;
        Ok(count.max(0) as u64)
    })
}

async fn copy(
    options: &sqlx::postgres::PgConnectOptions,
    snapshot: &str,
    outlet: &mut Outlet,
) -> Result<(), sqlx::Error> {
    let mut conn = at_snapshot(options, snapshot).await?;
    let columns = COLUMNS.join(", ");
    let copy = format!("COPY (SELECT {columns} FROM events ORDER BY id) TO STDOUT (FORMAT binary)");
    let mut rows = conn.copy_out_raw(&copy).await?;
    let mut batch = Batch::default();
    let mut is_first = true;
    while let Some(row) = rows.try_next().await? {
        let row = if std::mem::take(&mut is_first) { row.strip_prefix(HEADER).unwrap_or(&row) } else { &row };
        if row == TRAILER || row.is_empty() {
            continue;
        }
        batch.bytes.extend_from_slice(row);
        batch.end_row();
        if batch.len() == BATCH_ROWS_MAX || batch.bytes.len() >= BATCH_BYTES_MAX {
            let Some(empty) = outlet.pass_on(batch).await else {
                return Ok(());
            };
            batch = empty;
        }
    }
    drop(rows);
    outlet.pass_on(batch).await;
    conn.close().await
}

async fn at_snapshot(
    options: &sqlx::postgres::PgConnectOptions,
    snapshot: &str,
) -> Result<PgConnection, sqlx::Error> {
    let mut conn = options.connect().await?;
    conn.execute(sqlx::raw_sql(SESSION)).await?;
    let begin =
        format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{snapshot}'");
    conn.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await?;
    Ok(conn)
}
