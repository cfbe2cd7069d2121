//! Rows of a table in its own order, put in the order of their ids.
//!
//! A table that is only added to lies nearly in that order. Whoever writes at the same time fills pages of his own, so
//! neighbours change places; and room that a transaction left which did not commit is used by a later one, so a few
//! rows stand far too early. A row that stands far too late is not explained by that.

use std::collections::{BTreeMap, VecDeque};

use crate::verify::quick::{Batch, ScanError};

/// Batches read beyond the one that is passed on.
const BEYOND: usize = 6;
/// Memory for rows that stand too early, about.
const EARLY_BYTES_MAX: usize = 6 << 20;
/// What an early row takes beside its bytes, about.
const ROW_REST: usize = 48;

/// Takes batches as they are read and passes them on in order: every id is higher than the one before, in a batch and
/// from batch to batch.
pub(super) struct Window {
    /// With their lowest ids.
    waiting: VecDeque<(i64, Batch)>,
    /// Rows that have to wait for those with lower ids.
    early: BTreeMap<i64, Box<[u8]>>,
    early_bytes: usize,
    early_bytes_max: usize,
    /// The highest id that was passed on.
    passed: Option<i64>,
}

impl Window {
    pub(super) fn new() -> Self {
        Window {
            waiting: VecDeque::with_capacity(BEYOND + 1),
            early: BTreeMap::new(),
            early_bytes: 0,
            early_bytes_max: EARLY_BYTES_MAX,
            passed: None,
        }
    }

    /// The next batch of the table. Returns one in order as soon as enough was read beyond it.
    pub(super) fn take(&mut self, batch: Batch) -> Result<Option<Batch>, ScanError> {
        if batch.row_count() == 0 {
            return Ok(None);
        }
        let mut lowest = i64::MAX;
        for id in batch.row_ids() {
            lowest = lowest.min(id.ok_or(ScanError::Disordered)?);
        }
        self.waiting.push_back((lowest, batch));
        if self.waiting.len() > BEYOND { self.pass_on() } else { Ok(None) }
    }

    /// What is still to be passed on, once everything was taken: asked for until there is nothing.
    pub(super) fn rest(&mut self) -> Result<Option<Batch>, ScanError> {
        self.pass_on()
    }

    fn pass_on(&mut self) -> Result<Option<Batch>, ScanError> {
        let Some((_, mut batch)) = self.waiting.pop_front() else {
            return Ok(None);
        };
        let until = self.waiting.iter().map(|(lowest, _)| *lowest).min().unwrap_or(i64::MAX);
        let mut are_unique = true;
        batch.take_above(until, |id, row| {
            self.early_bytes += row.len() + ROW_REST;
            are_unique &= self.early.insert(id, row.into()).is_none();
        });
        if !are_unique || self.early_bytes > self.early_bytes_max {
            return Err(ScanError::Disordered);
        }
        while let Some(entry) = self.early.first_entry().filter(|entry| *entry.key() <= until) {
            let row = entry.remove();
            self.early_bytes -= row.len() + ROW_REST;
            batch.push(&row);
        }
        batch.sort();
        for id in batch.row_ids().flatten() {
            if Some(id) <= self.passed {
                return Err(ScanError::Disordered);
            }
            self.passed = Some(id);
        }
        Ok(Some(batch))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn batch(ids: &[i64]) -> Batch {
        let mut batch = Batch::default();
        for id in ids {
            batch.begin_row();
            batch.column(Some(&id.to_be_bytes()));
            batch.column(Some(&[*id as u8; 16]));
            batch.end_row();
        }
        batch
    }

    /// What comes out of these rows, in batches of so many; `None` if they are too far out of order.
    fn passed_on(ids: &[i64], rows: usize, early_bytes_max: usize) -> Option<Vec<i64>> {
        let mut window = Window { early_bytes_max, ..Window::new() };
        let mut passed = Vec::new();
        let mut add = |batch: Batch| {
            for (id, row) in batch.row_ids().zip(batch.rows()) {
                let id = id.unwrap();
                assert_eq!(batch_of_one(row), [id], "the bytes of a row stay with it");
                passed.push(id);
            }
        };
        for some in ids.chunks(rows) {
            window.take(batch(some)).ok()?.into_iter().for_each(&mut add);
        }
        while let Some(batch) = window.rest().ok()? {
            add(batch);
        }
        Some(passed)
    }

    fn batch_of_one(row: &[u8]) -> Vec<i64> {
        let mut batch = Batch::default();
        batch.push(row);
        batch.row_ids().flatten().collect()
    }

    #[test]
    fn neighbours_may_change_places_across_batches() {
        assert_eq!(passed_on(&[3, 1, 2, 6, 5, 4, 9, 7, 8], 2, 1 << 10), Some((1..=9).collect()));
    }

    #[test]
    fn rows_in_room_that_was_left_wait_for_those_before_them() {
        let mut ids: Vec<i64> = (0..500).collect();
        ids.insert(3, 800);
        ids.insert(70, 700);
        ids.extend(500..700);
        ids.extend(701..800);
        assert_eq!(passed_on(&ids, 10, 1 << 10), Some((0..=800).collect()));
    }

    #[test]
    fn what_is_too_far_out_of_order_is_said_so() {
        let late: Vec<i64> = (1..100).chain([0]).collect();
        assert_eq!(passed_on(&late, 10, 1 << 10), None);
        let backwards: Vec<i64> = (0..100).rev().collect();
        assert_eq!(passed_on(&backwards, 10, 1 << 10), None);
        let early = |rows: i64| (1000..1000 + rows).chain(0..1000).collect::<Vec<i64>>();
        assert_eq!(passed_on(&early(20), 10, 1 << 20), Some((0..1020).collect()));
        assert_eq!(passed_on(&early(20), 10, 1 << 10), None, "more than there is room for");
        assert_eq!(passed_on(&early(100), 10, 1 << 20), None, "more than the window sees at once");
    }

    #[test]
    fn an_id_that_is_there_twice_is_disorder() {
        for ids in [vec![1, 1], vec![1, 2, 1], vec![9, 1, 2, 9, 3], vec![1, 9, 9, 2, 3, 4, 5, 6, 7, 8]] {
            for rows in 1..4 {
                assert_eq!(passed_on(&ids, rows, 1 << 10), None, "{ids:?} by {rows}");
            }
        }
    }

    #[test]
    fn rows_without_an_id_are_disorder() {
        let mut batch = Batch::default();
        batch.begin_row();
        batch.column(None);
        batch.end_row();
        assert!(matches!(Window::new().take(batch), Err(ScanError::Disordered)));
    }

    proptest! {
        #[test]
        fn everything_comes_in_order_or_nothing_is_claimed(
            ids in proptest::collection::vec(-40..40_i64, 0..60), rows in 1..7_usize, room in 0..2_000_usize
        ) {
            if let Some(passed) = passed_on(&ids, rows, room) {
                let mut sorted = ids.clone();
                sorted.sort_unstable();
                prop_assert_eq!(&passed, &sorted);
                prop_assert!(passed.is_sorted_by(|a, b| a < b));
            }
        }

        #[test]
        fn any_order_will_do_if_there_is_room_and_the_window_reaches_far_enough(
            ids in Just((0..30_i64).collect::<Vec<_>>()).prop_shuffle(), rows in 8..40_usize
        ) {
            prop_assert_eq!(passed_on(&ids, rows, 1 << 20), Some((0..30).collect()));
        }
    }
}
