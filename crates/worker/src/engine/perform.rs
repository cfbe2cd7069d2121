//! Perform: effects that a person asks for, without a job around them.

use std::collections::HashMap;

use bpc_core::{JobId, StreamId, TenantId};
use bpc_eventstore::{now_on, stream_heads};
use bpc_projections::{JobWrites, write_jobs};

use crate::effects::Effects;
use crate::error::EngineError;

use super::Engine;
use super::commit_effects::EffectFault;
use super::enqueue::existing_jobs;
use super::settle::Settling;

impl Engine {
    /// Commit effects in one transaction: events, views, blobs, follow-up jobs and reactions, under the
    /// same rules as those of a handler. Durable when it returns. Nothing is written if a stream has moved
    /// on since it was decided on ([`EngineError::is_conflict`]): decide again.
    ///
    /// Returns the follow-up jobs in the order asked for; a key that exists names its first job.
    pub async fn perform(
        &self,
        tenant: TenantId,
        actor: &str,
        effects: &Effects,
    ) -> Result<Vec<JobId>, EngineError> {
        let mut tx = self.store.begin().await?;
        let now = now_on(&mut tx.conn(), &self.store.clock).await?;
        let streams: Vec<StreamId> = effects.appends.iter().map(|append| append.stream_id).collect();
        let keyed = effects
            .follow_ups
            .iter()
            .filter_map(|job| job.key.as_ref().map(|key| JobId::from_key(tenant, &job.job_type, key)));
        let mut performing = Settling {
            engine: self,
            worker_id: "",
            actor: actor.to_owned(),
            now,
            held: HashMap::new(),
            early: HashMap::new(),
            heads: stream_heads(&mut tx.conn(), &streams).await?,
            existing: existing_jobs(&mut tx.conn(), tenant, keyed).await?,
            writes: JobWrites::default(),
            lanes: Vec::new(),
        };
        let mut prepared = performing.prepare_effects(&mut tx.conn(), tenant, effects, None).await?;
        performing.run_effects(&mut tx.conn(), effects, &prepared).await?;
        let follow_ups = std::mem::take(&mut prepared.follow_ups);
        performing.put(prepared);
        let Settling { mut writes, lanes, .. } = performing;
        lanes.iter().for_each(|lane| writes.wake(lane.hint()));
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        lanes.into_iter().for_each(|lane| self.hints.lane(lane));
        Ok(follow_ups)
    }
}

impl From<EffectFault> for EngineError {
    fn from(fault: EffectFault) -> Self {
        match fault {
            EffectFault::Attempt(error) => error,
            EffectFault::Database(error) => error.into(),
        }
    }
}
