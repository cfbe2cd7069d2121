//! A story with everything that can happen to jobs, told by a caller and a worker who do not give up.

use std::collections::BTreeMap;

use bpc_core::Status;
use bpc_eventstore::portable;
use bpc_worker::{Attempt, Effects, EngineError, Enqueue, JobId, LeasedJob, Settled, Version};

use crate::common::{
    ACTOR, Act, LEDGER, MARK, Scene, TTL, entered, failed, job, lane, ledger_of, second, succeeded,
};

/// What is left of a story: per job, by its part in it, its status, how often it succeeded, and how
/// many entries its ledger has; and how many rows all of them wrote.
#[derive(Debug, PartialEq, Eq)]
pub struct End {
    jobs: BTreeMap<String, (Status, usize, i64)>,
    marks: i64,
}

impl End {
    pub fn expected() -> Self {
        let jobs = [
            ("brings", (Status::Succeeded, 1, 1)),
            ("brought", (Status::Succeeded, 1, 1)),
            ("cancelled", (Status::Cancelled, 0, 0)),
            ("flaky", (Status::Succeeded, 1, 1)),
            ("killer", (Status::Succeeded, 1, 1)),
            ("replayed", (Status::Succeeded, 1, 1)),
        ];
        End { jobs: jobs.into_iter().map(|(name, end)| (name.to_owned(), end)).collect(), marks: 5 }
    }
}

pub struct Story<'s> {
    scene: &'s Scene,
}

/// The parts of the story, by the key of their job.
const PARTS: [&str; 5] = ["brings", "cancelled", "flaky", "killer", "replayed"];

impl Story<'_> {
    pub async fn tell(scene: &Scene) -> End {
        let story = Story { scene };
        for part in PARTS {
            story.enqueue(part).await;
        }
        story.cancel("cancelled").await;
        // The first round: one dies with its worker, one is flaky, one fails for good.
        let leased = story.lease_all().await;
        let mut attempts = Vec::new();
        for leased in &leased {
            match story.part(leased.job.job_id).as_str() {
                "killer" => {}
                "flaky" => attempts.push(failed(leased, "FLAKY", true)),
                "replayed" => attempts.push(failed(leased, "BROKEN", false)),
                part => attempts.push(story.success(leased, part)),
            }
        }
        story.settle(&attempts).await;
        story.replay_failed("replayed").await;
        story.carry_on().await;
        story.end().await
    }

    /// Work as a worker does until every job is finished.
    pub async fn carry_on(&self) {
        for _ in 0..30 {
            if self.live_jobs().await == 0 {
                return;
            }
            self.scene.advance(TTL);
            self.insist(async || self.scene.engine.expire(100).await).await;
            let leased = self.lease_all().await;
            let attempts: Vec<_> =
                leased.iter().map(|it| self.success(it, &self.part(it.job.job_id))).collect();
            self.settle(&attempts).await;
        }
        panic!("jobs are left that no worker moves");
    }

    /// As a caller who has a key: asks until there is an answer.
    async fn enqueue(&self, part: &str) -> JobId {
        let enqueue = async || self.scene.engine.enqueue(self.scene.tenant, ACTOR, asked_for(part)).await;
        self.insist(enqueue).await.job_id
    }

    /// As a person: looks, and asks again if nothing has changed.
    async fn cancel(&self, part: &str) {
        let id = self.id(part);
        let cancel = async || match self.scene.engine.cancel(self.scene.tenant, ACTOR, id, None).await {
            Err(error) if error.code() == "INVALID_JOB_STATUS" => Ok(()),
            asked => asked.map(drop),
        };
        self.insist(cancel).await;
    }

    async fn replay_failed(&self, part: &str) {
        let id = self.id(part);
        // A lost answer of the lease leaves it waiting for the next round instead: nothing to replay.
        if self.scene.status(id).await != Status::Failed {
            return;
        }
        let replay =
            async || match self.scene.engine.replay(self.scene.tenant, ACTOR, id, String::new()).await {
                Err(error) if error.code() == "INVALID_JOB_STATUS" => Ok(()),
                asked => asked.map(drop),
            };
        self.insist(replay).await;
    }

    /// A worker that gets no answer to its lease goes on without; what it may hold will run out.
    async fn lease_all(&self) -> Vec<LeasedJob> {
        let lanes = [lane(self.scene.tenant, "default", 100)];
        self.scene.engine.lease("w", &lanes, 100, TTL).await.unwrap_or_default()
    }

    /// A worker that gets no answer to its settling asks again.
    async fn settle(&self, attempts: &[Attempt]) {
        let settled = self.insist(async || self.scene.engine.settle("w", attempts).await).await;
        assert!(!settled.contains(&Settled::Refused), "no lease was lost: {settled:?}");
    }

    async fn insist<T>(&self, ask: impl AsyncFn() -> Result<T, EngineError>) -> T {
        for _ in 0..3 {
            match ask().await {
                Ok(answer) => return answer,
                Err(error) => assert!(error.is_unavailable(), "{error}"),
            }
        }
        panic!("it fails again and again");
    }

    fn success(&self, leased: &LeasedJob, part: &str) -> Attempt {
        let id = leased.job.job_id;
        let mark = bpc_worker::SqlValue::Text(id.to_string());
        let mut effects = Effects::none()
            .emit(self.scene.tenant, LEDGER, ledger_of(id), Version::NONE, vec![entered()])
            .sql(MARK, vec![mark]);
        if part == "brings" {
            effects = effects.enqueue(asked_for("brought"));
        }
        succeeded(leased, effects)
    }

    fn id(&self, part: &str) -> JobId {
        let job_type = if part == "brought" { "SECOND" } else { "PROBE" };
        JobId::from_key(self.scene.tenant, job_type, part)
    }

    fn part(&self, id: JobId) -> String {
        let part = PARTS.into_iter().chain(["brought"]).find(|part| self.id(part) == id);
        part.expect("a job of the story").to_owned()
    }

    async fn live_jobs(&self) -> i64 {
        let mut tx = self.scene.store().begin_read().await.unwrap();
        let sql = "SELECT count(*) FROM live_jobs WHERE tenant_id = $1";
        portable!(tx.conn(), c => sqlx::query_scalar(sql).bind(self.scene.tenant.0).fetch_one(c).await)
            .unwrap()
    }

    async fn end(&self) -> End {
        let mut end = End { jobs: BTreeMap::new(), marks: 0 };
        for part in PARTS.into_iter().chain(["brought"]) {
            let id = self.id(part);
            let history = self.scene.history(id).await;
            let successes = history.events.iter().filter(|event| event.event_type == "SUCCEEDED").count();
            let entries = self.scene.entries(ledger_of(id)).await;
            end.jobs.insert(part.to_owned(), (history.job.status(), successes, entries));
            let mut tx = self.scene.store().begin_read().await.unwrap();
            let sql = "SELECT count(*) FROM probe_marks WHERE job_id = $1";
            let marks: i64 = portable!(tx.conn(), c => {
                sqlx::query_scalar(sql).bind(id.to_string()).fetch_one(c).await
            })
            .unwrap();
            end.marks += marks;
        }
        end
    }
}

fn asked_for(part: &str) -> Enqueue {
    let job = if part == "brought" { second(Act::Nothing) } else { job(Act::Nothing) };
    job.key(part)
}
