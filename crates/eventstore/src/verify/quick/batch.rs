//! Rows of events on their way from a source to the checkers.
//!
//! In the layout in which PostgreSQL copies rows out, whatever they come from: a number of columns, then
//! each behind its length. Columns of fixed size come first, so most of a row is found without
//! looking for it.

use std::ops::Range;

/// Rows, one behind the other.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct Batch {
    pub(in crate::verify) bytes: Vec<u8>,
    /// Where the row that is next begins.
    start: u32,
    /// What is taken from each row as it comes, while its bytes are at hand: nobody needs to look at rows that are
    /// not for him.
    marks: Vec<Mark>,
}

/// A row as far as it must be known to those who do not check it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Insertion id, if it has one.
    id: Option<i64>,
    /// Where its bytes are.
    start: u32,
    end: u32,
    /// Which checker it is for, before it is known how many there are.
    share: Share,
}

/// What rows of one stream have in common, and rows of different streams hardly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share(u16);

impl Share {
    /// The last bytes of a stream's id are random, or a hash; if somebody chose them, all the work is done by one. What
    /// is not even a row with a stream is as good as any.
    fn of(row: &[u8]) -> Self {
        stream_of(row).map_or(Share(0), |stream| Share(u16::from_le_bytes([stream[15], stream[14]])))
    }

    /// Which of so many checkers it is for.
    pub(super) fn shard(self, shards: usize) -> usize {
        usize::from(self.0) % shards
    }
}

/// The columns of one event, borrowed. What is not as long as it should be, or missing, is not in here:
/// such a row is for the exact look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) struct Row<'a> {
    pub(in crate::verify) id: i64,
    pub(in crate::verify) stream_id: &'a [u8; 16],
    pub(in crate::verify) version: i32,
    pub(in crate::verify) occurred_at: i64,
    pub(in crate::verify) tenant_id: &'a [u8; 16],
    pub(in crate::verify) event_hash: &'a [u8; 32],
    pub(in crate::verify) stream_type: &'a [u8],
    pub(in crate::verify) event_type: &'a [u8],
    pub(in crate::verify) event_bytes: &'a [u8],
}

/// Columns of a row, in this order.
pub(in crate::verify) const COLUMNS: [&str; 9] = [
    "id",
    "stream_id",
    "version",
    "occurred_at",
    "tenant_id",
    "event_hash",
    "stream_type",
    "event_type",
    "event_bytes",
];

impl Batch {
    /// So many rows.
    pub(in crate::verify) fn len(&self) -> usize {
        self.marks.len()
    }

    /// The same memory without rows.
    pub(in crate::verify) fn clear(&mut self) {
        self.bytes.clear();
        self.forget_rows();
    }

    /// The same bytes, which mean nothing any more: who writes over them need not wipe them first.
    pub(in crate::verify) fn forget_rows(&mut self) {
        self.start = 0;
        self.marks.clear();
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
        let (id, share) = (id_of(row), Share::of(row));
        self.marks.push(Mark { id, start: place.start as u32, end: place.end as u32, share });
    }

    /// Put rows in the order of their ids; their bytes stay where they are.
    pub(in crate::verify) fn sort(&mut self) {
        self.marks.sort_by_key(|mark| mark.id);
    }

    /// Take out what has an id above this one.
    pub(in crate::verify) fn take_above(&mut self, id: i64, mut taken: impl FnMut(i64, &[u8])) {
        let bytes = &self.bytes;
        self.marks.retain(|mark| match mark.id {
            Some(above) if above > id => {
                taken(above, &bytes[mark.start as usize..mark.end as usize]);
                false
            }
            _ => true,
        });
    }

    /// The insertion id of each row, even one that is not as it should be, if it has one.
    pub(in crate::verify) fn ids(&self) -> impl Iterator<Item = Option<i64>> {
        self.marks.iter().map(|mark| mark.id)
    }

    /// The rows of one of so many shards, by number.
    pub(super) fn rows_of(&self, shard: usize, shards: usize) -> impl Iterator<Item = (u32, &[u8])> {
        let rows = self.marks.iter().enumerate();
        rows.filter(move |(_, mark)| mark.share.shard(shards) == shard)
            .map(|(number, mark)| (number as u32, &self.bytes[mark.start as usize..mark.end as usize]))
    }

    /// The bytes of each row.
    pub(in crate::verify) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.marks.iter().map(|mark| &self.bytes[mark.start as usize..mark.end as usize])
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

impl<'a> Row<'a> {
    pub(in crate::verify) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&(COLUMNS.len() as i16).to_be_bytes())?;
        let row = Row {
            id: i64::from_be_bytes(*fixed(&mut rest)?),
            stream_id: fixed(&mut rest)?,
            version: i32::from_be_bytes(*fixed(&mut rest)?),
            occurred_at: i64::from_be_bytes(*fixed(&mut rest)?),
            tenant_id: fixed(&mut rest)?,
            event_hash: fixed(&mut rest)?,
            stream_type: next(&mut rest)?,
            event_type: next(&mut rest)?,
            event_bytes: next(&mut rest)?,
        };
        rest.is_empty().then_some(row)
    }
}

/// Of any row, even one that is not as it should be: its stream.
fn stream_of(row: &[u8]) -> Option<&[u8; 16]> {
    let mut rest = row.get(2..)?;
    fixed::<8>(&mut rest)?;
    fixed(&mut rest)
}

/// Of any row, even one that is not as it should be: its insertion id.
fn id_of(row: &[u8]) -> Option<i64> {
    let mut rest = row.get(2..)?;
    Some(i64::from_be_bytes(*fixed(&mut rest)?))
}

fn fixed<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (length, behind) = rest.split_first_chunk()?;
    if i32::from_be_bytes(*length) != N as i32 {
        return None;
    }
    let (value, behind) = behind.split_first_chunk()?;
    *rest = behind;
    Some(value)
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
    let (value, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    Some(value)
}
