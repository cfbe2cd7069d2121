//! The effects of one successful attempt on their way into the settling transaction.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bpc_core::job::{Command, Emitted, NewJob, STREAM_TYPE, transition};
use bpc_core::{Envelope, EventId, EventRecord, Hash, Job as JobState, JobId, TenantId, Version};
use bpc_eventstore::{
    Cause, Conn, StoreError, StreamAppend, StreamHead, check_head, entropy, portable, put_blob, records,
};
use futures_util::FutureExt;
use sqlx::AssertSqlSafe;

use crate::effects::{Effects, SqlValue};
use crate::enqueue::Enqueue;
use crate::error::EngineError;

use super::enqueue::same_content;
use super::settle::Settling;
use super::{source, stamp};

/// What a successful attempt adds to the batch.
#[derive(Default)]
pub(super) struct Prepared {
    /// Domain events.
    pub(super) records: Vec<EventRecord>,
    /// Follow-up jobs.
    pub(super) jobs: Vec<(JobState, Vec<EventRecord>)>,
    /// All of them, by stream and version.
    pub(super) emitted: Vec<Emitted>,
    /// Where the streams of the domain events end now.
    pub(super) moved: Vec<StreamHead>,
    /// The follow-up jobs by id, for others in the batch that ask for the same.
    pub(super) made: Vec<(JobId, (NewJob, Hash))>,
    /// The follow-up jobs in the order asked for, those that existed already among them.
    pub(super) follow_ups: Vec<JobId>,
}

/// What went wrong with effects.
pub(super) enum EffectFault {
    /// The attempt's own fault, or bad luck: it alone fails.
    Attempt(EngineError),
    /// The database's: the batch is tried again.
    Database(StoreError),
}

impl From<StoreError> for EffectFault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Busy(_) | StoreError::Conflict(_) => {
                EffectFault::Database(error)
            }
            error => EffectFault::Attempt(error.into()),
        }
    }
}

impl From<EngineError> for EffectFault {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            error => EffectFault::Attempt(error),
        }
    }
}

impl Settling<'_> {
    /// Check and build everything that is to be committed for a tenant, and what it sets off.
    pub(super) async fn prepare_effects(
        &self,
        conn: &mut Conn<'_>,
        tenant: TenantId,
        effects: &Effects,
        causation: Option<EventId>,
    ) -> Result<Prepared, EffectFault> {
        let mut prepared = Prepared::default();
        self.prepare_on(tenant, effects, causation, &mut prepared)?;
        for reaction in self.engine.registry.reactions() {
            if !prepared.records.is_empty() {
                let more = reaction.react(conn, tenant, &prepared.records).await?;
                self.prepare_on(tenant, &more, causation, &mut prepared)?;
            }
        }
        Ok(prepared)
    }

    fn prepare_on(
        &self,
        tenant: TenantId,
        effects: &Effects,
        causation: Option<EventId>,
        prepared: &mut Prepared,
    ) -> Result<(), EffectFault> {
        for append in &effects.appends {
            self.domain_events(tenant, append, causation, prepared)?;
        }
        for job in &effects.follow_ups {
            self.follow_up(tenant, job, causation, prepared)?;
        }
        Ok(())
    }

    /// Run the parts that are statements of their own: blobs, SQL of the handler, domain views.
    pub(super) async fn run_effects(
        &self,
        conn: &mut Conn<'_>,
        effects: &Effects,
        prepared: &Prepared,
    ) -> Result<(), EffectFault> {
        if effects.sql.is_empty() && effects.blobs.is_empty() && !self.is_projected(&prepared.records) {
            return Ok(());
        }
        // What fails in here must not fail the neighbours' transaction.
        conn.execute("SAVEPOINT bpc_attempt").await?;
        let ran = AssertUnwindSafe(self.run_on(conn, effects, &prepared.records)).catch_unwind().await;
        let fault = match ran {
            Ok(Ok(())) => return Ok(conn.execute("RELEASE SAVEPOINT bpc_attempt").await?),
            Ok(Err(error @ StoreError::Unavailable(_))) if !error.is_statement_timeout() => {
                return Err(error.into());
            }
            Ok(Err(error)) => EffectFault::Attempt(error.into()),
            // A view of a pack panicked; the settler goes on for the others.
            Err(_) => EffectFault::Attempt(EngineError::ViewPanicked),
        };
        conn.execute("ROLLBACK TO SAVEPOINT bpc_attempt").await?;
        Err(fault)
    }

    fn domain_events(
        &self,
        tenant: TenantId,
        append: &StreamAppend,
        causation: Option<EventId>,
        prepared: &mut Prepared,
    ) -> Result<(), EffectFault> {
        if append.tenant_id != tenant {
            return Err(EngineError::TenantMismatch { tenant, wanted: append.tenant_id }.into());
        }
        for event in &append.events {
            if !self.engine.registry.knows_event(&append.stream_type, &event.event_type) {
                let event_type = event.event_type.to_string();
                let stream_type = append.stream_type.to_string();
                return Err(EngineError::UnknownEvent { event_type, stream_type }.into());
            }
        }
        let newest = prepared.moved.iter().rev().find(|head| head.stream_id == append.stream_id);
        // Deciding again on the newer version may well succeed, so a conflict fails the attempt alone.
        let mut head = check_head(append, newest.or_else(|| self.heads.get(&append.stream_id)))
            .map_err(|error| EffectFault::Attempt(error.into()))?;
        let cause =
            Cause { actor: &self.actor, now: self.now, causation_id: causation, correlation_id: None };
        let built = records(append, &mut head, cause)?;
        prepared.emitted.extend(built.iter().map(emitted));
        prepared.records.extend(built);
        prepared.moved.push(StreamHead {
            stream_id: append.stream_id,
            tenant_id: append.tenant_id,
            stream_type: append.stream_type.to_string(),
            head,
        });
        Ok(())
    }

    fn follow_up(
        &self,
        tenant: TenantId,
        job: &Enqueue,
        causation: Option<EventId>,
        prepared: &mut Prepared,
    ) -> Result<(), EffectFault> {
        if self.engine.registry.job_type(&job.job_type).is_none() {
            return Err(EngineError::UnknownType(job.job_type.clone()).into());
        }
        let new = self.engine.fill_in(job, self.now);
        let job_id = match &job.key {
            Some(key) => JobId::from_key(tenant, &job.job_type, key),
            None => JobId::fresh(self.now, entropy()),
        };
        prepared.follow_ups.push(job_id);
        let former = prepared.made.iter().find(|(id, _)| *id == job_id).map(|(_, it)| it);
        if let Some((former, _)) = former.or_else(|| self.existing.get(&job_id)) {
            if same_content(former, &new) {
                return Ok(());
            }
            let key = job.key.clone().unwrap_or_default();
            return Err(EngineError::IdempotencyConflict { key, job_id }.into());
        }
        let mut source = source();
        let mut stamp = stamp(&self.actor, self.now, causation, &mut source);
        let done = transition(tenant, job_id, None, Command::Enqueue(new.clone()), &mut stamp)
            .map_err(|error| EffectFault::from(EngineError::from(error)))?;
        prepared.made.push((job_id, (new, done.job.head.hash)));
        prepared.emitted.push(Emitted {
            stream_id: job_id.into(),
            stream_type: STREAM_TYPE.to_owned(),
            version: Version(1),
        });
        prepared.jobs.push((done.job, done.records));
        Ok(())
    }

    fn is_projected(&self, records: &[EventRecord]) -> bool {
        let projections = self.engine.registry.projections();
        records.iter().any(|it| projections.iter().any(|p| p.stream_types().contains(&&*it.stream_type)))
    }

    async fn run_on(
        &self,
        conn: &mut Conn<'_>,
        effects: &Effects,
        records: &[EventRecord],
    ) -> Result<(), StoreError> {
        for blob in &effects.blobs {
            put_blob(conn, blob).await?;
        }
        for (statement, parameters) in &effects.sql {
            run_sql(conn, statement, parameters).await?;
        }
        for record in records {
            let envelope = Envelope::read(&record.event_bytes)?;
            for projection in self.engine.registry.projections() {
                if projection.stream_types().contains(&&*record.stream_type) {
                    Arc::clone(projection).apply(conn, &envelope).await?;
                }
            }
        }
        Ok(())
    }
}

async fn run_sql(
    conn: &mut Conn<'_>,
    statement: &'static str,
    parameters: &[SqlValue],
) -> Result<(), StoreError> {
    portable!(conn, c => {
        let mut query = sqlx::query(AssertSqlSafe(statement));
        for parameter in parameters {
            query = match parameter {
                SqlValue::Integer(value) => query.bind(*value),
                SqlValue::Text(value) => query.bind(value.clone()),
                SqlValue::Bytes(value) => query.bind(value.clone()),
                SqlValue::Uuid(value) => query.bind(*value),
            };
        }
        query.execute(&mut **c).await.map(drop)
    })?;
    Ok(())
}

fn emitted(record: &EventRecord) -> Emitted {
    Emitted {
        stream_id: record.stream_id,
        stream_type: record.stream_type.to_string(),
        version: record.version,
    }
}
