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
    /// The highest id that is visible, sealed now or not.
    pub(super) visible_to: i64,
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

/// Every visible event that is not sealed, up to a limit. `waited_to` is what was visible at the pass
/// before: behind the first id that is missing since then, everything waits for the next pass.
///
/// Most ids that are missing belong to transactions that are about to commit. To wait for them once
/// keeps the order of the seals that of the ids, and the gaps few. Nothing waits twice.
pub(super) async fn take(
    conn: &mut Conn<'_>,
    highest_id: i64,
    limit: usize,
    waited_to: Option<i64>,
) -> Result<Taken, StoreError> {
    match conn {
        Conn::Sqlite(conn) => {
            let pending = sqlite::seal::pending_events(conn, highest_id, limit).await?;
            let has_more = pending.len() == limit;
            let has_log_events = has_log_events(&pending);
            let visible_to = pending.last().map_or(highest_id, |event| event.id);
            Ok(Taken { pending, has_more, has_log_events, visible_to, gaps: Gaps::default() })
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
            Ok(settle(pending, highest_id, limit, waited_to, looked_at))
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
    mut pending: Vec<Pending>,
    highest_id: i64,
    limit: usize,
    waited_to: Option<i64>,
    looked_at: Vec<(Generation, Vec<String>)>,
) -> Taken {
    let late = pending.partition_point(|event| event.id <= highest_id);
    let late_ids: Vec<i64> = pending[..late].iter().map(|event| event.id).collect();
    let has_more = late == limit || pending.len() - late == limit;
    let visible_to = pending.last().map_or(highest_id, |event| event.id.max(highest_id));
    let ids = |pending: &[Pending]| missing(highest_id, pending[late..].iter().map(|event| event.id));
    if let Some(gap) = ids(&pending).iter().find(|gap| waited_to.is_some_and(|to| gap.first > to)) {
        pending.truncate(pending.partition_point(|event| event.id < gap.first));
    }
    let new = ids(&pending);
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
    let has_log_events = has_log_events(&pending);
    Taken { pending, has_more, has_log_events, visible_to, gaps }
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

#[cfg(test)]
mod tests {
    use bpc_core::Hash;

    use super::*;

    fn pending(ids: &[i64]) -> Vec<Pending> {
        ids.iter().map(|id| Pending { id: *id, leaf: Hash::ZERO, is_of_log: false }).collect()
    }

    #[test]
    fn what_is_behind_a_missing_id_waits_for_one_pass() {
        for (visible, waited_to, sealed, gaps) in [
            (vec![11, 12, 13], Some(10), vec![11, 12, 13], vec![]),
            (vec![11, 13, 14], Some(10), vec![11], vec![]),
            (vec![12, 13], Some(10), vec![], vec![]),
            // The second time nobody waits for 12, but for 15.
            (vec![11, 13, 14, 16], Some(14), vec![11, 13, 14], vec![(12, 12)]),
            (vec![11, 13, 14, 16], Some(16), vec![11, 13, 14, 16], vec![(12, 12), (15, 15)]),
            (vec![11, 13, 14, 16], None, vec![11, 13, 14, 16], vec![(12, 12), (15, 15)]),
            // Late ones are not held back by what is missing behind them.
            (vec![3, 5, 12], Some(10), vec![3, 5], vec![]),
        ] {
            let taken = settle(pending(&visible), 10, 100, waited_to, Vec::new());
            let ids: Vec<i64> = taken.pending.iter().map(|event| event.id).collect();
            let new: Vec<_> = taken.gaps.new.iter().map(|gap| (gap.first, gap.last)).collect();
            assert_eq!((ids, new), (sealed, gaps), "{visible:?} {waited_to:?}");
            assert_eq!(taken.visible_to, *visible.last().unwrap());
        }
    }
}
