//! Reading the log by stream and version.
//!
//! All rows of one statement, as they come, so there are no pages and no comparison by which a row
//! could fall between two of them: SQLite keeps NULL and values of any type in any column, and without
//! the unique index a version can be there twice.

use bpc_core::cohort::first_of_millisecond;
use bpc_core::{StreamId, TenantId};
use futures_util::stream::BoxStream;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{PgConnection, SqliteConnection};
use uuid::Uuid;

use crate::database::Conn;
use crate::error::StoreError;

/// Rows of either database, in order.
pub(super) type Rows<'c, R> = BoxStream<'c, Result<R, sqlx::Error>>;

pub(super) fn postgres_rows(conn: &mut PgConnection, tenant: Option<TenantId>) -> Rows<'_, PgRow> {
    sqlx::query(include_str!("../../postgres/sql/scan_events.sql")).bind(tenant.map(|id| id.0)).fetch(conn)
}

pub(super) fn sqlite_rows(conn: &mut SqliteConnection, tenant: Option<TenantId>) -> Rows<'_, SqliteRow> {
    sqlx::query(include_str!("../../sqlite/sql/scan_events.sql")).bind(tenant.map(|id| id.0)).fetch(conn)
}

/// Rows of some streams, and perhaps of others in the same cohorts.
pub(super) fn postgres_rows_of<'c>(conn: &'c mut PgConnection, streams: &[StreamId]) -> Rows<'c, PgRow> {
    let earliest: Vec<Uuid> = streams.iter().map(|id| first_of_millisecond(*id).0).collect();
    let streams: Vec<Uuid> = streams.iter().map(|id| id.0).collect();
    sqlx::query(include_str!("../../postgres/sql/scan_streams.sql")).bind(streams).bind(earliest).fetch(conn)
}

/// Rows of one stream.
pub(super) fn sqlite_rows_of(conn: &mut SqliteConnection, stream: StreamId) -> Rows<'_, SqliteRow> {
    sqlx::query(include_str!("../../sqlite/sql/scan_streams.sql")).bind(stream.0).fetch(conn)
}

/// How many rows the tables hold. The scan follows indexes, and an index that was kept from learning of a
/// row would hide it.
pub(super) async fn count_rows(conn: Conn<'_>, tenant: Option<TenantId>) -> Result<u64, StoreError> {
    let tenant = tenant.map(|id| id.0);
    let count: i64 = match conn {
        Conn::Postgres(conn) => {
            sqlx::raw_sql(TABLE_ONLY).execute(&mut *conn).await?;
            let sql = include_str!("../../postgres/sql/count_events.sql");
            let count = sqlx::query_scalar(sql).bind(tenant).fetch_one(&mut *conn).await?;
            sqlx::raw_sql(INDEXES_AGAIN).execute(conn).await?;
            count
        }
        Conn::Sqlite(conn) => {
            let sql = include_str!("../../sqlite/sql/count_events.sql");
            sqlx::query_scalar(sql).bind(tenant).fetch_one(conn).await?
        }
    };
    Ok(count.max(0) as u64)
}

/// Ids that two events have: one of a cohort, and one of its own row. The id of the cohort comes first.
pub(super) fn shared_ids(conn: &mut PgConnection) -> Rows<'_, (i64, i64)> {
    sqlx::query_as(include_str!("../../postgres/verify/shared_ids.sql")).fetch(conn)
}

/// Until the transaction ends, or [`INDEXES_AGAIN`].
const TABLE_ONLY: &str = "SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; \
    SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off";

/// As every connection begins.
const INDEXES_AGAIN: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; \
    SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_bitmapscan = on";
