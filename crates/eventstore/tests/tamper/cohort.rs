//! Rows of `cohort_events`, as somebody sees them who holds the database.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::log::Event;

/// One row: events of many jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct CohortRow {
    pub id: i64,
    pub occurred_at: i64,
    pub version: i32,
    pub tenant_id: Uuid,
    pub first_stream_id: Uuid,
    pub last_stream_id: Uuid,
    pub event_type: String,
    pub stream_ids: Vec<u8>,
    pub event_hashes: Vec<u8>,
    pub event_lines: Vec<u8>,
}

type Columns = (i64, i64, i32, Uuid, Uuid, Uuid, String, Vec<u8>, Vec<u8>, Vec<u8>);

const COLUMNS: &str = "id, occurred_at, version, tenant_id, first_stream_id, last_stream_id, event_type, stream_ids, \
     event_hashes, event_lines";

impl CohortRow {
    /// All of them, by id.
    pub async fn load(conn: &mut PgConnection) -> Vec<CohortRow> {
        let sql = sqlx::AssertSqlSafe(format!("SELECT {COLUMNS} FROM cohort_events ORDER BY id"));
        let rows: Vec<Columns> = sqlx::query_as(sql).fetch_all(conn).await.unwrap();
        let row = |row: Columns| CohortRow {
            id: row.0,
            occurred_at: row.1,
            version: row.2,
            tenant_id: row.3,
            first_stream_id: row.4,
            last_stream_id: row.5,
            event_type: row.6,
            stream_ids: row.7,
            event_hashes: row.8,
            event_lines: row.9,
        };
        rows.into_iter().map(row).collect()
    }

    /// Put these in the place of all.
    pub async fn store(rows: &[CohortRow], conn: &mut PgConnection) {
        sqlx::query("DELETE FROM cohort_events").execute(&mut *conn).await.unwrap();
        for row in rows {
            let sql = format!(
                "INSERT INTO cohort_events ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
            );
            sqlx::query(sqlx::AssertSqlSafe(sql))
                .bind(row.id)
                .bind(row.occurred_at)
                .bind(row.version)
                .bind(row.tenant_id)
                .bind(row.first_stream_id)
                .bind(row.last_stream_id)
                .bind(&row.event_type)
                .bind(&row.stream_ids)
                .bind(&row.event_hashes)
                .bind(&row.event_lines)
                .execute(&mut *conn)
                .await
                .unwrap();
        }
    }

    /// A row of these events.
    pub fn of(id: i64, events: &[&Event]) -> Self {
        let (first, last) = (events[0], events[events.len() - 1]);
        let lines: Vec<&[u8]> = events.iter().map(|event| &event.event_bytes[..]).collect();
        CohortRow {
            id,
            occurred_at: first.occurred_at,
            version: first.version,
            tenant_id: first.tenant_id,
            first_stream_id: first.stream_id,
            last_stream_id: last.stream_id,
            event_type: first.event_type.clone(),
            stream_ids: events.iter().flat_map(|event| event.stream_id.into_bytes()).collect(),
            event_hashes: events.iter().flat_map(|event| event.event_hash.clone()).collect(),
            event_lines: lines.join(&b'\n'),
        }
    }

    /// The events in it.
    pub fn events(&self) -> Vec<Event> {
        let lines = self.event_lines.split(|byte| *byte == b'\n');
        let event = |(line, place): (&[u8], usize)| Event {
            id: self.id + place as i64,
            tenant_id: self.tenant_id,
            stream_type: "Job".to_owned(),
            stream_id: Uuid::from_slice(&self.stream_ids[16 * place..][..16]).unwrap(),
            version: self.version,
            event_type: self.event_type.clone(),
            occurred_at: self.occurred_at,
            event_hash: self.event_hashes[32 * place..][..32].to_vec(),
            event_bytes: line.to_vec(),
            cohort: Some(self.id),
        };
        lines.zip(0..).map(event).collect()
    }

    /// The lines, to do something to.
    pub fn with_lines(&mut self, change: impl FnOnce(&mut Vec<&[u8]>)) {
        let mut lines = self.event_lines.split(|byte| *byte == b'\n').collect();
        change(&mut lines);
        self.event_lines = lines.join(&b'\n');
    }
}
