//! Rows of events on their way from a source to the checkers, in one layout wherever they come from.

use std::ops::Range;

use super::row::{COLUMNS, CohortRow, Row, id_of, is_cohort, stream_of};

/// Rows, one behind the other.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct Batch {
    pub(in crate::verify) bytes: Vec<u8>,
    /// Where the row that is next begins.
    start: u32,
    /// What is taken from each row as it comes, while its bytes are at hand: nobody needs to look at rows that are
    /// not for him.
    rows: Vec<RowMark>,
    /// The events in the rows, once they are told apart.
    events: Vec<EventMark>,
    has_damage: bool,
}

/// A row as far as it must be known to those who do not check it.
#[derive(Clone, Copy, Debug)]
struct RowMark {
    /// Insertion id, if it has one.
    id: Option<i64>,
    /// Where its bytes are.
    start: u32,
    end: u32,
    /// Which checker it is for, if it is one event.
    share: Share,
    is_cohort: bool,
}

/// An event as far as it must be known to those who do not check it.
#[derive(Clone, Copy, Debug)]
struct EventMark {
    /// Insertion id, if it has one.
    id: Option<i64>,
    /// Where the row is that it is in.
    start: u32,
    end: u32,
    /// Where its own bytes are, if that row is a cohort.
    line: Option<(u32, u32)>,
    /// Which checker it is for, before it is known how many there are.
    share: Share,
    /// The place among those of a cohort.
    place: u8,
}

/// What rows of one stream have in common, and rows of different streams hardly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share(u16);

impl Share {
    /// The last bytes of a stream's id are random, or a hash; if somebody chose them, all the work is done by one. What
    /// is not even a row with a stream is as good as any.
    fn of(row: &[u8]) -> Self {
        stream_of(row).map_or(Share(0), Share::of_stream)
    }

    fn of_stream(stream: &[u8; 16]) -> Self {
        Share(u16::from_le_bytes([stream[15], stream[14]]))
    }

    /// Which of so many checkers it is for.
    pub(super) fn shard(self, shards: usize) -> usize {
        usize::from(self.0) % shards
    }
}

impl Batch {
    /// So many events, once they are told apart.
    pub(in crate::verify) fn len(&self) -> usize {
        self.events.len()
    }

    /// So many rows.
    pub(in crate::verify) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The same memory without rows.
    pub(in crate::verify) fn clear(&mut self) {
        self.bytes.clear();
        self.forget_rows();
    }

    /// The same bytes, which mean nothing any more: who writes over them need not wipe them first.
    pub(in crate::verify) fn forget_rows(&mut self) {
        self.start = 0;
        self.rows.clear();
        self.events.clear();
        self.has_damage = false;
    }

    /// What was appended to `bytes` since the last row is a row.
    pub(in crate::verify) fn end_row(&mut self) {
        let end = self.bytes.len();
        self.row_at(self.start as usize..end);
        self.start = end as u32;
    }

    /// Append a row.
    pub(in crate::verify) fn push(&mut self, row: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(row);
        self.row_at(start..self.bytes.len());
    }

    /// These bytes are a row.
    pub(in crate::verify) fn row_at(&mut self, place: Range<usize>) {
        let row = &self.bytes[place.clone()];
        let (id, share, is_cohort) = (id_of(row), Share::of(row), is_cohort(row));
        self.rows.push(RowMark { id, start: place.start as u32, end: place.end as u32, share, is_cohort });
    }

    /// Put rows in the order of their ids; their bytes stay where they are.
    pub(in crate::verify) fn sort(&mut self) {
        self.rows.sort_by_key(|row| row.id);
    }

    /// Take out what has an id above this one.
    pub(in crate::verify) fn take_above(&mut self, id: i64, mut taken: impl FnMut(i64, &[u8])) {
        let bytes = &self.bytes;
        self.rows.retain(|row| match row.id {
            Some(above) if above > id => {
                taken(above, &bytes[row.start as usize..row.end as usize]);
                false
            }
            _ => true,
        });
    }

    /// Take out what has this id or one below it, or none at all, from rows in the order of their ids.
    pub(in crate::verify) fn take_up_to(&mut self, id: Option<i64>, mut taken: impl FnMut(&[u8])) {
        let until = self.rows.partition_point(|row| row.id <= id);
        for row in self.rows.drain(..until) {
            taken(&self.bytes[row.start as usize..row.end as usize]);
        }
    }

    /// The highest id, of rows in the order of their ids.
    pub(in crate::verify) fn last_id(&self) -> Option<i64> {
        self.rows.last()?.id
    }

    /// The insertion id of each row, even one that is not as it should be, if it has one.
    pub(in crate::verify) fn row_ids(&self) -> impl Iterator<Item = Option<i64>> {
        self.rows.iter().map(|row| row.id)
    }

    /// The bytes of each row.
    #[cfg(test)]
    pub(in crate::verify) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().map(|row| &self.bytes[row.start as usize..row.end as usize])
    }

    /// Tell the events apart that are in the rows, which are complete and in order. Every id should be higher than those
    /// of the batches before.
    pub(in crate::verify) fn tell_events(&mut self, highest_id: &mut Option<i64>) {
        for number in 0..self.rows.len() {
            let row = self.rows[number];
            self.has_damage |= row.id <= *highest_id;
            if row.is_cohort {
                self.tell_cohort(&row);
            } else {
                let RowMark { id, start, end, share, .. } = row;
                self.events.push(EventMark { id, start, end, line: None, share, place: 0 });
            }
            *highest_id = self.events.last().and_then(|event| event.id).max(*highest_id);
        }
    }

    fn tell_cohort(&mut self, row: &RowMark) {
        let RowMark { start, end, .. } = *row;
        let before = self.events.len();
        let is_sound = CohortRow::read(&self.bytes[start as usize..end as usize]).is_some_and(|row| {
            let cohort = row.cohort;
            // The last column is what the row ends with.
            let lines = end as usize - cohort.event_lines.len();
            let told = cohort.events(|place, line| {
                let line = Some(((lines + line.start) as u32, (lines + line.end) as u32));
                let share = Share::of_stream(cohort.stream_id(place));
                let id = Some(cohort.id + place as i64);
                self.events.push(EventMark { id, start, end, line, share, place: place as u8 });
            });
            told.is_ok()
        });
        if !is_sound {
            self.events.truncate(before);
            self.has_damage = true;
        }
    }

    /// Is there a row whose events cannot be told, or that has no id of its own?
    pub(in crate::verify) fn has_damage(&self) -> bool {
        self.has_damage
    }

    /// The insertion id of each event, even one that is not as it should be, if it has one.
    pub(in crate::verify) fn ids(&self) -> impl Iterator<Item = Option<i64>> {
        self.events.iter().map(|event| event.id)
    }

    /// An event by its number; `None` for what is not even a row.
    pub(in crate::verify) fn event(&self, number: usize) -> Option<Row<'_>> {
        self.read(&self.events[number])
    }

    /// The events of one of so many shards, by number.
    pub(super) fn events_of(
        &self,
        shard: usize,
        shards: usize,
    ) -> impl Iterator<Item = (u32, Option<Row<'_>>)> {
        let events = self.events.iter().enumerate();
        events
            .filter(move |(_, event)| event.share.shard(shards) == shard)
            .map(|(number, event)| (number as u32, self.read(event)))
    }

    fn read(&self, event: &EventMark) -> Option<Row<'_>> {
        let row = &self.bytes[event.start as usize..event.end as usize];
        match event.line {
            None => Row::read(row),
            Some((start, end)) => {
                let line = &self.bytes[start as usize..end as usize];
                CohortRow::read(row).map(|row| row.event(event.place.into(), line))
            }
        }
    }

    /// Append one column of a row that is put together here.
    pub(in crate::verify) fn column(&mut self, value: Option<&[u8]>) {
        let length = value.map_or(-1, |value| value.len() as i32);
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(value.unwrap_or_default());
    }

    /// Begin a row that is put together here.
    pub(in crate::verify) fn begin_row(&mut self) {
        self.bytes.extend_from_slice(&(COLUMNS.len() as i16).to_be_bytes());
    }
}
