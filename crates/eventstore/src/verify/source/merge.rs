//! Rows of two tables, each in the order of its ids, as one.

use crate::verify::quick::Batch;

/// Batches of both tables that are not passed on yet.
#[derive(Default)]
pub(super) struct Merge {
    waiting: [Option<Batch>; 2],
}

impl Merge {
    /// The next batch of both, in order; `None` once there are no more. `read` gets another batch of one table.
    ///
    /// The batch that ends first is passed on as it is, and rows of the other that belong between its own are added to
    /// it: where one table has few rows, only those are ever copied.
    pub(super) fn next<E>(
        &mut self,
        mut read: impl FnMut(usize) -> Result<Option<Batch>, E>,
    ) -> Result<Option<Batch>, E> {
        for (table, waiting) in self.waiting.iter_mut().enumerate() {
            if waiting.is_none() {
                *waiting = read(table)?;
            }
        }
        let (table, mut first, mut other) = match self.waiting.each_mut().map(Option::take) {
            [Some(one), Some(other)] if one.last_id() <= other.last_id() => (1, one, other),
            [Some(other), Some(one)] => (0, one, other),
            [one, other] => return Ok(one.or(other)),
        };
        let until = first.last_id();
        other.take_up_to(until, |row| first.push(row));
        first.sort();
        if other.row_count() > 0 {
            self.waiting[table] = Some(other);
        }
        Ok(Some(first))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn batch(ids: &[i64]) -> Batch {
        let mut batch = Batch::default();
        for id in ids {
            batch.begin_row();
            batch.column(Some(&id.to_be_bytes()));
            batch.end_row();
        }
        batch
    }

    fn merged(tables: [&[i64]; 2], rows: usize) -> Vec<i64> {
        let mut batches = tables.map(|ids| ids.chunks(rows).map(batch));
        let (mut merge, mut merged) = (Merge::default(), Vec::new());
        while let Some(batch) = merge.next(|table| Ok::<_, Infallible>(batches[table].next())).unwrap() {
            merged.extend(batch.row_ids().flatten());
        }
        merged
    }

    #[test]
    fn a_table_alone_is_passed_on() {
        assert_eq!(merged([&[1, 2, 3], &[]], 2), [1, 2, 3]);
        assert_eq!(merged([&[], &[1, 2, 3]], 2), [1, 2, 3]);
        assert!(merged([&[], &[]], 2).is_empty());
    }

    proptest! {
        #[test]
        fn everything_comes_once_and_in_order(
            tables in proptest::collection::vec(proptest::collection::btree_set(-50..50_i64, 0..40), 2), rows in 1..7_usize
        ) {
            let tables: Vec<Vec<i64>> = tables.into_iter().map(|ids| ids.into_iter().collect()).collect();
            let mut expected = tables.concat();
            expected.sort_unstable();
            prop_assert_eq!(merged([&tables[0], &tables[1]], rows), expected);
        }
    }
}
