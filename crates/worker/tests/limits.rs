//! Limits over all workers, and the rule that holds a job back.

mod common;

use std::time::Duration;

use bpc_core::Status;
use bpc_worker::{Due, Effects, Registry};
use common::{
    ACTOR, Act, Probe, SOON, Scene, TTL, Working, failed, job, lane, options, second, still, succeeded,
};

fn probes_at_most_two(_: &mut Registry, probe: &mut Probe) {
    probe.policy.concurrency_max = Some(2);
}

fn queue_at_most_two(registry: &mut Registry, _: &mut Probe) {
    registry.limit_queue("default", 2);
}

impl Scene {
    /// Run 12 short jobs on two workers with engines of their own; how many ran at once at most.
    async fn run_on_two_workers(&self) -> usize {
        let jobs = (0..12).map(|_| job(Act::Take { ms: 20 })).collect();
        self.engine.enqueue_all(self.tenant, ACTOR, jobs).await.unwrap();
        let elsewhere = self.elsewhere().await;
        let (here, there) =
            (Working::start(&self.engine, options("here")), Working::start(&elsewhere, options("there")));
        bpc_testkit::eventually(SOON, || async { self.events_of("SUCCEEDED").await == 12 }).await;
        let (here, there) = (here.stop().await, there.stop().await);
        assert_eq!(here.succeeded + there.succeeded, 12);
        assert_eq!(self.notes.runs_in_all(), 12);
        self.assert_sound().await;
        self.notes.running_most()
    }

    /// Lease rounds of many engines at once; how many jobs they got in all.
    async fn lease_at_once(&self, limit: usize) -> usize {
        let elsewhere = self.elsewhere().await;
        let lanes = [lane(self.tenant, "default", limit)];
        let leasing = (0..8).map(|n| {
            let engine = if n % 2 == 0 { self.engine.clone() } else { elsewhere.clone() };
            let lanes = lanes.clone();
            tokio::spawn(
                async move { engine.lease(&format!("w{n}"), &lanes, limit, TTL).await.unwrap().len() },
            )
        });
        let mut jobs = 0;
        for leased in leasing.collect::<Vec<_>>() {
            jobs += leased.await.unwrap();
        }
        jobs
    }
}

bpc_testkit::on_both_databases! {
    async fn a_type_limit_holds_over_two_workers(db) {
        let scene = Scene::with(&db, bpc_eventstore::Clock::Database, probes_at_most_two).await;
        assert!((1..=2).contains(&scene.run_on_two_workers().await));
    }

    async fn a_queue_limit_holds_over_two_workers(db) {
        let scene = Scene::with(&db, bpc_eventstore::Clock::Database, queue_at_most_two).await;
        assert!((1..=2).contains(&scene.run_on_two_workers().await));
    }

    async fn leases_at_the_same_moment_share_the_places_of_a_limit(db) {
        let scene = Scene::with(&db, still(), probes_at_most_two).await;
        for _ in 0..10 {
            scene.enqueue(Act::Nothing).await;
        }
        assert_eq!(scene.lease_at_once(5).await, 2);
        scene.assert_sound().await;
    }

    async fn a_queue_limit_is_shared_by_all_tenants(db) {
        let scene = Scene::with(&db, still(), queue_at_most_two).await;
        let others = scene.other_tenant().await;
        for tenant in [scene.tenant, scene.tenant, others, others] {
            scene.engine.enqueue(tenant, ACTOR, job(Act::Nothing)).await.unwrap();
        }
        let lanes = [lane(scene.tenant, "default", 9), lane(others, "default", 9)];
        assert_eq!(scene.engine.lease("w", &lanes, 9, TTL).await.unwrap().len(), 2);
        assert_eq!(scene.engine.lease("w", &lanes, 9, TTL).await.unwrap().len(), 0);
        scene.assert_sound().await;
    }

    async fn a_place_is_free_again_when_its_job_is_settled_or_expired(db) {
        let scene = Scene::with(&db, still(), probes_at_most_two).await;
        for _ in 0..5 {
            scene.enqueue(Act::Nothing).await;
        }
        let leased = scene.lease("w", 9).await;
        assert_eq!(leased.len(), 2);
        scene.settle("w", succeeded(&leased[0], Effects::none())).await;
        assert_eq!(scene.lease("w", 9).await.len(), 1);
        scene.settle("w", failed(&leased[1], "FLAKY", true)).await;
        assert_eq!(scene.lease("w", 9).await.len(), 1);
        scene.advance(TTL);
        assert_eq!(scene.lease("w", 9).await.len(), 0, "until somebody takes them back");
        assert_eq!(scene.engine.expire(9).await.unwrap(), 2);
        assert_eq!(scene.lease("w", 9).await.len(), 2);
        scene.assert_sound().await;
    }

    async fn a_full_type_does_not_hold_up_the_others(db) {
        let scene = Scene::with(&db, still(), probes_at_most_two).await;
        for _ in 0..20 {
            scene.enqueue(Act::Nothing).await;
        }
        scene.advance(Duration::from_millis(1));
        let other = scene.enqueue_job(second(Act::Nothing)).await;
        assert_eq!(scene.lease("w", 5).await.len(), 2);
        let leased = scene.lease("w", 5).await;
        assert_eq!(leased.iter().map(|it| it.job.job_id).collect::<Vec<_>>(), [other]);
        scene.assert_sound().await;
    }

    async fn the_most_urgent_take_the_places_of_a_limit(db) {
        let scene = Scene::with(&db, still(), probes_at_most_two).await;
        let mut ids = Vec::new();
        for priority in [3, 2, 1, 0] {
            ids.insert(0, scene.enqueue_job(job(Act::Nothing).priority(priority)).await);
        }
        let leased: Vec<_> = scene.lease("w", 9).await.into_iter().map(|it| it.job.job_id).collect();
        assert_eq!(leased, ids[..2]);
        scene.assert_sound().await;
    }

    async fn why_names_the_rule_that_holds_a_job_back(db) {
        let scene = Scene::with(&db, still(), |registry, probe| {
            probe.policy.concurrency_max = Some(1);
            registry.limit_queue("narrow", 1);
        })
        .await;
        let now = scene.store().now().await.unwrap();
        let later = scene.enqueue_job(second(Act::Nothing).due(Due::After(TTL))).await;
        assert_eq!(scene.why(later).await, "NOT_DUE");
        let why = scene.engine.why(scene.tenant, later).await.unwrap().unwrap();
        assert_eq!(why.until, Some(now.plus(TTL)));

        let narrow = [lane(scene.tenant, "narrow", 9)];
        let in_narrow = |act: Act| second(act).queue("narrow");
        let first = scene.enqueue_job(in_narrow(Act::Nothing)).await;
        assert_eq!(scene.why(first).await, "WAITS_FOR_WORKER");
        scene.advance(Duration::from_secs(1));
        let next = scene.enqueue_job(in_narrow(Act::Nothing)).await;
        assert_eq!(scene.why(next).await, "JOBS_AHEAD");
        let leased = scene.engine.lease("w", &narrow, 9, TTL).await.unwrap();
        assert_eq!((leased.len(), scene.why(first).await, scene.why(next).await), (1, "RUNNING", "QUEUE_LIMIT"));
        let attempt = failed(&leased[0], "FLAKY", true);
        scene.settle("w", attempt).await;
        assert_eq!((scene.why(first).await, scene.why(next).await), ("RETRY_WAIT", "WAITS_FOR_WORKER"));

        let running = scene.enqueue(Act::Nothing).await;
        scene.advance(Duration::from_millis(1));
        let waiting = scene.enqueue(Act::Nothing).await;
        assert_eq!(scene.lease("w", 9).await.len(), 1);
        assert_eq!((scene.why(running).await, scene.why(waiting).await), ("RUNNING", "TYPE_LIMIT"));
        scene.engine.cancel(scene.tenant, ACTOR, running, None).await.unwrap();
        let why = scene.engine.why(scene.tenant, running).await.unwrap().unwrap();
        assert!(why.message.contains("a cancel was requested"), "{}", why.message);
        scene.advance(TTL);
        assert_eq!(scene.why(running).await, "LEASE_EXPIRED");
        scene.engine.expire(9).await.unwrap();
        assert_eq!((scene.why(running).await, scene.why(waiting).await), ("CANCELLED", "WAITS_FOR_WORKER"));

        let strange = bpc_worker::Engine::new(scene.store().clone(), Registry::new());
        let why = strange.why(scene.tenant, waiting).await.unwrap().unwrap();
        assert_eq!(why.code, "UNSUPPORTED_JOB_TYPE");
        scene.assert_sound().await;
    }

    async fn a_limited_worker_runs_everything_there_is(db) {
        let scene = Scene::with(&db, still(), |registry, probe| {
            probe.policy.concurrency_max = Some(1);
            registry.limit_queue("default", 3);
        })
        .await;
        let mut ids = Vec::new();
        for n in 0..10 {
            let act = Act::Everything { follow_ups: 1 };
            ids.push(scene.enqueue_job(if n % 2 == 0 { job(act) } else { second(act) }).await);
        }
        assert_eq!(scene.work().await.succeeded, 20);
        for id in ids {
            assert_eq!(scene.status(id).await, Status::Succeeded);
        }
        assert!(scene.notes.running_most() <= 3);
        scene.assert_sound().await;
    }
}
