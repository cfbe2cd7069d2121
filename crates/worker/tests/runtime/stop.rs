//! Stopping in order: nothing is lost, nothing is spent.

use std::time::Duration;

use bpc_core::Status;
use bpc_worker::{Stopping, WorkerOptions};

use crate::common::{Act, SOON, Scene, Working, options};

impl Scene {
    async fn until_running(&self, jobs: usize) {
        bpc_testkit::eventually(SOON, || async { self.notes.running() == jobs }).await;
    }
}

bpc_testkit::on_both_databases! {
    async fn a_stopping_worker_waits_for_running_handlers(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::HoldDeaf).await;
        let working = Working::start(&scene.engine, options("w"));
        scene.until_running(1).await;
        working.stop.cancel();
        let too_late = scene.enqueue(Act::Nothing).await;
        scene.notes.let_go(1);
        assert_eq!(working.stop().await.succeeded, 1);
        assert_eq!(scene.status(id).await, Status::Succeeded);
        assert_eq!((scene.status(too_late).await, scene.notes.runs(too_late)), (Status::Queued, 0));
        scene.assert_sound().await;
    }

    async fn a_handler_that_listens_gives_its_job_back(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::Hold).await;
        let working = Working::start(&scene.engine, options("w"));
        scene.until_running(1).await;
        assert_eq!(working.stop().await.returned, 1);
        assert_eq!(scene.notes.stop(id), Some(Stopping::WorkerStops));
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED RELEASED");
        assert_eq!(scene.history(id).await.job.attempts, 0);
        scene.assert_sound().await;
    }

    async fn after_the_grace_period_the_rest_is_given_back_unspent(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::HoldDeaf).await;
        let grace = Duration::from_millis(100);
        let working = Working::start(&scene.engine, WorkerOptions { grace, ..options("w") });
        scene.until_running(1).await;
        assert_eq!(working.stop().await.returned, 1);
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED RELEASED");
        assert_eq!(scene.history(id).await.job.attempts, 0);
        assert_eq!(scene.notes.running(), 0);
        // Any other worker may take it at once.
        scene.notes.let_go(1);
        assert_eq!(scene.work().await.succeeded, 1);
        scene.assert_sound().await;
    }

    async fn jobs_not_begun_yet_are_given_back(db) {
        let scene = Scene::ticking(&db).await;
        // A burst of quick jobs makes the worker lease ahead of what it can run.
        let jobs = (0..3000).map(|_| crate::job(Act::Take { ms: 1 })).collect();
        scene.engine.enqueue_all(scene.tenant, crate::ACTOR, jobs).await.unwrap();
        let working = Working::start(&scene.engine, WorkerOptions { concurrency: 2, ..options("w") });
        bpc_testkit::eventually(SOON, || async { scene.notes.runs_in_all() > 100 }).await;
        let report = working.stop().await;
        let begun = u64::from(scene.notes.runs_in_all());
        assert_eq!(report.succeeded, begun);
        assert_eq!(report.leased, begun + report.returned);
        let queued = "SELECT count(*) FROM live_jobs WHERE NOT running AND attempts = 0";
        assert_eq!(scene.count(queued).await as u64, 3000 - begun, "none is leased, none has spent an attempt");
        scene.assert_sound().await;
    }

    async fn a_worker_that_is_stopped_before_it_runs_does_nothing(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let stop = tokio_util::sync::CancellationToken::new();
        stop.cancel();
        let report = bpc_worker::Worker::new(scene.engine.clone(), options("w")).run(stop).await.unwrap();
        assert_eq!((report.leased, scene.status(id).await), (0, Status::Queued));
        scene.assert_sound().await;
    }

    async fn a_cancel_while_the_worker_stops_is_not_lost(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::HoldDeaf).await;
        let grace = Duration::from_millis(300);
        let working = Working::start(&scene.engine, WorkerOptions { grace, ..options("w") });
        scene.until_running(1).await;
        working.stop.cancel();
        scene.engine.cancel(scene.tenant, crate::ACTOR, id, None).await.unwrap();
        working.stop().await;
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED CANCEL_REQUESTED CANCELLED");
        scene.assert_sound().await;
    }
}
