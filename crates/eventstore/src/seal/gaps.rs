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

/// What is missing behind `after` and before the last of `ids`, which ascend.
pub(crate) fn missing(after: i64, ids: impl IntoIterator<Item = i64>) -> Vec<IdRange> {
    let mut ranges = Vec::new();
    let mut newest = after;
    for id in ids {
        if id > newest + 1 {
            ranges.push(IdRange { first: newest + 1, last: id - 1 });
        }
        newest = id;
    }
    ranges
}

/// `ranges` without `ids`; both ascend.
pub(crate) fn without(ranges: &[IdRange], ids: &[i64]) -> Vec<IdRange> {
    let mut left = Vec::with_capacity(ranges.len());
    let mut ids = ids.iter().copied().peekable();
    for range in ranges {
        let mut first = range.first;
        while ids.next_if(|id| *id < first).is_some() {}
        while let Some(id) = ids.next_if(|id| *id <= range.last) {
            if id > first {
                left.push(IdRange { first, last: id - 1 });
            }
            first = id + 1;
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
    fn ids_that_were_passed_over_are_missing() {
        for (after, ids, expected) in [
            (0, vec![], vec![]),
            (0, vec![1, 2, 3], vec![]),
            (0, vec![2], vec![(1, 1)]),
            (7, vec![9, 10, 14], vec![(8, 8), (11, 13)]),
        ] {
            assert_eq!(missing(after, ids.clone()), ranges(&expected), "{after} {ids:?}");
        }
    }

    #[test]
    fn ids_that_appeared_are_no_longer_missing() {
        for (gaps, ids, expected) in [
            (vec![(1, 3)], vec![], vec![(1, 3)]),
            (vec![(1, 3)], vec![2], vec![(1, 1), (3, 3)]),
            (vec![(1, 3)], vec![1, 2, 3], vec![]),
            (vec![(1, 3), (5, 5), (7, 9)], vec![3, 5, 7], vec![(1, 2), (8, 9)]),
            (vec![(5, 6)], vec![1, 6, 9], vec![(5, 5)]),
        ] {
            assert_eq!(without(&ranges(&gaps), &ids), ranges(&expected), "{gaps:?} {ids:?}");
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
