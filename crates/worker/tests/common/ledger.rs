//! The domain of the probes: ledgers that entries are made in, and the tables that show them.

use std::pin::Pin;

use bpc_core::Envelope;
use bpc_core::canonical::canonicalize;
use bpc_eventstore::{Conn, StoreError, portable};
use bpc_projections::{Projection, ViewTable};
use bpc_worker::{Draft, JobId, Store, StreamId};

pub const LEDGER: &str = "Ledger";
pub const ENTERED: &str = "ENTERED";

/// What a probe runs as its own SQL. A second time for the same job would be refused.
pub const MARK: &str = "INSERT INTO probe_marks (job_id) VALUES ($1)";

const ENTER: &str = "INSERT INTO probe_entries (stream_id, entries) VALUES ($1, 1) \
    ON CONFLICT (stream_id) DO UPDATE SET entries = probe_entries.entries + 1";

/// Counts the entries of each ledger.
pub struct Ledger;

impl Projection for Ledger {
    fn name(&self) -> &'static str {
        "probe_entries"
    }

    fn stream_types(&self) -> &'static [&'static str] {
        &[LEDGER]
    }

    fn tables(&self) -> &'static [ViewTable] {
        &[ViewTable { name: "probe_entries", columns: &["stream_id", "entries"], key_columns: 1 }]
    }

    fn apply<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        event: &'a Envelope<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        let stream = event.stream_id.to_string();
        Box::pin(async move {
            portable!(conn, c => sqlx::query(ENTER).bind(stream).execute(&mut **c).await.map(drop))?;
            Ok(())
        })
    }
}

/// The event that makes an entry.
pub fn entered() -> Draft {
    Draft { event_type: ENTERED.into(), schema: 1, payload: canonicalize(b"{}").expect("JSON") }
}

/// The ledger that belongs to a job.
pub fn ledger_of(job: JobId) -> StreamId {
    StreamId::derived("ledger", &job.to_string())
}

pub async fn create_tables(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    for sql in [
        "CREATE TABLE IF NOT EXISTS probe_entries (stream_id TEXT PRIMARY KEY, entries BIGINT NOT NULL)",
        "CREATE TABLE IF NOT EXISTS probe_marks (job_id TEXT PRIMARY KEY)",
    ] {
        tx.conn().execute(sql).await.unwrap();
    }
    tx.commit().await.unwrap();
}

impl super::Scene {
    /// A number that the database knows.
    pub async fn count(&self, sql: &'static str) -> i64 {
        let mut tx = self.store().begin_read().await.unwrap();
        portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_one(c).await).unwrap()
    }

    /// What the view says of a ledger.
    pub async fn entries(&self, ledger: StreamId) -> i64 {
        let sql = "SELECT entries FROM probe_entries WHERE stream_id = $1";
        let mut tx = self.store().begin_read().await.unwrap();
        let found: Option<i64> = portable!(tx.conn(), c => {
            sqlx::query_scalar(sql).bind(ledger.to_string()).fetch_optional(c).await
        })
        .unwrap();
        found.unwrap_or_default()
    }

    /// What all probes left: entries, marks, blobs.
    pub async fn left_behind(&self) -> (i64, i64, i64) {
        (
            self.count("SELECT CAST(COALESCE(sum(entries), 0) AS BIGINT) FROM probe_entries").await,
            self.count("SELECT count(*) FROM probe_marks").await,
            self.count("SELECT count(*) FROM blobs").await,
        )
    }

    /// Events of that type in the whole log.
    pub async fn events_of(&self, event_type: &str) -> i64 {
        let sql = "SELECT count(*) FROM log_events WHERE event_type = $1";
        let mut tx = self.store().begin_read().await.unwrap();
        portable!(tx.conn(), c => sqlx::query_scalar(sql).bind(event_type).fetch_one(c).await).unwrap()
    }
}
