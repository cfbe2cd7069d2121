//! Taking what is to be sealed, and writing what follows: the two halves of a pass that speak to the
//! database.

use bpc_core::tile::TILE_WIDTH;

use crate::database::Conn;
use crate::error::StoreError;
use crate::{portable, postgres, sqlite};

use super::gaps::{Generation, IdRange, missing, without};
use super::plan::{Pending, Plan};
use super::stored::{SealedHead, sealed_head};

/// Ranges looked into in one pass. More only wait for the next.
const RANGES_MAX: usize = 8192;

/// What a pass seals, and what becomes of the gaps.
pub(super) struct Taken {
    /// In the order of their ids.
    pub(super) pending: Vec<Pending>,
    /// Did the limit leave anything for another pass?
    pub(super) has_more: bool,
    /// Are events about the log itself among them?
    pub(super) has_log_events: bool,
    gaps: Gaps,
}

/// Changes to the remembered gaps.
#[derive(Default)]
struct Gaps {
    new: Vec<IdRange>,
    kept: Vec<Generation>,
    dropped: Vec<i64>,
}

impl Taken {
    /// Is there nothing to write?
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.gaps.kept.is_empty() && self.gaps.dropped.is_empty()
    }
}

/// Lock the state of the log, in a statement of its own. `None` if somebody else holds it and we do not
/// wait. On SQLite nothing is locked by reading; it is compared again before anything is written.
pub(super) async fn lock(conn: &mut Conn<'_>, waits: bool) -> Result<Option<SealedHead>, StoreError> {
    match conn {
        Conn::Postgres(conn) => {
            let columns = postgres::seal::lock_log_state(conn, waits).await?;
            let head = |columns| {
                SealedHead::from_columns(columns).ok_or_else(|| StoreError::Damaged("log_state".to_owned()))
            };
            columns.map(head).transpose()
        }
        sqlite => sealed_head(sqlite).await.map(Some),
    }
}

/// Might there be anything to seal? Asked before anything is locked.
pub(super) async fn has_work(conn: &mut Conn<'_>, highest_id: i64) -> Result<bool, StoreError> {
    let behind = "SELECT EXISTS (SELECT 1 FROM events WHERE id > $1)";
    let found: bool =
        portable!(conn, c => sqlx::query_scalar(behind).bind(highest_id).fetch_one(&mut **c).await)?;
    match conn {
        Conn::Postgres(conn) if !found => {
            let gaps = "SELECT EXISTS (SELECT 1 FROM seal_gaps)";
            Ok(sqlx::query_scalar(gaps).fetch_one(&mut **conn).await?)
        }
        _ => Ok(found),
    }
}

/// Every visible event that is not sealed, up to a limit.
pub(super) async fn take(conn: &mut Conn<'_>, highest_id: i64, limit: usize) -> Result<Taken, StoreError> {
    match conn {
        Conn::Sqlite(conn) => {
            let pending = sqlite::seal::pending_events(conn, highest_id, limit).await?;
            let has_more = pending.len() == limit;
            let has_log_events = has_log_events(&pending);
            Ok(Taken { pending, has_more, has_log_events, gaps: Gaps::default() })
        }
        Conn::Postgres(conn) => {
            let generations = postgres::seal::generations(conn).await?;
            // Before the events are: who has ended by now can be seen by the statement that takes them.
            let writers = match generations.is_empty() {
                true => Vec::new(),
                false => postgres::seal::writers(conn).await?,
            };
            let looked_at = looks(generations, &writers);
            let ranges: Vec<IdRange> = looked_at.iter().flat_map(|look| &look.0.ranges).copied().collect();
            let pending = postgres::seal::pending_events(conn, highest_id, &ranges, limit).await?;
            Ok(settle(pending, highest_id, limit, looked_at))
        }
    }
}

/// Gaps that are worth a look, each with those who may still fill it afterwards.
fn looks(generations: Vec<Generation>, writers: &[String]) -> Vec<(Generation, Vec<String>)> {
    let mut ranges = 0;
    let due = generations.into_iter().filter_map(|generation| {
        let alive = generation.look(writers)?;
        Some((generation, alive))
    });
    due.take_while(|(generation, _)| {
        let is_first = ranges == 0;
        ranges += generation.ranges.len();
        is_first || ranges <= RANGES_MAX
    })
    .collect()
}

/// Which gaps are left once `pending` is sealed.
fn settle(
    pending: Vec<Pending>,
    highest_id: i64,
    limit: usize,
    looked_at: Vec<(Generation, Vec<String>)>,
) -> Taken {
    let late = pending.partition_point(|event| event.id <= highest_id);
    let late_ids: Vec<i64> = pending[..late].iter().map(|event| event.id).collect();
    let new = missing(highest_id, pending[late..].iter().map(|event| event.id));
    // A look that met its limit has not seen everything.
    let is_cut = late == limit;
    let mut gaps = Gaps { new, ..Gaps::default() };
    for (generation, holders) in looked_at {
        let mut ids = late_ids.clone();
        ids.retain(|id| generation.ranges.iter().any(|range| (range.first..=range.last).contains(id)));
        let ranges = without(&generation.ranges, &ids);
        if ranges.is_empty() || (holders.is_empty() && !is_cut) {
            gaps.dropped.push(generation.number);
        } else {
            gaps.kept.push(Generation { is_fresh: is_cut, holders, ranges, ..generation });
        }
    }
    let has_more = is_cut || pending.len() - late == limit;
    let has_log_events = has_log_events(&pending);
    Taken { pending, has_more, has_log_events, gaps }
}

fn has_log_events(pending: &[Pending]) -> bool {
    pending.iter().any(|event| event.is_of_log)
}

/// Write a pass: tiles, order, gaps, and the new size if it is still what it was when planned.
pub(super) async fn write(
    conn: &mut Conn<'_>,
    before: SealedHead,
    taken: &Taken,
    plan: &Plan,
) -> Result<bool, StoreError> {
    match conn {
        Conn::Postgres(conn) => {
            if !plan.order.is_empty() {
                postgres::seal::write_seal(conn, plan).await?;
            }
            let Gaps { new, kept, dropped } = &taken.gaps;
            for generation in kept {
                postgres::seal::keep_generation(conn, generation).await?;
            }
            if !dropped.is_empty() {
                postgres::seal::drop_generations(conn, dropped).await?;
            }
            if !new.is_empty() {
                // After the events were taken: who holds one of these ids now is still writing.
                let holders = postgres::seal::writers(conn).await?;
                postgres::seal::add_generation(conn, &holders, new).await?;
            }
        }
        Conn::Sqlite(conn) => sqlite::seal::write_seal(conn, plan).await?,
    }
    let tree = &plan.edge.tree;
    debug_assert!(tree.size() / TILE_WIDTH >= before.size / TILE_WIDTH);
    let sql = "UPDATE log_state SET size = $3, root = $4 WHERE only_row = 1 AND size = $1 AND root = $2";
    let changed = portable!(conn, c => {
        sqlx::query(sql)
            .bind(before.size as i64)
            .bind(&before.root.0[..])
            .bind(tree.size() as i64)
            .bind(&tree.root().0[..])
            .execute(&mut **c)
            .await
            .map(|done| done.rows_affected())
    })?;
    Ok(changed == 1)
}
