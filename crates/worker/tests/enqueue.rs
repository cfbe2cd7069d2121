//! Enqueue: in a transaction of the caller, once per key, in bulk, at a time.

mod common;

use std::collections::HashSet;
use std::time::Duration;

use bpc_core::Status;
use bpc_eventstore::Database;
use bpc_worker::{Due, EngineError, Enqueue, Enqueued};
use common::{ACTOR, Act, Scene, job, lane, second};

fn nothing() -> Enqueue {
    job(Act::Nothing)
}

/// An act whose payload is larger than an event may be.
fn too_large() -> Enqueue {
    job(Act::Say { message: "x".repeat(256 * 1024) })
}

fn code<T: std::fmt::Debug>(outcome: Result<T, EngineError>) -> &'static str {
    outcome.expect_err("a refusal").code()
}

impl Scene {
    /// Enqueue in a transaction that the caller began with sqlx and nothing of ours.
    async fn enqueue_with_sqlx(&self, job: Enqueue, commit: bool) -> Enqueued {
        macro_rules! in_tx {
            ($pool:expr, $begin:literal) => {{
                let mut tx = $pool.begin_with($begin).await.unwrap();
                sqlx::query("INSERT INTO probe_marks (job_id) VALUES ('caller')")
                    .execute(&mut *tx)
                    .await
                    .unwrap();
                let enqueued = self.engine.enqueue_in(&mut tx, self.tenant, ACTOR, job).await.unwrap();
                if commit {
                    tx.commit().await.unwrap()
                } else {
                    tx.rollback().await.unwrap()
                }
                enqueued
            }};
        }
        match &self.store().database {
            Database::Postgres(pool) => in_tx!(pool, "BEGIN"),
            Database::Sqlite(pools) => in_tx!(pools.writer, "BEGIN IMMEDIATE"),
        }
    }

    async fn exists(&self, enqueued: Enqueued) -> bool {
        self.engine.history(self.tenant, enqueued.job_id).await.unwrap().is_some()
    }

    async fn jobs(&self) -> i64 {
        self.events_of("ENQUEUED").await
    }
}

bpc_testkit::on_both_databases! {
    async fn a_job_exists_if_and_only_if_the_callers_sqlx_transaction_commits(db) {
        let scene = Scene::still(&db).await;
        for job in [nothing(), nothing().key("k")] {
            let lost = scene.enqueue_with_sqlx(job.clone(), false).await;
            assert!(lost.created && !scene.exists(lost).await);
        }
        assert_eq!(scene.count("SELECT count(*) FROM probe_marks").await, 0);
        let kept = scene.enqueue_with_sqlx(nothing().key("k"), true).await;
        assert!(kept.created && scene.exists(kept).await);
        assert_eq!(scene.count("SELECT count(*) FROM probe_marks").await, 1);
        assert_eq!(scene.work().await.succeeded, 1);
        scene.assert_sound().await;
    }

    async fn a_job_exists_if_and_only_if_the_stores_transaction_commits(db) {
        let scene = Scene::still(&db).await;
        let mut tx = scene.store().begin().await.unwrap();
        let lost = scene.engine.enqueue_in(&mut tx, scene.tenant, ACTOR, nothing()).await.unwrap();
        drop(tx);
        let mut tx = scene.store().begin().await.unwrap();
        let kept = scene.engine.enqueue_in(&mut tx, scene.tenant, ACTOR, nothing()).await.unwrap();
        tx.commit().await.unwrap();
        assert!(!scene.exists(lost).await);
        assert!(scene.exists(kept).await);
        scene.assert_sound().await;
    }

    async fn a_refused_job_leaves_the_callers_transaction_usable(db) {
        let scene = Scene::still(&db).await;
        scene.enqueue_job(nothing().key("k")).await;
        let mut tx = scene.store().begin().await.unwrap();
        let other = second(Act::Panic);
        let refused = [
            (Enqueue::from_json("NOBODY", b"{}").unwrap(), "UNSUPPORTED_JOB_TYPE"),
            (nothing().priority(4), "VALIDATION_ERROR"),
            (too_large(), "PAYLOAD_TOO_LARGE"),
            (job(Act::Panic).key("k"), "IDEMPOTENCY_CONFLICT"),
        ];
        for (job, expected) in refused {
            let outcome = scene.engine.enqueue_in(&mut tx, scene.tenant, ACTOR, job).await;
            assert_eq!(code(outcome), expected);
        }
        let same = scene.engine.enqueue_in(&mut tx, scene.tenant, ACTOR, nothing().key("k")).await.unwrap();
        assert!(!same.created);
        let kept = scene.engine.enqueue_in(&mut tx, scene.tenant, ACTOR, other).await.unwrap();
        tx.commit().await.unwrap();
        assert!(scene.exists(kept).await);
        assert_eq!(scene.jobs().await, 2);
        scene.assert_sound().await;
    }

    async fn fifty_at_once_with_one_key_make_one_job(db) {
        let scene = Scene::still(&db).await;
        let elsewhere = scene.elsewhere().await;
        let asking = (0..50).map(|n| {
            let engine = if n % 2 == 0 { scene.engine.clone() } else { elsewhere.clone() };
            let tenant = scene.tenant;
            tokio::spawn(async move { engine.enqueue(tenant, ACTOR, nothing().key("once")).await.unwrap() })
        });
        let mut answers = Vec::new();
        for asked in asking.collect::<Vec<_>>() {
            answers.push(asked.await.unwrap());
        }
        assert_eq!(answers.iter().filter(|answer| answer.created).count(), 1);
        let same: HashSet<_> = answers.iter().map(|answer| (answer.job_id, answer.event_hash.0)).collect();
        assert_eq!(same.len(), 1);
        assert_eq!(scene.jobs().await, 1);
        scene.assert_sound().await;
    }

    async fn transactions_that_race_for_one_key_make_one_job(db) {
        let scene = Scene::still(&db).await;
        let racing = (0..8).map(|_| {
            let (engine, tenant) = (scene.engine.clone(), scene.tenant);
            tokio::spawn(async move {
                let mut tx = engine.store.begin().await.unwrap();
                let answer = engine.enqueue_in(&mut tx, tenant, ACTOR, nothing().key("once")).await.unwrap();
                tx.commit().await.unwrap();
                answer.created
            })
        });
        let mut created = 0;
        for raced in racing.collect::<Vec<_>>() {
            created += u32::from(raced.await.unwrap());
        }
        assert_eq!((created, scene.jobs().await), (1, 1));
        scene.assert_sound().await;
    }

    async fn the_same_key_with_other_content_is_a_conflict(db) {
        let scene = Scene::still(&db).await;
        let first = scene.enqueue_job(nothing().key("k")).await;
        for other in [
            job(Act::Panic).key("k"),
            nothing().key("k").priority(0),
            nothing().key("k").queue("elsewhere"),
            nothing().key("k").max_attempts(7),
        ] {
            let refused = scene.engine.enqueue(scene.tenant, ACTOR, other).await.unwrap_err();
            assert_eq!(refused.code(), "IDEMPOTENCY_CONFLICT");
            assert!(refused.to_string().contains(&first.to_string()), "{refused}");
        }
        let later = nothing().key("k").due(Due::After(Duration::from_secs(9)));
        let again = scene.engine.enqueue(scene.tenant, ACTOR, later).await.unwrap();
        assert_eq!((again.job_id, again.created), (first, false));
        assert_eq!(scene.jobs().await, 1);
        scene.assert_sound().await;
    }

    async fn a_key_belongs_to_one_tenant_and_type(db) {
        let scene = Scene::still(&db).await;
        let others = scene.other_tenant().await;
        let mut jobs = HashSet::new();
        for (tenant, job) in [
            (scene.tenant, nothing()),
            (scene.tenant, second(Act::Nothing)),
            (others, nothing()),
            (others, second(Act::Nothing)),
        ] {
            let enqueued = scene.engine.enqueue(tenant, ACTOR, job.key("k")).await.unwrap();
            assert!(enqueued.created && jobs.insert(enqueued.job_id));
        }
        scene.assert_sound().await;
    }

    async fn a_key_is_remembered_after_its_job_is_finished(db) {
        let scene = Scene::still(&db).await;
        let first = scene.enqueue_job(nothing().key("k")).await;
        scene.work().await;
        assert_eq!(scene.status(first).await, Status::Succeeded);
        let again = scene.engine.enqueue(scene.tenant, ACTOR, nothing().key("k")).await.unwrap();
        assert_eq!((again.job_id, again.created), (first, false));
        let other = scene.engine.enqueue(scene.tenant, ACTOR, job(Act::Panic).key("k")).await;
        assert_eq!(code(other), "IDEMPOTENCY_CONFLICT");
        assert_eq!(scene.work().await.leased, 0);
        scene.assert_sound().await;
    }

    async fn a_batch_reports_each_row_and_writes_the_good_ones(db) {
        let scene = Scene::still(&db).await;
        let earlier = scene.enqueue_job(nothing().key("earlier")).await;
        let batch = vec![
            nothing(),
            Enqueue::from_json("NOBODY", b"{}").unwrap(),
            nothing().priority(4),
            too_large(),
            nothing().key("twice"),
            nothing().key("twice"),
            job(Act::Panic).key("twice"),
            nothing().key("earlier"),
            nothing().queue("not, a name"),
            second(Act::Nothing),
        ];
        let outcomes = scene.engine.enqueue_all(scene.tenant, ACTOR, batch).await.unwrap();
        let told: Vec<_> = outcomes
            .iter()
            .map(|outcome| match outcome {
                Ok(Enqueued { created: true, .. }) => "created",
                Ok(_) => "exists",
                Err(error) => error.code(),
            })
            .collect();
        let expected = [
            "created",
            "UNSUPPORTED_JOB_TYPE",
            "VALIDATION_ERROR",
            "PAYLOAD_TOO_LARGE",
            "created",
            "exists",
            "IDEMPOTENCY_CONFLICT",
            "exists",
            "VALIDATION_ERROR",
            "created",
        ];
        assert_eq!(told, expected);
        assert_eq!(outcomes[7].as_ref().unwrap().job_id, earlier);
        for created in [0, 4, 9] {
            let enqueued = outcomes[created].as_ref().unwrap();
            let history = scene.history(enqueued.job_id).await;
            assert_eq!(history.events[0].event_hash, enqueued.event_hash, "the receipt");
        }
        assert_eq!(scene.jobs().await, 4);
        scene.assert_sound().await;
    }

    async fn a_refused_job_leaves_nothing(db) {
        let scene = Scene::still(&db).await;
        for (job, expected) in [
            (Enqueue::from_json("NOBODY", b"{}").unwrap(), "UNSUPPORTED_JOB_TYPE"),
            (nothing().priority(4), "VALIDATION_ERROR"),
            (nothing().max_attempts(0), "VALIDATION_ERROR"),
            (nothing().key(""), "VALIDATION_ERROR"),
            (too_large(), "PAYLOAD_TOO_LARGE"),
        ] {
            assert_eq!(code(scene.engine.enqueue(scene.tenant, ACTOR, job).await), expected);
        }
        assert_eq!(scene.jobs().await, 0);
        assert_eq!(scene.count("SELECT count(*) FROM live_jobs").await, 0);
    }

    async fn the_largest_payload_that_fits_comes_back_whole(db) {
        let scene = Scene::still(&db).await;
        let message = "x".repeat(255 * 1024);
        let id = scene.enqueue_job(job(Act::Say { message: message.clone() })).await;
        let leased = scene.lease_one("w").await;
        assert_eq!(leased.job.job_id, id);
        assert!(String::from_utf8(leased.payload).unwrap().contains(&message));
        scene.assert_sound().await;
    }

    async fn a_lost_answer_does_not_enqueue_twice(db) {
        let scene = Scene::still(&db).await;
        for (n, job) in [nothing(), nothing().key("k")].into_iter().enumerate() {
            scene.store().fault.fail_but_persisted(0);
            let enqueued = scene.engine.enqueue(scene.tenant, ACTOR, job).await.unwrap();
            assert!(scene.store().fault.is_spent() && scene.exists(enqueued).await);
            assert_eq!(scene.jobs().await, n as i64 + 1);
        }
        scene.store().fault.fail_but_persisted(0);
        let batch = vec![nothing(), nothing(), nothing().key("b")];
        let outcomes = scene.engine.enqueue_all(scene.tenant, ACTOR, batch).await.unwrap();
        assert!(outcomes.iter().all(Result::is_ok));
        assert_eq!(scene.jobs().await, 5);
        scene.assert_sound().await;
    }

    async fn a_failed_commit_is_tried_again(db) {
        let scene = Scene::still(&db).await;
        for job in [nothing(), nothing().key("k")] {
            scene.store().fault.fail_not_persisted(0);
            let enqueued = scene.engine.enqueue(scene.tenant, ACTOR, job).await.unwrap();
            assert!(enqueued.created && scene.exists(enqueued).await);
        }
        assert_eq!(scene.jobs().await, 2);
        scene.assert_sound().await;
    }

    async fn a_job_is_not_leased_before_it_is_due(db) {
        let scene = Scene::still(&db).await;
        let now = scene.store().now().await.unwrap();
        let at = now.plus(Duration::from_secs(20));
        let delayed = scene.enqueue_job(nothing().due(Due::After(Duration::from_secs(10)))).await;
        let dated = scene.enqueue_job(nothing().due(Due::At(at))).await;
        assert_eq!(scene.history(delayed).await.job.scheduled_at, now.plus(Duration::from_secs(10)));
        assert_eq!(scene.history(dated).await.job.scheduled_at, at);
        for (seconds, expected) in [(9, None), (1, Some(delayed)), (9, None), (1, Some(dated))] {
            scene.advance(Duration::from_secs(seconds));
            let leased = scene.lease("w", 10).await;
            assert_eq!(leased.first().map(|it| it.job.job_id), expected);
        }
        scene.assert_sound().await;
    }

    async fn what_is_not_said_comes_from_the_policy_of_the_type(db) {
        let scene = Scene::with(&db, common::still(), |_, probe| {
            probe.policy.queue = "own".to_owned();
            probe.policy.priority = 1;
            probe.policy.max_attempts = 3;
        })
        .await;
        let plain = scene.enqueue(Act::Nothing).await;
        let said = scene.enqueue_job(nothing().queue("said").priority(3).max_attempts(9)).await;
        let job = scene.history(plain).await.job;
        assert_eq!((&*job.queue, job.priority, job.max_attempts), ("own", 1, 3));
        let job = scene.history(said).await.job;
        assert_eq!((&*job.queue, job.priority, job.max_attempts), ("said", 3, 9));
        let lanes = [lane(scene.tenant, "own", 9)];
        assert_eq!(scene.engine.lease("w", &lanes, 9, common::TTL).await.unwrap().len(), 1);
        scene.assert_sound().await;
    }

    async fn a_job_of_another_tenant_is_not_there(db) {
        let scene = Scene::still(&db).await;
        let others = scene.other_tenant().await;
        let job = scene.enqueue(Act::Nothing).await;
        assert!(scene.engine.history(others, job).await.unwrap().is_none());
        assert!(scene.engine.why(others, job).await.unwrap().is_none());
        assert_eq!(code(scene.engine.cancel(others, ACTOR, job, None).await), "JOB_NOT_FOUND");
        scene.assert_sound().await;
    }
}
