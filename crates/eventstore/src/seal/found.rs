//! What a look at the log found that is not sealed: events of both tables, put in one order.

use super::plan::Pending;

/// Everything that one look found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// In the gaps.
    pub(crate) late: Part,
    /// Behind the highest sealed id.
    pub(crate) new: Part,
}

/// Events in the order of their ids, from the first on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) events: Vec<Pending>,
    /// Did a limit leave anything behind them?
    pub(crate) is_cut: bool,
}

impl Part {
    /// Both together, at most `limit`. Behind the end of one that was cut nothing is taken of the other: what is
    /// between is not known, and something may go on from it.
    pub(crate) fn merge(self, other: Part, limit: usize) -> Part {
        let end = |part: &Part| part.events.last().filter(|_| part.is_cut).map(|event| event.id);
        let end = [end(&self), end(&other)].into_iter().flatten().min();
        let mut is_cut = self.is_cut || other.is_cut;
        let mut events = self.events;
        events.extend(other.events);
        // Two runs that ascend, mostly one behind the other.
        events.sort_by_key(|event| event.id);
        if let Some(end) = end {
            events.truncate(events.partition_point(|event| event.id <= end));
        }
        if events.len() > limit {
            events.truncate(limit);
            is_cut = true;
        }
        Part { events, is_cut }
    }
}

#[cfg(test)]
mod tests {
    use bpc_core::Hash;

    use super::*;

    fn part(ids: &[i64], is_cut: bool) -> Part {
        let events = ids.iter().map(|id| Pending { id: *id, leaf: Hash::ZERO, is_of_log: false }).collect();
        Part { events, is_cut }
    }

    #[test]
    fn nothing_is_taken_behind_what_a_limit_hides() {
        for (singles, cohorts, limit, ids, is_cut) in [
            (part(&[], false), part(&[], false), 9, vec![], false),
            (part(&[64, 256], false), part(&[128, 129, 320], false), 9, vec![64, 128, 129, 256, 320], false),
            (part(&[64, 256], true), part(&[128, 129, 320], false), 9, vec![64, 128, 129, 256], true),
            (part(&[64, 256], false), part(&[128, 129], true), 9, vec![64, 128, 129], true),
            (part(&[64, 256], true), part(&[128, 129], true), 9, vec![64, 128, 129], true),
            // In the middle of a cohort, too.
            (part(&[64, 256], false), part(&[128, 129], false), 2, vec![64, 128], true),
            (part(&[64], true), part(&[], false), 1, vec![64], true),
        ] {
            for (one, other) in [(&singles, &cohorts), (&cohorts, &singles)] {
                let merged = one.clone().merge(other.clone(), limit);
                assert_eq!(merged.events.iter().map(|event| event.id).collect::<Vec<_>>(), ids);
                assert_eq!(merged.is_cut, is_cut, "{ids:?}");
            }
        }
    }
}
