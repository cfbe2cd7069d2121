//! Taking what is to be sealed, and writing what follows: the two halves of a pass that speak to the
//! database.

use bpc_core::tile::TILE_WIDTH;

use crate::database::Conn;
use crate::error::StoreError;
use crate::{portable, postgres, sqlite};

use super::found::Found;
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
    /// Did patience leave anything for the next pass?
    pub(super) is_waiting: bool,
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

/// How far the log is sealed, and whether there might be anything to seal. Asked before anything is locked.
pub(super) async fn head_and_work(
    conn: &mut Conn<'_>,
    highest_id: i64,
) -> Result<(SealedHead, bool), StoreError> {
    let (size, root, is_work): (i64, Vec<u8>, bool) = match conn {
        Conn::Postgres(conn) => postgres::seal::head_and_work(conn, highest_id).await?,
        Conn::Sqlite(conn) => {
            let sql = "SELECT size, root, EXISTS (SELECT 1 FROM events WHERE id > $1) FROM log_state WHERE only_row = 1";
            let row = sqlx::query_as(sql).bind(highest_id).fetch_optional(&mut **conn).await?;
            row.ok_or_else(|| StoreError::Damaged("log_state".to_owned()))?
        }
    };
    let head = SealedHead::from_columns((size, root));
    Ok((head.ok_or_else(|| StoreError::Damaged("log_state".to_owned()))?, is_work))
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
            let (is_waiting, gaps) = (false, Gaps::default());
            Ok(Taken { pending, has_more, is_waiting, has_log_events, visible_to, gaps })
        }
        Conn::Postgres(conn) => {
            let generations = postgres::seal::generations(conn).await?;
            let mut writers = Vec::new();
            if !generations.is_empty() {
                // Before the events are: who has ended by now can be seen by the statement that takes them.
                writers = postgres::seal::writers(conn).await?;
            }
            loop {
                let looks = Looks::at(&generations, &writers);
                let ranges: Vec<IdRange> =
                    looks.due.iter().flat_map(|look| &look.0.ranges).copied().collect();
                let found = postgres::pending::pending_events(conn, highest_id, &ranges, limit).await?;
                if looks.others.is_empty() {
                    return Ok(settle(found, highest_id, waited_to, looks));
                }
                // Whoever ended in between may have written what an event taken now goes on from: a stream
                // is sealed in the order of its versions, so then everything is looked at again.
                let now = postgres::seal::writers(conn).await?;
                if looks.others.iter().all(|generation| generation.look(&now).is_none()) {
                    return Ok(settle(found, highest_id, waited_to, looks));
                }
                writers = now;
            }
        }
    }
}

/// What becomes of gaps in one pass.
struct Looks<'g> {
    /// Worth a look, each with those who may still fill it afterwards.
    due: Vec<(&'g Generation, Vec<String>)>,
    /// Nobody who could fill them has ended.
    others: Vec<&'g Generation>,
    /// More are worth a look than one pass has time for. Those that wait are later ones.
    is_cut: bool,
}

impl<'g> Looks<'g> {
    fn at(generations: &'g [Generation], writers: &[String]) -> Self {
        let mut looks = Looks { due: Vec::new(), others: Vec::new(), is_cut: false };
        let mut ranges = 0;
        for generation in generations {
            match generation.look(writers) {
                Some(alive) => {
                    ranges += generation.ranges.len();
                    looks.is_cut |= ranges > RANGES_MAX && !looks.due.is_empty();
                    if !looks.is_cut {
                        looks.due.push((generation, alive));
                    }
                }
                None => looks.others.push(generation),
            }
        }
        looks
    }
}

/// What of `found` is sealed now, and which gaps are left then.
fn settle(found: Found, highest_id: i64, waited_to: Option<i64>, looks: Looks<'_>) -> Taken {
    let Found { late, mut new } = found;
    let late_ids: Vec<i64> = late.events.iter().map(|event| event.id).collect();
    // A look that met a limit has not seen everything, and something may go on from what it missed.
    let is_cut = late.is_cut || looks.is_cut;
    let has_more = is_cut || new.is_cut;
    let visible_to = new.events.last().map_or(highest_id, |event| event.id);
    let passed_over = |new: &[Pending]| missing(highest_id, new.iter().map(|event| event.id));
    let fresh = passed_over(&new.events).into_iter().find(|gap| waited_to.is_some_and(|to| gap.first > to));
    if let Some(gap) = fresh {
        new.events.truncate(new.events.partition_point(|event| event.id < gap.first));
    }
    if is_cut {
        new.events.clear();
    }
    let mut gaps = Gaps { new: passed_over(&new.events), ..Gaps::default() };
    for (generation, holders) in looks.due {
        let ranges = without(&generation.ranges, &late_ids, late.is_cut);
        if ranges.is_empty() || (holders.is_empty() && !late.is_cut) {
            gaps.dropped.push(generation.number);
        } else {
            gaps.kept.push(Generation { number: generation.number, is_fresh: late.is_cut, holders, ranges });
        }
    }
    let mut pending = late.events;
    pending.extend(new.events);
    let has_log_events = has_log_events(&pending);
    Taken { pending, has_more, is_waiting: fresh.is_some(), has_log_events, visible_to, gaps }
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

    use super::super::found::Part;
    use super::*;

    /// Up to here it is sealed.
    const HIGHEST: i64 = 640;

    fn found(ids: &[i64], late_is_cut: bool) -> Found {
        let part = |ids: &[i64], is_cut| {
            let events = ids.iter().map(|id| Pending { id: *id, leaf: Hash::ZERO, is_of_log: false });
            Part { events: events.collect(), is_cut }
        };
        let (late, new) = ids.split_at(ids.partition_point(|id| *id <= HIGHEST));
        Found { late: part(late, late_is_cut), new: part(new, false) }
    }

    fn ids(taken: &Taken) -> Vec<i64> {
        taken.pending.iter().map(|event| event.id).collect()
    }

    #[test]
    fn what_is_behind_a_missing_id_waits_for_one_pass() {
        for (visible, waited_to, sealed, gaps) in [
            (vec![704, 768, 769, 832], Some(640), vec![704, 768, 769, 832], vec![]),
            (vec![704, 832, 896], Some(640), vec![704], vec![]),
            (vec![768, 832], Some(640), vec![], vec![]),
            // The second time nobody waits for 768, but for 960.
            (vec![704, 832, 896, 1024], Some(896), vec![704, 832, 896], vec![(768, 831)]),
            (vec![704, 832, 896, 1024], Some(1024), vec![704, 832, 896, 1024], vec![(768, 831), (960, 1023)]),
            (vec![704, 832, 896, 1024], None, vec![704, 832, 896, 1024], vec![(768, 831), (960, 1023)]),
            // Late ones are not held back by what is missing behind them.
            (vec![192, 320, 768], Some(640), vec![192, 320], vec![]),
        ] {
            let looks = Looks::at(&[], &[]);
            let taken = settle(found(&visible, false), HIGHEST, waited_to, looks);
            let new: Vec<_> = taken.gaps.new.iter().map(|gap| (gap.first, gap.last)).collect();
            assert_eq!((ids(&taken), new), (sealed, gaps), "{visible:?} {waited_to:?}");
            assert_eq!(taken.visible_to, *visible.last().unwrap());
            assert_eq!(taken.is_waiting, taken.pending.len() < visible.len());
        }
    }

    #[test]
    fn nothing_new_is_sealed_before_all_late_events_are() {
        let range = IdRange { first: 192, last: 383 };
        let gap = |number| Generation { number, is_fresh: true, holders: Vec::new(), ranges: vec![range] };
        let generations = [gap(1)];
        let taken = settle(found(&[192, 256, 257, 768], true), HIGHEST, None, Looks::at(&generations, &[]));
        assert_eq!(ids(&taken), [192, 256, 257]);
        assert!(taken.has_more && taken.gaps.dropped.is_empty());
        let kept = &taken.gaps.kept[0];
        assert!(kept.is_fresh, "more of that cohort may be there, and the row behind it");
        assert_eq!(kept.ranges, [IdRange { first: 258, last: 383 }]);
        let many = Generation { ranges: vec![range; RANGES_MAX], ..gap(2) };
        let generations = [gap(1), many];
        let looks = Looks::at(&generations, &[]);
        assert!(looks.is_cut && looks.due.len() == 1);
        let taken = settle(found(&[256, 768], false), HIGHEST, None, looks);
        assert_eq!(ids(&taken), [256]);
        assert!(taken.has_more);
    }
}
