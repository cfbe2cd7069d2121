//! Ids that belong to nothing visible yet.
//!
//! PostgreSQL gives an id out when a row is written and shows the row when its transaction commits, so a
//! lower id can appear after a higher one. The sealer does not wait for it. It remembers the ids it
//! passed over together with everyone who was writing to the log at that moment, and looks there again
//! as soon as one of them has ended. When the last has, what is still missing was rolled back.
//!
//! That this loses nothing rests on three facts of PostgreSQL: whoever writes to a table holds a lock on
//! it from before its first id until its end, prepared or not; a commit is visible before its locks are
//! let go of; and ids are given out one by one, in order (the sequence has `CACHE 1`, which a test holds
//! it to). No transaction that does not write to the log delays anything, however old it is.
//!
//! What is given out is a row's worth of ids, of which the row may use only some: so rows are missing, never single
//! ids. Before there were cohorts each event had the next id. Nobody can write one of those any more, and whatever is
//! there among them is visible.

use crate::postgres::cohort::{ROW_IDS, row_of};

/// Ids from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdRange {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// Ids passed over in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) number: i64,
    /// Nobody has looked since: whoever ended between the look that missed the ids and the list of
    /// holders is in neither.
    pub(crate) is_fresh: bool,
    /// Who may still fill them: transactions that were writing to the log, as PostgreSQL names them.
    pub(crate) holders: Vec<String>,
    /// The ids, ascending.
    pub(crate) ranges: Vec<IdRange>,
}

impl Generation {
    /// Is it time to look? Returns who of the holders is still there, given all who write at present.
    pub(crate) fn look(&self, writers: &[String]) -> Option<Vec<String>> {
        let mut alive: Vec<String> =
            self.holders.iter().filter(|holder| writers.contains(holder)).cloned().collect();
        if !self.is_fresh && alive.len() == self.holders.len() {
            return None;
        }
        // A holder that ended may have been prepared for a second phase, and goes on under a new name.
        for writer in writers.iter().filter(|writer| is_prepared(writer)) {
            if !alive.contains(writer) {
                alive.push(writer.clone());
            }
        }
        Some(alive)
    }
}

/// Prepared transactions have no backend.
fn is_prepared(writer: &str) -> bool {
    writer.starts_with("-1/")
}

/// Rows that are missing behind that of `after` and before that of the last of `ids`, which ascend.
pub(crate) fn missing(after: i64, ids: impl IntoIterator<Item = i64>) -> Vec<IdRange> {
    let mut ranges = Vec::new();
    let mut newest = row_of(after);
    for id in ids {
        let row = row_of(id);
        if row > newest + ROW_IDS {
            ranges.push(IdRange { first: newest + ROW_IDS, last: row - 1 });
        }
        newest = row;
    }
    ranges
}

/// `ranges` without the rows of `ids`; both ascend. If a limit cut the look that found them, there may be more in the
/// last row.
pub(crate) fn without(ranges: &[IdRange], ids: &[i64], is_cut: bool) -> Vec<IdRange> {
    let mut left = Vec::with_capacity(ranges.len());
    let mut ids = ids.iter().copied().peekable();
    for range in ranges {
        let mut first = range.first;
        while ids.next_if(|id| *id < first).is_some() {}
        while let Some(id) = ids.next_if(|id| *id <= range.last) {
            let row = row_of(id);
            if row > first {
                left.push(IdRange { first, last: row - 1 });
            }
            first = if is_cut && ids.peek().is_none() { id + 1 } else { row + ROW_IDS };
        }
        if first <= range.last {
            left.push(IdRange { first, last: range.last });
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(pairs: &[(i64, i64)]) -> Vec<IdRange> {
        pairs.iter().map(|(first, last)| IdRange { first: *first, last: *last }).collect()
    }

    #[test]
    fn rows_that_were_passed_over_are_missing() {
        for (after, ids, expected) in [
            (0, vec![], vec![]),
            (0, vec![64, 128, 192], vec![]),
            (0, vec![128], vec![(64, 127)]),
            (448, vec![576, 640, 896], vec![(512, 575), (704, 895)]),
            // Cohorts, of which one is sealed in part.
            (66, vec![67, 68, 128, 129, 256], vec![(192, 255)]),
            // From before there were cohorts, with what was rolled back then.
            (3, vec![4, 7, 30], vec![]),
            (30, vec![64], vec![]),
            (30, vec![62, 192], vec![(64, 191)]),
        ] {
            assert_eq!(missing(after, ids.clone()), ranges(&expected), "{after} {ids:?}");
        }
    }

    #[test]
    fn rows_that_appeared_are_no_longer_missing() {
        for (gaps, ids, expected) in [
            (vec![(64, 255)], vec![], vec![(64, 255)]),
            (vec![(64, 255)], vec![128], vec![(64, 127), (192, 255)]),
            (vec![(64, 255)], vec![64, 128, 129, 130, 192], vec![]),
            (vec![(64, 255), (320, 383), (448, 575)], vec![192, 320, 321, 448], vec![(64, 191), (512, 575)]),
            (vec![(320, 447)], vec![64, 384, 576], vec![(320, 383)]),
            // Of a cohort that was sealed in part before.
            (vec![(66, 127)], vec![66, 67], vec![]),
        ] {
            assert_eq!(without(&ranges(&gaps), &ids, false), ranges(&expected), "{gaps:?} {ids:?}");
        }
    }

    #[test]
    fn what_a_limit_hides_may_be_in_the_same_row() {
        for (gaps, ids, expected) in [
            (vec![(64, 255)], vec![64, 128, 129], vec![(130, 255)]),
            (vec![(66, 127), (192, 255)], vec![66, 67], vec![(68, 127), (192, 255)]),
            (vec![(64, 127)], vec![127], vec![]),
            // From before there were cohorts.
            (vec![(3, 5), (7, 9)], vec![3, 4], vec![(5, 5), (7, 9)]),
            (vec![(3, 9)], vec![3, 5], vec![(6, 9)]),
        ] {
            assert_eq!(without(&ranges(&gaps), &ids, true), ranges(&expected), "{gaps:?} {ids:?}");
        }
    }

    #[test]
    fn gaps_are_looked_at_when_somebody_ended() {
        let writers = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (is_fresh, holders, now, expected) in [
            (false, vec!["3/7"], vec!["3/7", "4/1"], None),
            (false, vec!["3/7"], vec!["3/8"], Some(vec![])),
            (false, vec!["3/7", "4/1"], vec!["4/1"], Some(vec!["4/1"])),
            (true, vec!["3/7"], vec!["3/7"], Some(vec!["3/7"])),
            (true, vec![], vec![], Some(vec![])),
            // Prepared: its backend is free, its rows are not there yet.
            (false, vec!["3/7"], vec!["-1/733"], Some(vec!["-1/733"])),
            (false, vec!["-1/733"], vec!["-1/733"], None),
        ] {
            let ranges = ranges(&[(1, 1)]);
            let generation = Generation { number: 1, is_fresh, holders: writers(&holders), ranges };
            let alive = generation.look(&writers(&now));
            assert_eq!(alive, expected.map(|names| writers(&names)), "{holders:?} {now:?}");
        }
    }
}
