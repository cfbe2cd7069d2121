//! The view `drill_streams`: one row per stream that DRILL_EMIT has written to.

use std::pin::Pin;

use bpc_core::Envelope;
use bpc_eventstore::{Conn, StoreError, portable};
use bpc_projections::{Projection, ViewTable};

use crate::emitted::{EMITTED, Emitted, STREAM_TYPE};

/// Fills the view. After any number of crashes and retries `events` equals `last_number`, because
/// numbers are dense and each is taken in once.
#[derive(Clone, Copy, Debug)]
pub struct DrillStreams;

const TABLES: &[ViewTable] = &[ViewTable {
    name: "drill_streams",
    columns: &["stream_id", "tenant_id", "events", "last_number", "last_job_id"],
    key_columns: 1,
}];

const TAKE_IN: &str = "
    INSERT INTO drill_streams (stream_id, tenant_id, events, last_number, last_job_id)
    VALUES ($1, $2, 1, $3, $4)
    ON CONFLICT (stream_id) DO UPDATE SET
        events = drill_streams.events + 1,
        last_number = excluded.last_number,
        last_job_id = excluded.last_job_id";

impl Projection for DrillStreams {
    fn name(&self) -> &'static str {
        "drill_streams"
    }

    fn stream_types(&self) -> &'static [&'static str] {
        &[STREAM_TYPE]
    }

    fn tables(&self) -> &'static [ViewTable] {
        TABLES
    }

    fn apply<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        event: &'a Envelope<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        Box::pin(take_in(conn, event))
    }
}

async fn take_in(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    // A later program may emit more kinds of events; this view is about this one.
    if event.event_type != EMITTED {
        return Ok(());
    }
    let damaged = || format!("{EMITTED} in stream {} version {}", event.stream_id, event.version);
    let emitted: Emitted =
        serde_json::from_slice(event.payload).map_err(|_| StoreError::Damaged(damaged()))?;
    let number = i64::try_from(emitted.number).map_err(|_| StoreError::Damaged(damaged()))?;
    portable!(conn, c => {
        sqlx::query(TAKE_IN)
            .bind(event.stream_id.0)
            .bind(event.tenant_id.0)
            .bind(number)
            .bind(emitted.job_id.0)
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}
