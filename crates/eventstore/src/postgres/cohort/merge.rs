//! The whole log by stream and version.

use std::collections::BTreeMap;
use std::vec::IntoIter;

use bpc_core::StreamId;
use futures_util::stream::{BoxStream, StreamExt, TryStreamExt, try_unfold};
use sqlx::PgConnection;

use crate::error::StoreError;
use crate::read::StoredEvent;

use super::row::LogRow;

/// Every event of both tables. A row of a cohort stays in memory from its first stream to its last: a few of them at a
/// time, because cohorts are made of jobs whose ids follow each other.
pub(crate) fn read_log(conn: &mut PgConnection) -> BoxStream<'_, Result<StoredEvent, StoreError>> {
    let rows = sqlx::query(include_str!("read_log.sql")).fetch(conn);
    let rows = rows.map(|row| Ok(LogRow::of(&row?)?)).boxed();
    try_unfold(Merge { rows, ahead: None, open: Open::default() }, Merge::next).boxed()
}

struct Merge<'c> {
    /// In the order of the first event of each.
    rows: BoxStream<'c, Result<LogRow, StoreError>>,
    /// The next of them.
    ahead: Option<LogRow>,
    open: Open,
}

impl Merge<'_> {
    async fn next(mut self) -> Result<Option<(StoredEvent, Self)>, StoreError> {
        loop {
            if self.ahead.is_none() {
                self.ahead = self.rows.try_next().await?;
            }
            // What is behind the row ahead may come before what else is in the open ones.
            let is_due = |place| self.ahead.as_ref().is_none_or(|row| place <= row.place());
            if self.open.place().is_some_and(is_due) {
                return Ok(self.open.next().map(|event| (event, self)));
            }
            match self.ahead.take() {
                Some(row) => self.open.add(row.events()?),
                None => return Ok(None),
            }
        }
    }
}

/// Rows of which some events are still to come, by the place of the next one; ids tell apart what should be one event.
#[derive(Default)]
struct Open(BTreeMap<(StreamId, i32, i64), IntoIter<StoredEvent>>);

impl Open {
    /// Stream and version of the next event.
    fn place(&self) -> Option<(StreamId, i32)> {
        self.0.first_key_value().map(|((stream, version, _), _)| (*stream, *version))
    }

    fn add(&mut self, events: Vec<StoredEvent>) {
        self.put_back(events.into_iter());
    }

    fn next(&mut self) -> Option<StoredEvent> {
        let (_, mut events) = self.0.pop_first()?;
        let event = events.next();
        self.put_back(events);
        event
    }

    fn put_back(&mut self, events: IntoIter<StoredEvent>) {
        if let Some(next) = events.as_slice().first() {
            self.0.insert((next.stream_id, next.version, next.id), events);
        }
    }
}
