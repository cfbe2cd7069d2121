//! Events of PostgreSQL by stream and version, from rows of which some are cohorts.
//!
//! Rows come in the order of their first events. So all that is before a row is there once that row comes, and what is
//! behind it waits: as many events as there are in cohorts that overlap.

use std::collections::BTreeMap;
use std::ops::Range;

use bpc_core::{StreamId, job};
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::cell::Cell;
use super::row::{COLUMNS, EVENT_BYTES, EVENT_HASH, EventRow, ID, STREAM_ID, STREAM_TYPE, VERSION};
use crate::verify::cohort::{Broken, Cohort};
use crate::verify::finding::{Finding, Findings};

// Places of columns in `scan_events.sql` of PostgreSQL, behind those of an event.
const IS_COHORT: usize = COLUMNS;
const LAST_STREAM_ID: usize = COLUMNS + 1;
const STREAM_IDS: usize = COLUMNS + 2;

/// An event, in a row of its own or taken from one.
pub(super) enum PostgresEvent {
    Row(PgRow),
    Member(Box<[Cell<'static>; COLUMNS]>),
}

impl EventRow for PostgresEvent {
    fn cell(&self, index: usize) -> Cell<'_> {
        match self {
            PostgresEvent::Row(row) => row.cell(index),
            PostgresEvent::Member(cells) => cells[index].borrowed(),
        }
    }
}

/// Stream, version and id: NULL comes last, as the server has it. What agrees in all of them stays in the order in which
/// it came.
type Key = ((bool, Option<Uuid>), (bool, Option<i64>), (bool, Option<i64>), u64);

/// Puts events in order.
pub(super) struct Sweep<'s> {
    /// Only these streams, which are in order; `None` is all of them.
    streams: Option<&'s [StreamId]>,
    waiting: BTreeMap<Key, PostgresEvent>,
    /// Everything up to here has come.
    complete: Option<Key>,
    taken: u64,
}

impl<'s> Sweep<'s> {
    pub(super) fn over(streams: Option<&'s [StreamId]>) -> Self {
        Sweep { streams, waiting: BTreeMap::new(), complete: None, taken: 0 }
    }

    /// The next row. One that is broken is a finding, and nothing else.
    pub(super) fn take(&mut self, row: PgRow, findings: &mut Findings) {
        let key = self.key(&row);
        self.complete = Some(key);
        if row.cell(IS_COHORT).bytes() != [1] {
            self.waiting.insert(key, PostgresEvent::Row(row));
        } else if let Err(broken) = self.take_cohort(&row) {
            findings.add(|| finding(&row, broken));
        }
    }

    /// There are no more rows.
    pub(super) fn end(&mut self) {
        self.complete = self.waiting.last_key_value().map(|(key, _)| *key);
    }

    /// The next event in order, if all before it have come.
    pub(super) fn next(&mut self) -> Option<PostgresEvent> {
        let first = self.waiting.first_entry()?;
        (Some(*first.key()) <= self.complete).then(|| first.remove())
    }

    fn take_cohort(&mut self, row: &PgRow) -> Result<(), Broken> {
        let [first, last, ids, hashes, lines] =
            [STREAM_ID, LAST_STREAM_ID, STREAM_IDS, EVENT_HASH, EVENT_BYTES].map(|column| row.cell(column));
        let Some(id) = row.id() else {
            return Err(Broken { column: "id", why: "it has no id" });
        };
        let cohort = Cohort {
            id,
            first_stream_id: first.bytes(),
            last_stream_id: last.bytes(),
            stream_ids: ids.bytes(),
            event_hashes: hashes.bytes(),
            event_lines: lines.bytes(),
        };
        let mut events: Vec<(usize, Range<usize>)> = Vec::new();
        cohort.events(|place, line| events.push((place, line)))?;
        for (place, line) in events {
            let stream = cohort.stream_id(place);
            let is_wanted =
                |streams: &[StreamId]| streams.binary_search(&StreamId(Uuid::from_bytes(*stream))).is_ok();
            if self.streams.is_some_and(|streams| !is_wanted(streams)) {
                continue;
            }
            let event = PostgresEvent::Member(Box::new(std::array::from_fn(|column| match column {
                STREAM_TYPE => Cell::text(job::STREAM_TYPE.as_bytes()),
                STREAM_ID => Cell::blob(stream).kept(),
                EVENT_HASH => Cell::blob(cohort.event_hash(place)).kept(),
                EVENT_BYTES => Cell::blob(&cohort.event_lines[line.clone()]).kept(),
                ID => Cell::Integer(id + place as i64),
                shared => row.cell(shared).kept(),
            })));
            let key = self.key(&event);
            self.waiting.insert(key, event);
        }
        Ok(())
    }

    fn key(&mut self, row: &impl EventRow) -> Key {
        self.taken += 1;
        let stream = row.stream_id().as_uuid();
        let (version, id) = (row.cell(VERSION).as_integer(), row.id());
        ((stream.is_none(), stream), (version.is_none(), version), (id.is_none(), id), self.taken)
    }
}

fn finding(row: &PgRow, broken: Broken) -> Finding {
    let stream = row.stream_id().as_uuid().unwrap_or_default();
    Finding {
        stream_type: job::STREAM_TYPE.to_owned(),
        stream: StreamId(stream),
        version: row.cell(VERSION).as_integer(),
        ..Finding::of_cohort(row.id(), broken.column, broken.why)
    }
}
