//! Many jobs of two tenants under a seeded stream of commands, each decided on what the views say.

use std::time::Duration;

use bpc_core::job::{
    Command, NewJob, Outcome, Refusal, Settlement, Stamp, Transition, TransitionError, advance,
};
use bpc_core::{Job, JobId, Status, TenantId, Version};
use bpc_projections::{
    JobFilter, JobLine, JobWrites, expired_leases, held_leases, leasable_jobs, write_jobs,
};

use super::{House, failed, load, new_job, succeeded};

const TYPES: [&str; 3] = ["SEND", "PRINT", "SIGN"];
const QUEUES: [&str; 2] = ["mail", "paper"];

/// A worker's side of a lease, kept even when the lease is long lost.
#[derive(Clone)]
struct Held {
    tenant: TenantId,
    job: JobId,
    fence: Version,
    attempt: u32,
    worker: String,
}

/// The house and everybody who works in it.
pub struct Crowd {
    pub house: House,
    jobs: Vec<(TenantId, JobId)>,
    held: Vec<Held>,
}

impl Crowd {
    pub fn new(house: House) -> Self {
        Crowd { house, jobs: Vec::new(), held: Vec::new() }
    }

    /// Carry out that many random commands.
    pub async fn work(&mut self, steps: usize) {
        for _ in 0..steps {
            let pause = self.house.random.below(8_000) as u64;
            self.house.pass(Duration::from_millis(pause));
            match self.house.random.below(10) {
                0 | 1 => self.enqueue().await,
                2 | 3 => self.lease().await,
                4..=6 => self.settle().await,
                7 => self.keep().await,
                8 => self.expire().await,
                _ => self.person().await,
            }
        }
    }

    /// Every job there is.
    pub fn jobs(&self) -> &[(TenantId, JobId)] {
        &self.jobs
    }

    async fn enqueue(&mut self) {
        let mut writes = JobWrites::default();
        for _ in 0..=self.house.random.below(4) {
            let tenant = *self.house.random.one_of(&[self.house.acme, self.house.other]);
            let new = self.any_job();
            let id = match &new.idempotency_key {
                Some(key) => JobId::from_key(tenant, &new.job_type, key),
                None => JobId::fresh(self.house.now(), self.house.random.entropy()),
            };
            let made = self.decide(tenant, id, None, Command::Enqueue(new)).expect("a new job");
            self.jobs.push((tenant, id));
            writes.create(made.job, made.records);
        }
        self.house.write(&writes).await;
    }

    fn any_job(&mut self) -> NewJob {
        let random = &mut self.house.random;
        NewJob {
            job_type: (*random.one_of(&TYPES)).to_owned(),
            queue: (*random.one_of(&QUEUES)).to_owned(),
            priority: random.below(4) as u8,
            max_attempts: 1 + random.below(3) as u32,
            idempotency_key: (random.below(3) == 0).then(|| format!("key-{}", random.number())),
            ..new_job()
        }
    }

    async fn lease(&mut self) {
        let house = &self.house;
        let lanes: Vec<_> = [house.acme, house.other]
            .into_iter()
            .flat_map(|tenant| QUEUES.map(|queue| house.lane(tenant, queue)))
            .collect();
        let limit = 1 + self.house.random.below(5);
        let mut tx = self.house.store.begin().await.unwrap();
        let clock = self.house.clock.clone();
        let taken = leasable_jobs(&mut tx.conn(), &clock, &lanes, &TYPES, limit).await.unwrap();
        let mut leasable: Vec<Job> = taken.rows.into_iter().map(|row| row.job).collect();
        // Lanes are locked in any order; the commands that follow must not depend on it.
        leasable.sort_by_key(|job| job.job_id);
        let worker = format!("w{}", self.house.random.below(3));
        let mut writes = JobWrites::default();
        for job in leasable {
            let (tenant, id) = (job.tenant_id, job.job_id);
            let lease = Command::Lease { worker_id: worker.clone(), ttl: Duration::from_secs(60) };
            let leased = self.decide(tenant, id, Some(job), lease).expect("a leasable job");
            let fence = leased.job.lease().expect("a lease").fence;
            let attempt = leased.job.attempts;
            self.held.push(Held { tenant, job: id, fence, attempt, worker: worker.clone() });
            writes.change_live(leased.job, leased.records);
        }
        write_jobs(&mut tx.conn(), &writes).await.unwrap();
        tx.commit().await.unwrap();
    }

    async fn settle(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let which = self.house.random.below(self.held.len());
        let held = self.held.swap_remove(which);
        let outcome = match self.house.random.below(9) {
            0..=2 => succeeded(),
            3..=5 => failed(true),
            6 => failed(false),
            7 => Outcome::Released,
            _ => Outcome::Snoozed { delay: Duration::from_secs(7) },
        };
        let Held { fence, attempt, worker, .. } = held.clone();
        self.on_lease(&held, Command::Settle(Settlement { fence, attempt, worker_id: worker, outcome }))
            .await;
    }

    async fn keep(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let held = self.held[self.house.random.below(self.held.len())].clone();
        let fence = held.fence;
        let command = if self.house.random.below(2) == 0 {
            Command::Renew { fence, ttl: Duration::from_secs(60) }
        } else {
            let percent = self.house.random.below(101) as u8;
            Command::Progress { fence, percent, step: Some("step".to_owned()), message: None }
        };
        self.on_lease(&held, command).await;
    }

    /// As a worker does: by the fence, and by the log if that is gone.
    async fn on_lease(&mut self, held: &Held, command: Command) {
        let mut tx = self.house.store.begin().await.unwrap();
        let clock = self.house.clock.clone();
        let mut taken = held_leases(&mut tx.conn(), &clock, &[(held.job, held.fence)]).await.unwrap().rows;
        let job = match taken.pop() {
            Some(job) => job,
            None => load(&mut tx.conn(), held.tenant, held.job).await.expect("a job with a lease"),
        };
        let was_finished = job.status().is_finished();
        let changed = match self.decide(held.tenant, held.job, Some(job.clone()), command) {
            Err(TransitionError::Refused(refusal)) => self.record(job, &refusal),
            changed => Some(changed.expect("a legal history")),
        };
        let mut writes = JobWrites::default();
        match changed {
            // Nothing is written, but the row is unlocked before the next command looks for rows.
            None => {}
            Some(it) if was_finished => writes.change_finished(it.job, it.records),
            Some(it) => writes.change_live(it.job, it.records),
        }
        write_jobs(&mut tx.conn(), &writes).await.unwrap();
        tx.commit().await.unwrap();
    }

    fn record(&mut self, job: Job, refusal: &Refusal) -> Option<Transition> {
        let event = refusal.record()?;
        let now = self.house.now();
        let mut entropy = || self.house.random.entropy();
        let mut stamp =
            Stamp { actor: "system", now, causation_id: None, correlation_id: None, entropy: &mut entropy };
        let (tenant, id) = (job.tenant_id, job.job_id);
        Some(advance(tenant, id, Some(job), &[event], &mut stamp).expect("a refusal can always be kept"))
    }

    async fn expire(&mut self) {
        self.house.pass(Duration::from_secs(20));
        let mut tx = self.house.store.begin().await.unwrap();
        let clock = self.house.clock.clone();
        let mut expired = expired_leases(&mut tx.conn(), &clock, 100).await.unwrap();
        expired.taken.rows.sort_by_key(|job| job.job_id);
        let mut writes = JobWrites::default();
        writes.end_leases(expired.over);
        for job in expired.taken.rows {
            let gone =
                self.decide(job.tenant_id, job.job_id, Some(job), Command::Expire).expect("an expired lease");
            writes.change_live(gone.job, gone.records);
        }
        write_jobs(&mut tx.conn(), &writes).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// Somebody cancels a live job, or looks after a failed one.
    async fn person(&mut self) {
        let status = *self.house.random.one_of(&Status::ALL);
        let filter = JobFilter { status: Some(status), limit: 5, ..JobFilter::default() };
        let ids: Vec<(TenantId, JobId)> = self.house.list(filter).await.iter().map(id_of).collect();
        if ids.is_empty() {
            return;
        }
        let (tenant, id) = *self.house.random.one_of(&ids);
        let job = load(&mut self.house.read().await.conn(), tenant, id).await.expect("a listed job");
        let command = match (status.is_finished(), self.house.random.below(3)) {
            (false, _) => Command::Cancel { reason: Some("not needed".to_owned()) },
            (true, 0) => Command::Resolve { actor: "user:ann".to_owned(), notes: "known".to_owned() },
            (true, _) => Command::Replay { actor: "user:ann".to_owned(), justification: "fixed".to_owned() },
        };
        let Ok(changed) = self.decide(tenant, id, Some(job), command) else {
            return;
        };
        let mut writes = JobWrites::default();
        if status.is_finished() {
            writes.change_finished(changed.job, changed.records);
        } else {
            writes.change_live(changed.job, changed.records);
        }
        self.house.write(&writes).await;
    }

    /// Each decision has a moment of its own, so that no two due times are equal and the order of jobs
    /// is the same everywhere.
    fn decide(
        &mut self,
        tenant: TenantId,
        id: JobId,
        job: Option<Job>,
        command: Command,
    ) -> Result<Transition, TransitionError> {
        self.house.pass(Duration::from_micros(1));
        self.house.decide(tenant, id, job, command)
    }
}

fn id_of(line: &JobLine) -> (TenantId, JobId) {
    match line {
        JobLine::Queue(row) => (row.tenant_id, row.job_id),
        JobLine::Finished(row) => (row.tenant_id, row.job_id),
    }
}
