//! A row in the layout in which PostgreSQL copies it out: a number of columns, then each behind its length. Columns of
//! fixed size come first, so most of it is found without looking for it.
//!
//! It is one event, or a cohort of them; how many columns it has tells which.

use bpc_core::job;

use crate::verify::cohort::Cohort;

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

/// Columns of a row that is one event, in this order.
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

/// Columns of a row that is a cohort, in this order.
pub(in crate::verify) const COHORT_COLUMNS: [&str; 10] = [
    "id",
    "version",
    "occurred_at",
    "tenant_id",
    "first_stream_id",
    "last_stream_id",
    "event_type",
    "stream_ids",
    "event_hashes",
    "event_lines",
];

impl<'a> Row<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
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

/// The columns of a row that is a cohort, borrowed; as in [`Row`], all are there.
pub(super) struct CohortRow<'a> {
    version: i32,
    occurred_at: i64,
    tenant_id: &'a [u8; 16],
    event_type: &'a [u8],
    pub(super) cohort: Cohort<'a>,
}

impl<'a> CohortRow<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&(COHORT_COLUMNS.len() as i16).to_be_bytes())?;
        let id = i64::from_be_bytes(*fixed(&mut rest)?);
        let version = i32::from_be_bytes(*fixed(&mut rest)?);
        let occurred_at = i64::from_be_bytes(*fixed(&mut rest)?);
        let tenant_id = fixed(&mut rest)?;
        let first_stream_id = fixed::<16>(&mut rest)?;
        let last_stream_id = fixed::<16>(&mut rest)?;
        let event_type = next(&mut rest)?;
        let stream_ids = next(&mut rest)?;
        let event_hashes = next(&mut rest)?;
        let event_lines = next(&mut rest)?;
        let cohort = Cohort { id, first_stream_id, last_stream_id, stream_ids, event_hashes, event_lines };
        rest.is_empty().then_some(CohortRow { version, occurred_at, tenant_id, event_type, cohort })
    }

    /// One of its events, as if it had a row of its own.
    pub(super) fn event(&self, place: usize, event_bytes: &'a [u8]) -> Row<'a> {
        Row {
            id: self.cohort.id + place as i64,
            stream_id: self.cohort.stream_id(place),
            version: self.version,
            occurred_at: self.occurred_at,
            tenant_id: self.tenant_id,
            event_hash: self.cohort.event_hash(place),
            stream_type: job::STREAM_TYPE.as_bytes(),
            event_type: self.event_type,
            event_bytes,
        }
    }
}

/// Of any row, even one that is not as it should be: is it a cohort?
pub(super) fn is_cohort(row: &[u8]) -> bool {
    row.starts_with(&(COHORT_COLUMNS.len() as i16).to_be_bytes())
}

/// Of any row, even one that is not as it should be: its stream.
pub(super) fn stream_of(row: &[u8]) -> Option<&[u8; 16]> {
    let mut rest = row.get(2..)?;
    fixed::<8>(&mut rest)?;
    fixed(&mut rest)
}

/// Of any row, even one that is not as it should be: its insertion id.
pub(super) fn id_of(row: &[u8]) -> Option<i64> {
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
