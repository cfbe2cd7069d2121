//! Settle: the outcomes of many attempts, each with everything it brings, in one transaction.
//!
//! One bad attempt never fails its neighbours: what goes wrong with its effects turns it, and only it,
//! into a failed attempt. Only the database itself can fail the batch, and then nothing is written.

use std::collections::{HashMap, HashSet};

use bpc_core::job::{
    Command, ErrorInfo, Failure, Lease, Outcome, Refusal, Settlement, Stamp, Transition, advance, transition,
};
use bpc_core::{EventId, Job as JobState, JobId, Status, StreamId, Timestamp, Version};
use bpc_eventstore::{Clock, Conn, Database, StreamHead, entropy, stream_heads};
use bpc_projections::{
    Finishing, HeldMembers, JobWrites, Lane, LeaseId, Place, finish_jobs_alone, finish_leases, held_leases,
    held_members, lock_job, write_jobs,
};

use crate::effects::Effects;
use crate::error::EngineError;

use super::Engine;
use super::commit_effects::{EffectFault, Prepared};
use super::enqueue::existing_jobs;
use super::history::history_on;

/// An attempt that has ended, as its worker tells it.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The job as it was leased.
    pub leased: JobState,
    /// When, by the database's clock.
    pub leased_at: Timestamp,
    /// Where its row was then.
    pub place: Place,
    /// How it ended.
    pub outcome: Outcome,
    /// What it wants committed, with success or failure.
    pub effects: Effects,
}

impl Attempt {
    /// A success that nothing can turn into a failure: it brings nothing that could not be committed.
    fn is_plain_success(&self) -> bool {
        matches!(self.outcome, Outcome::Succeeded { result: None, .. }) && self.effects.is_none()
    }

    /// Version of its `LEASED` event.
    pub fn fence(&self) -> Version {
        self.leased.lease().map(|lease| lease.fence).unwrap_or_default()
    }
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Recorded; the job now has this status.
    Recorded(Status),
    /// The lease was lost: nothing of it was kept but the refusal.
    Refused,
    /// It had been recorded before, by a commit whose answer was lost.
    Already,
}

impl Engine {
    /// Record the outcomes of attempts. Durable when it returns; in the order given.
    pub async fn settle(&self, worker_id: &str, attempts: &[Attempt]) -> Result<Vec<Settled>, EngineError> {
        self.settle_and_end(worker_id, attempts, &[]).await
    }

    /// The same, for a worker that knows of leases of which it holds no job any more.
    pub(crate) async fn settle_and_end(
        &self,
        worker_id: &str,
        attempts: &[Attempt],
        leases: &[LeaseId],
    ) -> Result<Vec<Settled>, EngineError> {
        let mut settled = Vec::with_capacity(attempts.len());
        for batch in one_attempt_per_job(attempts) {
            settled.extend(self.settle_batch(worker_id, batch, leases).await?);
        }
        Ok(settled)
    }

    async fn settle_batch(
        &self,
        worker_id: &str,
        attempts: &[Attempt],
        leases: &[LeaseId],
    ) -> Result<Vec<Settled>, EngineError> {
        let are_plain = !self.registry.has_limits() && attempts.iter().all(Attempt::is_plain_success);
        let is_sqlite = matches!(self.store.database, Database::Sqlite(_));
        let mut early = None;
        if is_sqlite || (are_plain && attempts.iter().all(|it| it.place.is_shared())) {
            early = Some(self.early_successes(worker_id, attempts).await?);
        }
        let is_ready = |early: &mut Early| are_plain && early.successes.len() == attempts.len();
        if let Some(ready) = early.take_if(is_ready) {
            if self.settle_early(worker_id, attempts, leases, ready).await? {
                return Ok(vec![Settled::Recorded(Status::Succeeded); attempts.len()]);
            }
            early = Some(self.early_successes(worker_id, attempts).await?);
        }
        // Elsewhere whoever holds the rows says what time it is.
        let early = early.filter(|_| is_sqlite);
        let early_at = early.as_ref().map(|early| early.at);
        let mut tx = self.store.begin().await?;
        let mut writes = JobWrites::default();
        let moved = match move_plain(self, worker_id, &mut tx.conn(), attempts, early_at, &mut writes).await?
        {
            Some(moved) => moved,
            None => {
                drop(tx);
                tx = self.store.begin().await?;
                writes = JobWrites::default();
                let moved = move_plain(self, worker_id, &mut tx.conn(), &[], None, &mut writes).await?;
                moved.expect("nothing is moved where nothing may be")
            }
        };
        let (settled, mut writes, lanes) =
            if early.is_none() && are_plain && moved.jobs.len() + moved.members.len() == attempts.len() {
                successes(worker_id, &moved, attempts, &mut writes)?;
                (vec![Settled::Recorded(Status::Succeeded); attempts.len()], writes, Vec::new())
            } else {
                let held = held_jobs(self, &mut tx.conn(), attempts, moved).await?;
                let mut settling =
                    Settling::begin(self, worker_id, &mut tx.conn(), attempts, held, writes).await?;
                settling.early = early.map(|early| early.successes).unwrap_or_default();
                let mut settled = Vec::with_capacity(attempts.len());
                for attempt in attempts {
                    settled.push(settling.attempt(&mut tx.conn(), attempt).await?);
                }
                (settled, settling.writes, settling.lanes)
            };
        lanes.iter().for_each(|lane| writes.wake(lane.hint()));
        writes.end_leases(leases.iter().copied());
        write_jobs(&mut tx.conn(), &writes).await?;
        tx.commit().await?;
        lanes.into_iter().for_each(|lane| self.hints.lane(lane));
        Ok(settled)
    }
}

/// Plain successes as they will be recorded, should their jobs still be held.
struct Early {
    at: Timestamp,
    successes: HashMap<JobId, Transition>,
}

impl Engine {
    /// On SQLite only one transaction at a time can write, so whatever can be computed is before it begins, by this host's
    /// clock, which is the one that counts there. On PostgreSQL what is known before is one statement, and a
    /// round trip instead of four; by the server's clock as it was heard lately, and not before anything was leased.
    async fn early_successes(&self, worker_id: &str, attempts: &[Attempt]) -> Result<Early, EngineError> {
        let leased_at = attempts.iter().map(|attempt| attempt.leased_at).max();
        let at = self.store.about_now().await?.max(leased_at.unwrap_or_default());
        let writer = Writer { actor: &format!("worker:{worker_id}"), worker_id, now: at };
        let success = |attempt: &Attempt| {
            let (job, outcome) = (attempt.leased.clone(), attempt.outcome.clone());
            let done = writer.step(attempt, job, outcome, entropy()).ok()?;
            Some((attempt.leased.job_id, done))
        };
        let successes = attempts.iter().filter(|it| it.is_plain_success()).filter_map(success).collect();
        Ok(Early { at, successes })
    }

    /// Where every attempt succeeded and brings nothing else, nothing needs to be read: what was computed is
    /// written, if all of them are still held. `false` if not: then nothing is.
    async fn settle_early(
        &self,
        worker_id: &str,
        attempts: &[Attempt],
        leases: &[LeaseId],
        mut early: Early,
    ) -> Result<bool, EngineError> {
        let mut writes = JobWrites::default();
        let mut jobs = Vec::with_capacity(attempts.len());
        for attempt in attempts {
            let job = attempt.leased.job_id;
            jobs.push((job, attempt.fence()));
            let records = early.successes.remove(&job).map(|done| done.records).unwrap_or_default();
            if attempt.place.is_shared() {
                writes.finish_member(&attempt.place, early.at, records);
            } else {
                writes.append(records);
            }
        }
        writes.end_leases(leases.iter().copied());
        let finishing = Finishing { worker_id: worker_id.to_owned(), at: early.at, jobs };
        Ok(finish_jobs_alone(&self.store, finishing, writes).await?)
    }
}

/// Cut where a job comes a second time. A worker that lost a lease and won the job again may bring both
/// attempts at once; the later must see in the log what became of the earlier.
fn one_attempt_per_job(attempts: &[Attempt]) -> impl Iterator<Item = &[Attempt]> {
    let mut seen = HashSet::with_capacity(attempts.len());
    attempts.chunk_by(move |before, next| {
        seen.insert(before.leased.job_id);
        let is_first = !seen.contains(&next.leased.job_id);
        if !is_first {
            seen.clear();
        }
        is_first
    })
}

/// The time, and the jobs that are held, with the places of their rows.
type HeldJobs = (Timestamp, HashMap<JobId, (JobState, Row)>);

/// Where the queue row of a job is that is being settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// In the queue, locked.
    Locked,
    /// Shared with others, locked.
    Shared,
    /// Among the finished already.
    Finished,
}

/// The time, the jobs that are among the finished already, and those that are held and share rows.
struct Moved {
    now: Timestamp,
    jobs: HashSet<JobId>,
    members: HashSet<JobId>,
}

/// Hold the jobs that share rows, and move the others of plain successes to the finished ones by what their worker knows of
/// them, which reads nothing. Those that have changed since they were leased stay where they are. `None` if another attempt or job
/// of the same worker was moved by that: the transaction must not be committed.
async fn move_plain(
    engine: &Engine,
    worker_id: &str,
    conn: &mut Conn<'_>,
    attempts: &[Attempt],
    finished_at: Option<Timestamp>,
    writes: &mut JobWrites,
) -> Result<Option<Moved>, EngineError> {
    let clock = &engine.store.clock;
    let places: Vec<(JobId, &Place)> =
        attempts.iter().map(|attempt| (attempt.leased.job_id, &attempt.place)).collect();
    let HeldMembers { now, held } = held_members(conn, clock, worker_id, &places, writes).await?;
    let plain = || {
        let is_alone = |attempt: &&Attempt| attempt.is_plain_success() && !attempt.place.is_shared();
        attempts.iter().filter(is_alone)
    };
    if let Some(now) = now.filter(|_| plain().next().is_none()) {
        return Ok(Some(Moved { now, jobs: HashSet::new(), members: held }));
    }
    let places: Vec<(JobId, &Place)> =
        plain().map(|attempt| (attempt.leased.job_id, &attempt.place)).collect();
    // Judged at the same moment as those that are held.
    let clock = now.map_or_else(|| clock.clone(), Clock::manual);
    let finished = finish_leases(conn, &clock, finished_at, worker_id, &places).await?;
    let mut fences: HashMap<JobId, Version> = finished.rows.into_iter().collect();
    let mut jobs = HashSet::with_capacity(fences.len());
    for attempt in plain() {
        let id = attempt.leased.job_id;
        match fences.remove(&id) {
            Some(fence) if fence == attempt.fence() => jobs.insert(id),
            Some(_) => return Ok(None),
            None => false,
        };
    }
    Ok(fences.is_empty().then_some(Moved { now: finished.now, jobs, members: held }))
}

/// The successes of attempts whose jobs are moved or held.
fn successes(
    worker_id: &str,
    moved: &Moved,
    attempts: &[Attempt],
    writes: &mut JobWrites,
) -> Result<(), EngineError> {
    let writer = Writer { actor: &format!("worker:{worker_id}"), worker_id, now: moved.now };
    for attempt in attempts {
        let (job, outcome) = (attempt.leased.clone(), attempt.outcome.clone());
        let records = writer.step(attempt, job, outcome, entropy())?.records;
        if attempt.place.is_shared() {
            writes.finish_held(&attempt.place, moved.now, records);
        } else {
            writes.append(records);
        }
    }
    Ok(())
}

/// Which of the attempts still hold their lease: those whose jobs are moved; all others are read.
async fn held_jobs(
    engine: &Engine,
    conn: &mut Conn<'_>,
    attempts: &[Attempt],
    Moved { now, jobs, members }: Moved,
) -> Result<HeldJobs, EngineError> {
    let mut held: HashMap<JobId, (JobState, Row)> = HashMap::with_capacity(attempts.len());
    let mut others: Vec<(JobId, Version)> = Vec::new();
    for attempt in attempts {
        let id = attempt.leased.job_id;
        if jobs.contains(&id) {
            held.insert(id, (attempt.leased.clone(), Row::Finished));
        } else if members.contains(&id) {
            held.insert(id, (attempt.leased.clone(), Row::Shared));
        } else {
            others.push((id, attempt.fence()));
        }
    }
    if !others.is_empty() {
        let read = held_leases(conn, &engine.store.clock, &others).await?;
        held.extend(read.rows.into_iter().map(|job| (job.job_id, (job, Row::Locked))));
    }
    Ok((now, held))
}

/// A batch on its way into one transaction.
pub(super) struct Settling<'e> {
    pub(super) engine: &'e Engine,
    pub(super) worker_id: &'e str,
    pub(super) actor: String,
    pub(super) now: Timestamp,
    /// Jobs still leased, by id, and where their rows are.
    pub(super) held: HashMap<JobId, (JobState, Row)>,
    /// Computed before the transaction began.
    pub(super) early: HashMap<JobId, Transition>,
    /// Heads of the streams that effects append to, moving along with the batch.
    pub(super) heads: HashMap<StreamId, StreamHead>,
    /// Follow-up jobs whose key exists already.
    pub(super) existing: HashMap<JobId, (bpc_core::job::NewJob, bpc_core::Hash)>,
    pub(super) writes: JobWrites,
    /// Lanes that have new work.
    pub(super) lanes: Vec<Lane>,
}

impl<'e> Settling<'e> {
    async fn begin(
        engine: &'e Engine,
        worker_id: &'e str,
        conn: &mut Conn<'_>,
        attempts: &[Attempt],
        (now, held): HeldJobs,
        writes: JobWrites,
    ) -> Result<Settling<'e>, EngineError> {
        let streams: Vec<StreamId> =
            attempts.iter().flat_map(|it| it.effects.appends.iter().map(|append| append.stream_id)).collect();
        let mut existing = HashMap::new();
        for attempt in attempts.iter().filter(|it| !it.effects.follow_ups.is_empty()) {
            let ids = attempt.effects.follow_ups.iter().filter_map(|job| {
                job.key.as_ref().map(|key| JobId::from_key(attempt.leased.tenant_id, &job.job_type, key))
            });
            existing.extend(existing_jobs(conn, attempt.leased.tenant_id, ids).await?);
        }
        Ok(Settling {
            engine,
            worker_id,
            actor: format!("worker:{worker_id}"),
            now,
            held,
            early: HashMap::new(),
            heads: stream_heads(conn, &streams).await?,
            existing,
            writes,
            lanes: Vec::new(),
        })
    }

    async fn attempt(&mut self, conn: &mut Conn<'_>, attempt: &Attempt) -> Result<Settled, EngineError> {
        let Some((job, row)) = self.held.remove(&attempt.leased.job_id) else {
            return self.stale(conn, attempt).await;
        };
        if row == Row::Finished
            && let Some(done) = self.early.remove(&attempt.leased.job_id)
        {
            return Ok(self.write(attempt, done, row, Prepared::default()));
        }
        // A lease that is over, or is not this worker's, is refused before any effect is looked at.
        let is_held = |lease: &Lease| lease.expires_at > self.now && lease.worker_id == self.worker_id;
        if !job.lease().is_some_and(is_held) || job.attempts != attempt.leased.attempts {
            return self.refuse(job, row, attempt);
        }
        let error = match self.try_attempt(conn, attempt, &job, row).await {
            Ok(settled) => return Ok(settled),
            Err(EffectFault::Database(error)) => return Err(error.into()),
            Err(EffectFault::Attempt(error)) => error,
        };
        let error = match &attempt.outcome {
            // What a failed attempt wanted besides cannot be had; why it failed is kept all the same, if it can be.
            failed @ Outcome::Failed(_) => match self.step(attempt, job.clone(), failed.clone(), entropy()) {
                Ok(done) => return Ok(self.write(attempt, done, row, Prepared::default())),
                Err(error) => error,
            },
            _ => error,
        };
        let outcome = Outcome::Failed(self.engine.failure(&attempt.leased.job_type, error.info()));
        let done = self.step(attempt, job, outcome, entropy())?;
        Ok(self.write(attempt, done, row, Prepared::default()))
    }

    /// Record the attempt with everything that it brings. On a fault the batch is as before.
    async fn try_attempt(
        &mut self,
        conn: &mut Conn<'_>,
        attempt: &Attempt,
        job: &JobState,
        row: Row,
    ) -> Result<Settled, EffectFault> {
        let seed = entropy();
        let causation = EventId::fresh(self.now, seed);
        let mut outcome = attempt.outcome.clone();
        let tenant = attempt.leased.tenant_id;
        let mut prepared = self.prepare_effects(conn, tenant, &attempt.effects, Some(causation)).await?;
        if let Outcome::Succeeded { emitted, .. } = &mut outcome {
            *emitted = std::mem::take(&mut prepared.emitted);
        }
        // Before anything runs on the database: the outcome itself may not be recordable.
        let done = self.step(attempt, job.clone(), outcome, seed)?;
        self.run_effects(conn, &attempt.effects, &prepared).await?;
        Ok(self.write(attempt, done, row, prepared))
    }

    /// Put a step and its effects into the batch.
    fn write(&mut self, attempt: &Attempt, done: Transition, row: Row, prepared: Prepared) -> Settled {
        let status = done.job.status();
        // A place under a limit is free again, which may be what a job of that lane waits for.
        if self.engine.registry.has_limits() || status == Status::Queued {
            self.wake(&done.job);
        }
        match row {
            Row::Finished => self.writes.append(done.records),
            Row::Locked => self.writes.change_live(done.job, done.records),
            Row::Shared if attempt.is_plain_success() && status == Status::Succeeded => {
                self.writes.finish_held(&attempt.place, self.now, done.records);
            }
            Row::Shared => self.writes.change_held(&attempt.place, done.job, done.records),
        }
        self.put(prepared);
        Settled::Recorded(status)
    }

    /// Put effects into the batch.
    pub(super) fn put(&mut self, prepared: Prepared) {
        self.writes.append(prepared.records);
        self.heads.extend(prepared.moved.into_iter().map(|head| (head.stream_id, head)));
        self.existing.extend(prepared.made);
        for (job, records) in prepared.jobs {
            self.wake(&job);
            self.writes.create(job, records);
        }
    }

    fn wake(&mut self, job: &JobState) {
        let is_known = |lane: &Lane| lane.tenant_id == job.tenant_id && lane.queue == job.queue;
        if job.scheduled_at <= self.now && !self.lanes.iter().any(is_known) {
            self.lanes.push(Lane { tenant_id: job.tenant_id, queue: job.queue.clone() });
        }
    }

    /// The row was not there under this fence: somebody else has, or had, the job; or we settled it
    /// before and never heard the answer. Only the log knows.
    async fn stale(&mut self, conn: &mut Conn<'_>, attempt: &Attempt) -> Result<Settled, EngineError> {
        let JobState { tenant_id, job_id, .. } = attempt.leased;
        for is_locked in [false, true] {
            if is_locked {
                lock_job(conn, job_id).await?;
            }
            let history = history_on(conn, tenant_id, job_id).await?.ok_or(Refusal::NotFound)?;
            if history.job.settled_fence == attempt.fence() {
                break;
            }
            if is_locked {
                return self.refuse(history.job, Row::Locked, attempt);
            }
        }
        Ok(Settled::Already)
    }

    /// Keep nothing of the attempt but the refusal itself.
    fn refuse(&mut self, job: JobState, row: Row, attempt: &Attempt) -> Result<Settled, EngineError> {
        let refusal =
            Refusal::Stale { worker_id: self.worker_id.to_owned(), attempt: attempt.leased.attempts };
        let events = refusal.record().into_iter().collect::<Vec<_>>();
        let was_finished = job.status().is_finished();
        let mut source = entropy as fn() -> [u8; 10];
        let mut stamp = super::stamp(&self.actor, self.now, None, &mut source);
        let done = advance(job.tenant_id, job.job_id, Some(job), &events, &mut stamp)?;
        if was_finished {
            self.writes.change_finished(done.job, done.records);
        } else if row == Row::Shared {
            self.writes.change_held(&attempt.place, done.job, done.records);
        } else {
            self.writes.change_live(done.job, done.records);
        }
        Ok(Settled::Refused)
    }

    fn step(
        &self,
        attempt: &Attempt,
        job: JobState,
        outcome: Outcome,
        seed: [u8; 10],
    ) -> Result<Transition, EngineError> {
        let writer = Writer { actor: &self.actor, worker_id: self.worker_id, now: self.now };
        writer.step(attempt, job, outcome, seed)
    }
}

/// Who records outcomes, and when.
struct Writer<'a> {
    actor: &'a str,
    worker_id: &'a str,
    now: Timestamp,
}

impl Writer<'_> {
    /// Settle whose first event has the id that `seed` makes, because effects name it as their cause.
    fn step(
        &self,
        attempt: &Attempt,
        job: JobState,
        mut outcome: Outcome,
        seed: [u8; 10],
    ) -> Result<Transition, EngineError> {
        if let Outcome::Failed(Failure { error, .. }) = &mut outcome {
            // The views show it, and PostgreSQL's text cannot hold a zero byte.
            for text in [&mut error.code, &mut error.message] {
                *text = text.replace('\0', "\u{fffd}");
            }
        }
        let settlement = Settlement {
            fence: attempt.fence(),
            attempt: attempt.leased.attempts,
            worker_id: self.worker_id.to_owned(),
            outcome,
        };
        let mut first = Some(seed);
        let mut source = move || first.take().unwrap_or_else(entropy);
        let mut stamp = Stamp {
            actor: self.actor,
            now: self.now,
            causation_id: None,
            correlation_id: None,
            entropy: &mut source,
        };
        let command = Command::Settle(settlement);
        Ok(transition(job.tenant_id, job.job_id, Some(job), command, &mut stamp)?)
    }
}

impl Engine {
    /// A failure under the retry rules of a type.
    pub(crate) fn failure(&self, job_type: &str, error: ErrorInfo) -> Failure {
        let policy = self.registry.job_type(job_type).map(|it| it.policy.retry).unwrap_or_default();
        let [a, b, ..] = entropy();
        Failure { error, policy, chance: u16::from_be_bytes([a, b]) }
    }
}
