//! Enqueue: alone, in bulk, or inside a transaction of the caller.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use bpc_core::job::{Command, JobEvent, NewJob, transition};
use bpc_core::{Hash, JobId, TenantId, Timestamp, Version};
use bpc_eventstore::{Conn, StoreError, entropy, now_on, read_event};
use bpc_projections::{JobWrites, Lane, write_jobs, write_jobs_alone};

use crate::enqueue::{Due, Enqueue, Enqueued};
use crate::error::EngineError;

use super::{CONFLICT_TRIES, Engine, source, stamp};

/// One row of a batch: a job with its id, or why there will be none.
type Prepared = Result<(JobId, Enqueue), EngineError>;

/// Jobs of one call whose ids say that they were made in the same millisecond.
const JOBS_PER_MILLISECOND: usize = 1024;

impl Engine {
    /// Enqueue one job. Durable when it returns.
    pub async fn enqueue(
        &self,
        tenant: TenantId,
        actor: &str,
        job: Enqueue,
    ) -> Result<Enqueued, EngineError> {
        let mut outcomes = self.enqueue_all(tenant, actor, vec![job]).await?;
        outcomes.pop().expect("one outcome per job")
    }

    /// Enqueue many jobs in one transaction. Each row has its own outcome: a bad row is left out, the
    /// others are durable when it returns.
    pub async fn enqueue_all(
        &self,
        tenant: TenantId,
        actor: &str,
        jobs: Vec<Enqueue>,
    ) -> Result<Vec<Result<Enqueued, EngineError>>, EngineError> {
        let batch = self.prepare(tenant, jobs, self.store.clock.host());
        // Ids are fixed before the first try, so trying again after a broken connection finds what
        // the lost answer was about instead of enqueueing twice.
        let mut look_for_all = false;
        for tries in 1.. {
            match self.try_enqueue(tenant, actor, &batch, look_for_all).await {
                Ok((outcomes, lanes)) => {
                    lanes.into_iter().for_each(|lane| self.hints.lane(lane));
                    if let (Some(trigger), Some(job)) = (&self.trigger, outcomes.iter().flatten().next()) {
                        trigger.enqueued(job.job_id);
                    }
                    return Ok(outcomes);
                }
                Err(error) if error.is_conflict() && tries < CONFLICT_TRIES => look_for_all = true,
                Err(StoreError::Unavailable(error)) if tries < 4 => {
                    tracing::debug!(%error, tries, "enqueue lost its connection, trying again");
                    tokio::time::sleep(Duration::from_millis(50 << tries)).await;
                    look_for_all = true;
                }
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("the loop returns")
    }

    /// Enqueue as part of a transaction of the caller: the job exists if and only if that commits.
    /// On SQLite begin it with `BEGIN IMMEDIATE` (or [`Store::begin`](bpc_eventstore::Store::begin)),
    /// or SQLite may refuse the first write.
    pub async fn enqueue_in(
        &self,
        conn: impl Into<Conn<'_>>,
        tenant: TenantId,
        actor: &str,
        job: Enqueue,
    ) -> Result<Enqueued, EngineError> {
        let mut conn = conn.into();
        let keyed = job.key.is_some();
        // A conflict fails the whole transaction on PostgreSQL, and only a key can cause one. On SQLite any
        // error would leave half of the writes in the caller's transaction.
        let is_guarded = keyed || matches!(conn, Conn::Sqlite(_));
        let now = now_on(&mut conn, &self.store.clock).await?;
        let batch = self.prepare(tenant, vec![job], now);
        for tries in 1.. {
            if is_guarded {
                conn.execute("SAVEPOINT bpc_enqueue").await?;
            }
            match self.enqueue_on(&mut conn, tenant, actor, &batch, keyed).await {
                Ok((mut outcomes, lanes)) => {
                    if is_guarded {
                        conn.execute("RELEASE SAVEPOINT bpc_enqueue").await?;
                    }
                    // A hint before the commit may come too early; polling makes up for it, and on
                    // PostgreSQL the notification waits for the commit.
                    lanes.into_iter().for_each(|lane| self.hints.lane(lane));
                    return outcomes.pop().expect("one outcome per job");
                }
                Err(error) if error.is_conflict() && tries < CONFLICT_TRIES => {
                    conn.execute("ROLLBACK TO SAVEPOINT bpc_enqueue").await?;
                }
                Err(error) => {
                    if is_guarded {
                        conn.execute("ROLLBACK TO SAVEPOINT bpc_enqueue").await?;
                    }
                    return Err(error.into());
                }
            }
        }
        unreachable!("the loop returns")
    }

    /// Give every row its id, and refuse what no database is needed to refuse.
    fn prepare(&self, tenant: TenantId, jobs: Vec<Enqueue>, now: Timestamp) -> Vec<Prepared> {
        // In the order of the jobs: those that follow each other may be one cohort. Not too many of one millisecond, because
        // that is where a job's cohort is looked for.
        let made_at = |number: usize| now.plus(Duration::from_millis((number / JOBS_PER_MILLISECOND) as u64));
        let mut fresh: Vec<JobId> = (0..jobs.len()).map(|n| JobId::fresh(made_at(n), entropy())).collect();
        fresh.sort_unstable();
        let mut fresh = fresh.into_iter();
        let prepare = |job: Enqueue| {
            if self.registry.job_type(&job.job_type).is_none() {
                return Err(EngineError::UnknownType(job.job_type));
            }
            let id = match &job.key {
                Some(key) => JobId::from_key(tenant, &job.job_type, key),
                None => fresh.next().expect("one for each"),
            };
            Ok((id, job))
        };
        jobs.into_iter().map(prepare).collect()
    }

    async fn try_enqueue(
        &self,
        tenant: TenantId,
        actor: &str,
        batch: &[Prepared],
        look_for_all: bool,
    ) -> Result<(Vec<Result<Enqueued, EngineError>>, Vec<Lane>), StoreError> {
        let keyed = batch.iter().flatten().any(|(_, job)| job.key.is_some());
        if !keyed && !look_for_all {
            // Nothing to look up: on PostgreSQL one round trip for everything, and now and then one for the time; on
            // SQLite nothing is computed while others wait for their turn to write.
            let now = self.store.about_now().await?;
            let (outcomes, writes, lanes) = self.plan(tenant, actor, batch, &HashMap::new(), now);
            write_jobs_alone(&self.store, writes).await?;
            return Ok((outcomes, lanes));
        }
        let mut tx = self.store.begin().await?;
        let done = self.enqueue_on(&mut tx.conn(), tenant, actor, batch, look_for_all).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn enqueue_on(
        &self,
        conn: &mut Conn<'_>,
        tenant: TenantId,
        actor: &str,
        batch: &[Prepared],
        look_for_all: bool,
    ) -> Result<(Vec<Result<Enqueued, EngineError>>, Vec<Lane>), StoreError> {
        let wanted = batch.iter().flatten().filter(|(_, job)| look_for_all || job.key.is_some());
        let existing = existing_jobs(conn, tenant, wanted.map(|(id, _)| *id)).await?;
        let now = now_on(conn, &self.store.clock).await?;
        let (outcomes, writes, lanes) = self.plan(tenant, actor, batch, &existing, now);
        write_jobs(conn, &writes).await?;
        Ok((outcomes, lanes))
    }

    /// What to write for a batch, given the jobs that exist already.
    fn plan(
        &self,
        tenant: TenantId,
        actor: &str,
        batch: &[Prepared],
        existing: &HashMap<JobId, (NewJob, Hash)>,
        now: Timestamp,
    ) -> (Vec<Result<Enqueued, EngineError>>, JobWrites, Vec<Lane>) {
        let mut writes = JobWrites::default();
        let mut lanes: Vec<Lane> = Vec::new();
        let mut made: HashMap<JobId, (NewJob, Hash)> = HashMap::new();
        let mut source = source();
        let mut stamp = stamp(actor, now, None, &mut source);
        let mut outcomes = Vec::with_capacity(batch.len());
        for prepared in batch {
            let (job_id, request) = match prepared {
                Ok(prepared) => prepared,
                Err(EngineError::UnknownType(name)) => {
                    outcomes.push(Err(EngineError::UnknownType(name.clone())));
                    continue;
                }
                Err(_) => unreachable!("prepare refuses unknown types only"),
            };
            let new = self.fill_in(request, now);
            if let Some((former, event_hash)) = existing.get(job_id).or_else(|| made.get(job_id)) {
                outcomes.push(match (&request.key, same_content(former, &new)) {
                    (_, true) => {
                        let created = request.key.is_none();
                        Ok(Enqueued { job_id: *job_id, event_hash: *event_hash, created })
                    }
                    (key, false) => Err(EngineError::IdempotencyConflict {
                        key: key.clone().unwrap_or_default(),
                        job_id: *job_id,
                    }),
                });
                continue;
            }
            let outcome = transition(tenant, *job_id, None, Command::Enqueue(new.clone()), &mut stamp);
            outcomes.push(outcome.map_err(EngineError::from).map(|transition| {
                let event_hash = transition.job.head.hash;
                if transition.job.scheduled_at <= now {
                    let is_new = |lane: &Lane| lane.tenant_id != tenant || lane.queue != new.queue;
                    if lanes.iter().all(is_new) {
                        lanes.push(Lane { tenant_id: tenant, queue: new.queue.clone() });
                    }
                }
                writes.create(transition.job, transition.records);
                if new.idempotency_key.is_some() {
                    made.insert(*job_id, (new, event_hash));
                }
                Enqueued { job_id: *job_id, event_hash, created: true }
            }));
        }
        lanes.iter().for_each(|lane| writes.wake(lane.hint()));
        (outcomes, writes, lanes)
    }

    /// The request with everything that its type's policy says.
    pub(super) fn fill_in(&self, request: &Enqueue, now: Timestamp) -> NewJob {
        let policy = self.registry.job_type(&request.job_type).map(|it| &it.policy);
        let queue = request.queue.as_deref().or(policy.map(|policy| policy.queue.as_str()));
        NewJob {
            job_type: request.job_type.clone(),
            queue: queue.unwrap_or("default").to_owned(),
            priority: request.priority.or(policy.map(|it| it.priority)).unwrap_or_default(),
            max_attempts: request.max_attempts.or(policy.map(|it| it.max_attempts)).unwrap_or(1),
            scheduled_at: match request.due {
                Due::Now => None,
                Due::After(delay) => Some(now.plus(delay)),
                Due::At(at) => Some(at),
            },
            idempotency_key: request.key.clone(),
            payload: request.payload.clone(),
        }
    }
}

/// When a job is due is not part of what it is: a delay names another moment each time it is asked for.
pub(super) fn same_content(a: &NewJob, b: &NewJob) -> bool {
    (&a.payload, &a.queue, a.priority, a.max_attempts) == (&b.payload, &b.queue, b.priority, b.max_attempts)
}

/// Those of these jobs that exist, as they were enqueued.
pub(super) async fn existing_jobs(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    ids: impl Iterator<Item = JobId>,
) -> Result<HashMap<JobId, (NewJob, Hash)>, StoreError> {
    let mut found = HashMap::new();
    for id in ids.collect::<HashSet<_>>() {
        if let Some(first) = read_event(conn, tenant, id.into(), Version(1)).await? {
            let damaged = || StoreError::Damaged(format!("first event of job {id}"));
            let envelope = first.envelope().map_err(|_| damaged())?;
            let event = JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload);
            let Ok(JobEvent::Enqueued {
                job_type,
                queue,
                priority,
                max_attempts,
                idempotency_key,
                payload,
                ..
            }) = event
            else {
                return Err(damaged());
            };
            let new = NewJob {
                job_type,
                queue,
                priority,
                max_attempts,
                scheduled_at: None,
                idempotency_key,
                payload,
            };
            found.insert(id, (new, first.hash()?));
        }
    }
    Ok(found)
}
