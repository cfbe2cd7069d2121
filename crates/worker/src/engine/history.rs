//! One job as the log tells it.

use bpc_core::envelope::Envelope;
use bpc_core::job::{STREAM_TYPE, fold_stream};
use bpc_core::{Hash, Job as JobState, JobId, TenantId, Timestamp, Version};
use bpc_eventstore::{Conn, read_stream};

use crate::error::EngineError;

use super::Engine;

/// A job's state and the events it was folded from.
#[derive(Clone, Debug)]
pub struct JobHistory {
    /// The state.
    pub job: JobState,
    /// The events, oldest first.
    pub events: Vec<RecordedEvent>,
}

/// One event of a job, for display.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// Place in the stream.
    pub version: Version,
    /// What happened.
    pub event_type: String,
    /// When.
    pub occurred_at: Timestamp,
    /// Who caused it.
    pub actor: String,
    /// Its hash.
    pub event_hash: Hash,
    /// Its payload, as JSON text.
    pub payload: String,
}

impl Engine {
    /// A job of a tenant, from the log. `None` if the tenant has no such job.
    pub async fn history(&self, tenant: TenantId, job: JobId) -> Result<Option<JobHistory>, EngineError> {
        let mut tx = self.store.begin_read().await?;
        history_on(&mut tx.conn(), tenant, job).await
    }
}

/// The same inside a transaction.
pub(super) async fn history_on(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    job_id: JobId,
) -> Result<Option<JobHistory>, EngineError> {
    let damaged = |message: String| EngineError::Damaged { job_id, message };
    let stored = read_stream(conn, tenant, job_id.into()).await?;
    let mut envelopes: Vec<(Envelope<'_>, Hash)> = Vec::with_capacity(stored.len());
    for event in &stored {
        let envelope = event.envelope().map_err(|error| damaged(error.to_string()))?;
        envelopes.push((envelope, event.hash()?));
    }
    if envelopes.first().is_none_or(|(first, _)| first.stream_type != STREAM_TYPE) {
        return Ok(None);
    }
    let job = fold_stream(envelopes.iter().map(|(envelope, hash)| (envelope, *hash)))
        .map_err(|error| damaged(error.to_string()))?;
    let recorded = |(envelope, event_hash): (Envelope<'_>, Hash)| RecordedEvent {
        version: envelope.version,
        event_type: envelope.event_type.into_owned(),
        occurred_at: envelope.occurred_at,
        actor: envelope.actor.into_owned(),
        event_hash,
        payload: String::from_utf8_lossy(envelope.payload).into_owned(),
    };
    let events = envelopes.into_iter().map(recorded).collect();
    Ok(job.map(|job| JobHistory { job, events }))
}
