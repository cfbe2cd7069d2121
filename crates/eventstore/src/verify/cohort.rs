//! A row of `cohort_events`, which holds one event each of up to 64 jobs: what makes it one, whichever way it was read.
//!
//! A row that is no cohort holds no events: nobody who looks for them would find them in it.

use std::ops::Range;

use bpc_core::cohort::{may_be_in_cohort, may_follow};
use bpc_core::{COHORT_MAX, StreamId};
use uuid::Uuid;

/// What a row says about the events in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cohort<'a> {
    /// The insertion id of the first; the others follow.
    pub(super) id: i64,
    pub(super) first_stream_id: &'a [u8],
    pub(super) last_stream_id: &'a [u8],
    pub(super) stream_ids: &'a [u8],
    pub(super) event_hashes: &'a [u8],
    pub(super) event_lines: &'a [u8],
}

/// Why a row is no cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) column: &'static str,
    pub(super) why: &'static str,
}

const STREAM_ID: usize = 16;
const HASH: usize = 32;

impl<'a> Cohort<'a> {
    /// Find the events, in order: `each` gets the place of one among them, and where its bytes are among the lines. In a
    /// row that turns out to be broken there are none.
    pub(super) fn events(&self, mut each: impl FnMut(usize, Range<usize>)) -> Result<(), Broken> {
        let count = self.checked_count()?;
        let (mut found, mut start) = (0, 0);
        let ends = memchr::memchr_iter(b'\n', self.event_lines).chain([self.event_lines.len()]);
        for end in ends {
            if found == count {
                found += 1;
                break;
            }
            each(found, start..end);
            (found, start) = (found + 1, end + 1);
        }
        match found == count {
            true => Ok(()),
            false => broken("event_lines", "it has not as many events as jobs"),
        }
    }

    /// The job of one of the events.
    pub(super) fn stream_id(&self, place: usize) -> &'a [u8; STREAM_ID] {
        fixed(self.stream_ids, place)
    }

    /// The hash of one of the events.
    pub(super) fn event_hash(&self, place: usize) -> &'a [u8; HASH] {
        fixed(self.event_hashes, place)
    }

    /// How many events there should be, if everything but the events themselves is as it should be.
    fn checked_count(&self) -> Result<usize, Broken> {
        let count = self.stream_ids.len() / STREAM_ID;
        if self.id % COHORT_MAX as i64 != 0 {
            return broken("id", "its id is not one that is given out: there is no room behind it");
        }
        if !self.stream_ids.len().is_multiple_of(STREAM_ID) || !(1..=COHORT_MAX).contains(&count) {
            return broken("stream_ids", "it has not the ids of 1 to 64 jobs");
        }
        if self.event_hashes.len() != count * HASH {
            return broken("event_hashes", "it has not as many hashes as jobs");
        }
        if self.first_stream_id != self.stream_id(0) {
            return broken("first_stream_id", "its first job is another");
        }
        if self.last_stream_id != self.stream_id(count - 1) {
            return broken("last_stream_id", "its last job is another");
        }
        let id = |place| StreamId(Uuid::from_bytes(*self.stream_id(place)));
        // One alone as well: nobody would look here for a job whose id says no time.
        match may_be_in_cohort(id(0)) && (1..count).all(|place| may_follow(id(place - 1), id(place))) {
            true => Ok(count),
            false => broken("stream_ids", "the ids of its jobs do not ascend within a millisecond"),
        }
    }
}

fn fixed<const N: usize>(bytes: &[u8], place: usize) -> &[u8; N] {
    bytes[place * N..].first_chunk().expect("as many as there are jobs")
}

fn broken<T>(column: &'static str, why: &'static str) -> Result<T, Broken> {
    Err(Broken { column, why })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The columns of a row of so many jobs.
    #[derive(Clone)]
    struct Columns {
        id: i64,
        first: Vec<u8>,
        last: Vec<u8>,
        ids: Vec<u8>,
        hashes: Vec<u8>,
        lines: Vec<u8>,
    }

    fn columns(jobs: u8) -> Columns {
        let id = |job: u8| [1, 9, 9, 9, 9, 9, 0x70, job, 0x80, 0, 0, 0, 0, 0, 0, 0];
        let lines: Vec<String> = (0..jobs).map(|job| format!("{{\"job\":{job}}}")).collect();
        Columns {
            id: 128,
            first: id(0).to_vec(),
            last: id(jobs.saturating_sub(1)).to_vec(),
            ids: (0..jobs).flat_map(id).collect(),
            hashes: (0..jobs).flat_map(|job| [job; 32]).collect(),
            lines: lines.join("\n").into_bytes(),
        }
    }

    impl Columns {
        fn cohort(&self) -> Cohort<'_> {
            Cohort {
                id: self.id,
                first_stream_id: &self.first,
                last_stream_id: &self.last,
                stream_ids: &self.ids,
                event_hashes: &self.hashes,
                event_lines: &self.lines,
            }
        }

        fn broken(&self) -> Option<&'static str> {
            self.cohort().events(|_, _| {}).err().map(|broken| broken.column)
        }
    }

    #[test]
    fn the_events_of_a_row_are_found_in_order() {
        for jobs in [1, 2, 64] {
            let row = columns(jobs);
            let mut found = Vec::new();
            row.cohort().events(|place, line| found.push((place, row.lines[line].to_vec()))).unwrap();
            let expected = (0..jobs).map(|job| (job.into(), format!("{{\"job\":{job}}}").into_bytes()));
            assert_eq!(found, expected.collect::<Vec<_>>());
            assert_eq!(row.cohort().event_hash(usize::from(jobs) - 1), &[jobs - 1; 32]);
        }
    }

    #[test]
    fn a_row_that_is_no_cohort_says_why() {
        type Change = fn(&mut Columns);
        let changes: [(Change, &str); 13] = [
            (|row| row.id += 1, "id"),
            (|row| *row = columns(0), "stream_ids"),
            (|row| *row = columns(65), "stream_ids"),
            (|row| row.ids.truncate(31), "stream_ids"),
            (|row| row.ids.swap(7, 23), "first_stream_id"),
            (|row| row.ids.swap(23, 39), "stream_ids"),
            (|row| row.ids[21] ^= 1, "stream_ids"),
            (|row| row.hashes.truncate(64), "event_hashes"),
            (|row| row.hashes.push(0), "event_hashes"),
            (|row| row.first[15] ^= 1, "first_stream_id"),
            (|row| row.last[0] ^= 1, "last_stream_id"),
            (|row| row.lines.push(b'\n'), "event_lines"),
            (|row| row.lines.truncate(20), "event_lines"),
        ];
        for (number, (change, column)) in changes.into_iter().enumerate() {
            let mut row = columns(4);
            change(&mut row);
            assert_eq!(row.broken(), Some(column), "change {number}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_in_a_row_it_is_read_or_broken(
            jobs in 0..66_u8, id in any::<i64>(), cut in 0..5000_usize, column in 0..5_u8, byte in any::<u8>()
        ) {
            let mut row = Columns { id, ..columns(jobs) };
            let bytes = match column {
                0 => &mut row.first,
                1 => &mut row.last,
                2 => &mut row.ids,
                3 => &mut row.hashes,
                _ => &mut row.lines,
            };
            bytes.truncate(cut);
            bytes.push(byte);
            let mut found = 0;
            let read = row.cohort().events(|_, _| found += 1);
            prop_assert!(read.is_err() || found == row.ids.len() / 16);
        }
    }
}
