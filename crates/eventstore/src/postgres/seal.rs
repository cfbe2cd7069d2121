//! Sealing, in PostgreSQL's own tongue.

use sqlx::PgConnection;

use crate::error::StoreError;
use crate::seal::{Generation, IdRange, Plan};

/// Locked in a statement of its own: the next one sees everything that was committed by whoever held
/// the lock before. Without waiting, somebody else's lock is an answer: they are sealing.
const LOCK: &str = "SELECT size, root FROM log_state WHERE only_row = 1 FOR UPDATE";
const LOCK_IF_FREE: &str = "SELECT size, root FROM log_state WHERE only_row = 1 FOR UPDATE SKIP LOCKED";

/// Everyone who may be writing to the log: they hold one of these locks from before their first id to their end.
const WRITERS: &str = "SELECT DISTINCT virtualtransaction FROM pg_locks \
    WHERE locktype = 'relation' AND relation IN ('events'::regclass, 'cohort_events'::regclass) \
    AND mode = 'RowExclusiveLock' AND granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

pub(crate) async fn lock_log_state(
    conn: &mut PgConnection,
    waits: bool,
) -> Result<Option<(i64, Vec<u8>)>, StoreError> {
    let sql = if waits { LOCK } else { LOCK_IF_FREE };
    Ok(sqlx::query_as(sql).fetch_optional(conn).await?)
}

/// Size and root of what is sealed, and whether there might be anything to seal.
pub(crate) async fn head_and_work(
    conn: &mut PgConnection,
    highest_id: i64,
) -> Result<(i64, Vec<u8>, bool), StoreError> {
    let sql = include_str!("cohort/head_and_work.sql");
    let row = sqlx::query_as(sql).bind(highest_id).fetch_optional(conn).await?;
    row.ok_or_else(|| StoreError::Damaged("log_state".to_owned()))
}

/// How many events are not sealed, and when the oldest of them happened.
pub(crate) async fn unsealed(
    conn: &mut PgConnection,
    highest_id: i64,
) -> Result<(i64, Option<i64>), StoreError> {
    let sql = include_str!("cohort/unsealed.sql");
    Ok(sqlx::query_as(sql).bind(highest_id).fetch_one(conn).await?)
}

/// Tiles, order and late events of a pass.
pub(crate) async fn write_seal(conn: &mut PgConnection, plan: &Plan) -> Result<(), StoreError> {
    sqlx::query(include_str!("sql/write_tiles.sql"))
        .bind(plan.tiles.iter().map(|tile| i16::from(tile.id.level)).collect::<Vec<_>>())
        .bind(plan.tiles.iter().map(|tile| tile.id.index as i64).collect::<Vec<_>>())
        .bind(plan.tiles.iter().map(|tile| &tile.bytes[..]).collect::<Vec<_>>())
        .execute(&mut *conn)
        .await?;
    sqlx::query(include_str!("sql/write_order.sql"))
        .bind(plan.order.iter().map(|row| row.tile_index as i64).collect::<Vec<_>>())
        .bind(plan.order.iter().map(|row| row.first_id).collect::<Vec<_>>())
        .bind(plan.order.iter().map(|row| &row.event_ids[..]).collect::<Vec<_>>())
        .execute(&mut *conn)
        .await?;
    if !plan.late.is_empty() {
        sqlx::query(include_str!("sql/write_late_events.sql"))
            .bind(plan.late.iter().map(|late| late.0).collect::<Vec<_>>())
            .bind(plan.late.iter().map(|late| late.1 as i64).collect::<Vec<_>>())
            .execute(conn)
            .await?;
    }
    Ok(())
}

/// Who is writing to the log now, as PostgreSQL names transactions.
pub(crate) async fn writers(conn: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar(WRITERS).fetch_all(conn).await?)
}

type GapColumns = (i64, bool, Vec<String>, Vec<i64>, Vec<i64>);

/// Gaps passed over before, oldest first.
pub(crate) async fn generations(conn: &mut PgConnection) -> Result<Vec<Generation>, StoreError> {
    let sql = "SELECT generation, is_fresh, writers, first_ids, last_ids FROM seal_gaps ORDER BY generation";
    let rows: Vec<GapColumns> = sqlx::query_as(sql).fetch_all(conn).await?;
    let generation = |(number, is_fresh, holders, first_ids, last_ids): GapColumns| {
        let ranges = first_ids.into_iter().zip(last_ids).map(|(first, last)| IdRange { first, last });
        Generation { number, is_fresh, holders, ranges: ranges.collect() }
    };
    Ok(rows.into_iter().map(generation).collect())
}

/// Remember new gaps.
pub(crate) async fn add_generation(
    conn: &mut PgConnection,
    holders: &[String],
    ranges: &[IdRange],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO seal_gaps (is_fresh, writers, first_ids, last_ids) VALUES (true, $1, $2, $3)";
    sqlx::query(sql)
        .bind(holders)
        .bind(ranges.iter().map(|range| range.first).collect::<Vec<_>>())
        .bind(ranges.iter().map(|range| range.last).collect::<Vec<_>>())
        .execute(conn)
        .await?;
    Ok(())
}

/// What is left of gaps that were looked at.
pub(crate) async fn keep_generation(
    conn: &mut PgConnection,
    generation: &Generation,
) -> Result<(), StoreError> {
    let sql = "UPDATE seal_gaps SET is_fresh = $2, writers = $3, first_ids = $4, last_ids = $5 \
        WHERE generation = $1";
    sqlx::query(sql)
        .bind(generation.number)
        .bind(generation.is_fresh)
        .bind(&generation.holders)
        .bind(generation.ranges.iter().map(|range| range.first).collect::<Vec<_>>())
        .bind(generation.ranges.iter().map(|range| range.last).collect::<Vec<_>>())
        .execute(conn)
        .await?;
    Ok(())
}

/// Forget gaps that nobody can fill any more.
pub(crate) async fn drop_generations(conn: &mut PgConnection, numbers: &[i64]) -> Result<(), StoreError> {
    let sql = "DELETE FROM seal_gaps WHERE generation = ANY($1)";
    sqlx::query(sql).bind(numbers).execute(conn).await?;
    Ok(())
}
