//! The bytes of all events in the order of writing, page by page: for whoever asks the database other things meanwhile.

use std::collections::VecDeque;

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;

/// Events read at once.
const EVENTS_PAGE: i64 = 4096;
/// Rows of cohorts read at once, which are some hundred times as large.
const COHORTS_PAGE: i64 = 32;

/// What was read and not yet passed on.
pub(super) struct Written {
    tables: Vec<Pages>,
}

struct Pages {
    sql: &'static str,
    rows_max: i64,
    rows: VecDeque<(i64, Vec<u8>)>,
    after: i64,
}

impl Written {
    /// From the beginning.
    pub(super) fn of(conn: &Conn<'_>) -> Self {
        let events = "SELECT id, event_bytes FROM events WHERE id > $1 ORDER BY id LIMIT $2";
        let cohorts = "SELECT id, event_lines FROM cohort_events WHERE id > $1 ORDER BY id LIMIT $2";
        let mut tables = vec![Pages::new(events, EVENTS_PAGE)];
        if let Conn::Postgres(_) = conn {
            tables.push(Pages::new(cohorts, COHORTS_PAGE));
        }
        Written { tables }
    }

    /// What the next row says: the bytes of an event, or of several with line feeds between them.
    pub(super) async fn next(&mut self, conn: &mut Conn<'_>) -> Result<Option<Vec<u8>>, StoreError> {
        for table in &mut self.tables {
            table.turn(conn).await?;
        }
        let first = self.tables.iter_mut().filter(|table| !table.rows.is_empty());
        let first = first.min_by_key(|table| table.rows.front().map(|(id, _)| *id));
        Ok(first.and_then(|table| table.rows.pop_front()).map(|(_, bytes)| bytes))
    }
}

impl Pages {
    fn new(sql: &'static str, rows_max: i64) -> Self {
        Pages { sql, rows_max, rows: VecDeque::new(), after: i64::MIN }
    }

    /// Read the next page, if this one is used up and there is one.
    async fn turn(&mut self, conn: &mut Conn<'_>) -> Result<(), StoreError> {
        if self.rows.is_empty() && self.rows_max > 0 {
            let page: Vec<(i64, Vec<u8>)> = portable!(conn, c => {
                sqlx::query_as(self.sql).bind(self.after).bind(self.rows_max).fetch_all(&mut **c).await
            })?;
            match page.last() {
                Some((last, _)) => self.after = *last,
                None => self.rows_max = 0,
            }
            self.rows = page.into();
        }
        Ok(())
    }
}
