//! Events of cohorts: many jobs, one row.

mod merge;
mod read;
mod row;

use bpc_core::{COHORT_MAX, EventRecord};

use crate::error::StoreError;

use super::Composed;

pub(crate) use merge::read_log;
pub(crate) use read::{cohort_heads, read_event, read_ids, read_stream};
pub(crate) use row::Members;

/// Ids are given out that far apart: a row has one for each event that it may hold.
pub(crate) const ROW_IDS: i64 = COHORT_MAX as i64;

/// The first id of the row that an event with this id is in.
pub(crate) fn row_of(id: i64) -> i64 {
    id & -ROW_IDS
}

/// Add the append of events of cohorts to a statement. Each item is one event each of jobs whose ids may follow each other
/// ([`bpc_core::cohort::may_follow`]), at most [`bpc_core::COHORT_MAX`], alike in tenant, version, type and time.
pub fn append_cohorts<'e, C>(
    cohorts: impl IntoIterator<Item = C>,
    statement: &mut Composed,
) -> Result<(), StoreError>
where
    C: IntoIterator<Item = &'e EventRecord>,
{
    let cohorts: Vec<Vec<&EventRecord>> =
        cohorts.into_iter().map(|events| events.into_iter().collect()).collect();
    let cohorts: Vec<&[&EventRecord]> =
        cohorts.iter().map(|events| &events[..]).filter(|it| !it.is_empty()).collect();
    if cohorts.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("append_cohorts.sql"), |args| {
        args.reserve(
            cohorts.iter().flat_map(|events| *events).map(|event| event.event_bytes.len() + PLACE).sum(),
        );
        args.add(cohorts.iter().map(|events| events[0].occurred_at.as_micros()).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| events[0].version.0 as i32).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| events[0].tenant_id.0).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| events[0].stream_id.0).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| events[events.len() - 1].stream_id.0).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| &*events[0].event_type).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| ids(events)).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| hashes(events)).collect::<Vec<_>>())?;
        args.add(cohorts.iter().map(|events| lines(events)).collect::<Vec<_>>())
    })
}

/// What an event takes beside its bytes: its stream, its hash, a line feed.
const PLACE: usize = 16 + 32 + 1;

fn ids(events: &[&EventRecord]) -> Vec<u8> {
    events.iter().flat_map(|event| event.stream_id.0.into_bytes()).collect()
}

fn hashes(events: &[&EventRecord]) -> Vec<u8> {
    events.iter().flat_map(|event| event.event_hash.0).collect()
}

/// The bytes of each, with line feeds between them. Canonical JSON holds none.
fn lines(events: &[&EventRecord]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(events.iter().map(|event| event.event_bytes.len() + 1).sum());
    for (number, event) in events.iter().enumerate() {
        if number > 0 {
            lines.push(b'\n');
        }
        lines.extend_from_slice(&event.event_bytes);
    }
    lines
}
