//! Whose jobs a worker takes, and jobs that come round by themselves.

use std::time::Duration;

use bpc_core::Status;
use bpc_worker::{Schedule, WorkerOptions};

use crate::common::{ACTOR, Act, SOON, Scene, Working, job, options, second, still};

impl Scene {
    async fn work_with(&self, options: WorkerOptions) -> u64 {
        let options = WorkerOptions { until_idle: true, ..options };
        let run = bpc_worker::Worker::new(self.engine.clone(), options).run(Default::default());
        tokio::time::timeout(SOON, run).await.expect("it becomes idle").unwrap().succeeded
    }
}

fn hourly() -> Schedule {
    Schedule { name: "hourly", every: Duration::from_secs(3600), job: job(Act::Nothing) }
}

bpc_testkit::on_both_databases! {
    async fn a_worker_of_one_queue_or_tenant_leaves_the_others_alone(db) {
        let scene = Scene::still(&db).await;
        let others = scene.other_tenant().await;
        let mut ids = Vec::new();
        for (tenant, queue) in [(scene.tenant, "a"), (scene.tenant, "b"), (others, "a"), (others, "b")] {
            let enqueued = scene.engine.enqueue(tenant, ACTOR, job(Act::Nothing).queue(queue)).await.unwrap();
            ids.push(enqueued.job_id);
        }
        // Somebody runs a job of the other queue: no reason for this worker not to be idle.
        let lanes = [crate::common::lane(others, "b", 1)];
        assert_eq!(scene.engine.lease("x", &lanes, 1, crate::common::TTL).await.unwrap().len(), 1);
        let queues = Some(vec!["a".to_owned()]);
        let tenants = Some(vec![scene.tenant]);
        let both = WorkerOptions { queues: queues.clone(), tenants: tenants.clone(), ..options("w") };
        assert_eq!(scene.work_with(both).await, 1);
        assert_eq!(scene.notes.order(), ids[..1]);
        assert_eq!(scene.work_with(WorkerOptions { tenants, ..options("w") }).await, 1);
        assert_eq!(scene.notes.order(), ids[..2]);
        assert_eq!(scene.work_with(WorkerOptions { queues, ..options("w") }).await, 1);
        assert_eq!(scene.notes.order(), ids[..3]);
        scene.assert_sound().await;
    }

    async fn a_due_job_that_this_worker_cannot_run_does_not_keep_it(db) {
        let scene = Scene::still(&db).await;
        scene.enqueue_job(second(Act::Nothing).priority(0)).await;
        for concurrency in [1, 1000] {
            scene.enqueue(Act::Nothing).await;
            let mut registry = bpc_worker::Registry::new();
            registry.job(crate::common::Probe::new(&scene.notes));
            let engine = bpc_worker::Engine::new(scene.store().clone(), registry);
            let options = WorkerOptions { until_idle: true, concurrency, ..options("w") };
            let run = bpc_worker::Worker::new(engine, options).run(Default::default());
            let report = tokio::time::timeout(SOON, run).await.expect("it becomes idle").unwrap();
            assert_eq!((report.leased, report.succeeded), (1, 1));
        }
        scene.assert_sound().await;
    }

    async fn a_schedule_makes_one_job_per_tick_however_many_workers(db) {
        let scene = Scene::with(&db, still(), |registry, _| {
            registry.schedule(hourly());
        })
        .await;
        let elsewhere = scene.elsewhere().await;
        let workers = [
            Working::start(&scene.engine, options("a")),
            Working::start(&scene.engine, options("b")),
            Working::start(&elsewhere, options("c")),
        ];
        for tick in 1..=3 {
            bpc_testkit::eventually(SOON, || async { scene.events_of("SUCCEEDED").await == tick }).await;
            // Further into the same hour, nothing new is due.
            scene.advance(Duration::from_secs(1800));
            assert_eq!(scene.events_of("ENQUEUED").await, tick);
            scene.advance(Duration::from_secs(1800));
        }
        for worker in workers {
            worker.stop().await;
        }
        // A worker that starts in a tick that is done does not do it again.
        let ticks = scene.events_of("ENQUEUED").await;
        let again = Working::start(&scene.engine, options("d"));
        let marker = scene.enqueue(Act::Nothing).await;
        scene.until(marker, Status::Succeeded).await;
        again.stop().await;
        assert!((ticks + 1..=ticks + 2).contains(&scene.events_of("ENQUEUED").await));
        scene.assert_sound().await;
    }

    async fn a_schedule_serves_each_tenant(db) {
        let scene = Scene::with(&db, still(), |registry, _| {
            registry.schedule(hourly());
        })
        .await;
        scene.other_tenant().await;
        let working = Working::start(&scene.engine, options("w"));
        bpc_testkit::eventually(SOON, || async { scene.events_of("SUCCEEDED").await == 2 }).await;
        working.stop().await;
        assert_eq!(scene.count("SELECT count(DISTINCT tenant_id) FROM ended_jobs").await, 2);
        scene.assert_sound().await;
    }
}
