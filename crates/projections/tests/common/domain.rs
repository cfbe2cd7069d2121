//! A domain of the tests' own: counters, and the view that shows where each stands.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use bpc_core::canonical::to_canonical;
use bpc_core::log_events::{LOG, LogKeyAdded};
use bpc_core::{Draft, Envelope, StreamId, TenantId, Version};
use bpc_eventstore::{Cause, Conn, StoreError, StreamAppend, append_to_streams, portable};
use bpc_projections::{Projection, ViewTable};

use super::House;

/// Fills the one domain table that the migrations have.
pub struct Counters;

const TABLE: ViewTable = ViewTable {
    name: "drill_streams",
    columns: &["stream_id", "tenant_id", "events", "last_number", "last_job_id"],
    key_columns: 1,
};

const COUNT: &str = "INSERT INTO drill_streams (stream_id, tenant_id, events, last_number, last_job_id) \
    VALUES ($1, $2, 1, $3, $1) ON CONFLICT (stream_id) DO UPDATE \
    SET events = drill_streams.events + 1, last_number = excluded.last_number";

impl Projection for Counters {
    fn name(&self) -> &'static str {
        "counters"
    }

    fn stream_types(&self) -> &'static [&'static str] {
        &["Counter"]
    }

    fn tables(&self) -> &'static [ViewTable] {
        &[TABLE]
    }

    fn apply<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        event: &'a Envelope<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        Box::pin(async move {
            let payload: serde_json::Value = serde_json::from_slice(event.payload).expect("canonical JSON");
            let number =
                payload["number"].as_i64().ok_or_else(|| StoreError::Damaged("no number".to_owned()))?;
            portable!(conn, c => {
                sqlx::query(COUNT)
                    .bind(event.stream_id.0)
                    .bind(event.tenant_id.0)
                    .bind(number)
                    .execute(&mut **c)
                    .await
                    .map(drop)
            })?;
            Ok(())
        })
    }
}

/// The projections of these tests.
pub fn projections() -> Vec<Arc<dyn Projection>> {
    vec![Arc::new(Counters)]
}

impl House {
    /// Append events to any stream.
    pub async fn append(
        &self,
        tenant_id: TenantId,
        stream_type: &str,
        stream_id: StreamId,
        expected: Version,
        events: Vec<Draft>,
    ) {
        let append =
            StreamAppend { tenant_id, stream_type: Arc::from(stream_type), stream_id, expected, events };
        let cause = Cause { actor: "system", now: self.now(), causation_id: None, correlation_id: None };
        let mut tx = self.store.begin().await.unwrap();
        let records = append_to_streams(&mut tx.conn(), &[append], cause).await.unwrap();
        for record in records.iter().filter(|record| &*record.stream_type == "Counter") {
            // An event that the view does not take stays in the log all the same.
            let _ = Counters.apply(&mut tx.conn(), &Envelope::read(&record.event_bytes).unwrap()).await;
        }
        tx.commit().await.unwrap();
    }

    /// Let a counter go through these numbers.
    pub async fn count(&self, tenant: TenantId, name: &str, numbers: &[i64]) -> StreamId {
        let stream = StreamId::derived("counter", name);
        let event = |number: &i64| draft("COUNTED", &serde_json::json!({ "number": number }));
        self.append(tenant, "Counter", stream, Version::NONE, numbers.iter().map(event).collect()).await;
        stream
    }

    /// Add a key of the log, with its row.
    pub async fn add_log_key(&self, public_key: &str) {
        let (algorithm, origin) = ("ed25519".to_owned(), "example.org/log".to_owned());
        let added = LogKeyAdded { algorithm, origin, public_key: public_key.to_owned() };
        let stream = StreamId::derived("log", public_key);
        self.append(TenantId::SYSTEM, LOG, stream, Version::NONE, vec![added.draft()]).await;
        let at = self.now().as_micros();
        self.tamper(&format!("INSERT INTO log_keys VALUES ('{public_key}', 'example.org/log', {at})")).await;
    }
}

/// An event of schema 1.
pub fn draft(event_type: &'static str, payload: &serde_json::Value) -> Draft {
    Draft { event_type: Cow::Borrowed(event_type), schema: 1, payload: to_canonical(payload).unwrap() }
}
