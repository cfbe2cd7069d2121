//! The worker at work: runs what there is, and nothing a handler does ends it.

#[path = "../common/mod.rs"]
mod common;
mod lanes;
mod leases;
mod seal;
mod stop;
mod wake;

use std::time::Duration;

use bpc_core::Status;
use bpc_worker::{Enqueue, JobPolicy, StreamId, WorkerOptions};
use common::{ACTOR, Act, SOON, Scene, Working, job, options, second};

bpc_testkit::on_both_databases! {
    async fn it_runs_everything_and_its_follow_ups_and_returns_when_idle(db) {
        let scene = Scene::still(&db).await;
        let first = scene.enqueue(Act::Everything { follow_ups: 3 }).await;
        scene.enqueue_job(job(Act::Nothing).due(bpc_worker::Due::After(SOON))).await;
        // 1, then 3, then 3 x 2, then 6 x 1.
        let report = scene.work().await;
        assert_eq!((report.leased, report.succeeded, report.failed), (16, 16, 0));
        assert_eq!(scene.left_behind().await, (16, 16, 16));
        assert_eq!(scene.story(first).await, "ENQUEUED LEASED SUCCEEDED");
        assert_eq!(scene.work().await.leased, 0);
        scene.assert_sound().await;
    }

    async fn a_thousand_jobs_on_two_workers_are_done_once_each(db) {
        let scene = Scene::still(&db).await;
        let jobs = (0..1000).map(|n| if n % 10 == 0 { job(Act::Everything { follow_ups: 1 }) } else { job(Act::Nothing) });
        scene.engine.enqueue_all(scene.tenant, ACTOR, jobs.collect()).await.unwrap();
        let elsewhere = scene.elsewhere().await;
        let until_idle = |name| WorkerOptions { until_idle: true, ..options(name) };
        let here = Working::start(&scene.engine, until_idle("here"));
        let there = Working::start(&elsewhere, until_idle("there"));
        bpc_testkit::eventually(SOON, || async { here.has_ended() && there.has_ended() }).await;
        assert_eq!(here.stop().await.succeeded + there.stop().await.succeeded, 1100);
        assert_eq!((scene.notes.runs_in_all(), scene.events_of("SUCCEEDED").await), (1100, 1100));
        assert_eq!(scene.left_behind().await, (200, 200, 200));
        scene.assert_sound().await;
    }

    async fn a_panic_is_a_failed_attempt_and_the_worker_goes_on(db) {
        let scene = Scene::still(&db).await;
        let panics = scene.enqueue_job(job(Act::Panic).priority(0)).await;
        let neighbour = scene.enqueue(Act::Nothing).await;
        let report = scene.work().await;
        assert_eq!((report.succeeded, report.failed), (1, 1));
        assert_eq!((scene.status(panics).await, &*scene.error_code(panics).await), (Status::Queued, "PANIC"));
        let message = scene.history(panics).await.job.last_error.unwrap().message;
        assert_eq!(message, "the handler panicked: as asked");
        assert_eq!(scene.status(neighbour).await, Status::Succeeded);
        scene.assert_sound().await;
    }

    async fn a_payload_that_does_not_decode_fails_for_good(db) {
        let scene = Scene::still(&db).await;
        let mut ids = Vec::new();
        for payload in [r#"{"act":"dance"}"#, "7", "{}", r#"{"act":"take"}"#, "[]"] {
            ids.push(scene.enqueue_job(Enqueue::from_json("PROBE", payload.as_bytes()).unwrap()).await);
        }
        assert_eq!(scene.work().await.failed, 5);
        for id in ids {
            assert_eq!((scene.status(id).await, &*scene.error_code(id).await), (Status::Failed, "VALIDATION_ERROR"));
            assert_eq!(scene.notes.runs(id), 0);
        }
        scene.assert_sound().await;
    }

    async fn a_snoozed_job_comes_back_and_the_snooze_is_no_attempt(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Snooze { ms: 5000 }).await;
        let report = scene.work().await;
        assert_eq!((report.leased, report.returned), (1, 1));
        assert_eq!(scene.history(id).await.job.attempts, 0);
        scene.advance(Duration::from_secs(5));
        assert_eq!(scene.work().await.succeeded, 1);
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED SNOOZED LEASED SUCCEEDED");
        assert_eq!(scene.history(id).await.job.attempts, 1);
        scene.assert_sound().await;
    }

    async fn handlers_that_race_for_a_stream_decide_again(db) {
        let scene = Scene::still(&db).await;
        let ledger = StreamId::derived("ledger", "busy");
        for _ in 0..5 {
            scene.enqueue(Act::Enter { ledger }).await;
        }
        while scene.work().await.leased > 0 {
            scene.advance(Duration::from_secs(20));
        }
        assert_eq!((scene.entries(ledger).await, scene.events_of("SUCCEEDED").await), (5, 5));
        scene.assert_sound().await;
    }

    async fn no_more_handlers_run_than_asked_for(db) {
        let scene = Scene::still(&db).await;
        let jobs = (0..30).map(|_| job(Act::Take { ms: 5 })).collect();
        scene.engine.enqueue_all(scene.tenant, ACTOR, jobs).await.unwrap();
        let working = Working::start(&scene.engine, WorkerOptions { concurrency: 3, ..options("w") });
        bpc_testkit::eventually(SOON, || async { scene.events_of("SUCCEEDED").await == 30 }).await;
        working.stop().await;
        assert!((1..=3).contains(&scene.notes.running_most()));
        scene.assert_sound().await;
    }

    async fn urgent_jobs_are_begun_first(db) {
        let scene = Scene::still(&db).await;
        let mut expected = Vec::new();
        for priority in [3, 2, 1, 0] {
            expected.insert(0, scene.enqueue_job(job(Act::Nothing).priority(priority)).await);
        }
        let working = Working::start(&scene.engine, WorkerOptions { concurrency: 1, ..options("w") });
        bpc_testkit::eventually(SOON, || async { scene.events_of("SUCCEEDED").await == 4 }).await;
        working.stop().await;
        assert_eq!(scene.notes.order(), expected);
        scene.assert_sound().await;
    }

    async fn a_handler_past_its_hard_limit_has_timed_out(db) {
        let hard_limit = Some(Duration::from_millis(50));
        let scene = Scene::with(&db, common::still(), |_, probe| probe.policy.hard_limit = hard_limit).await;
        let id = scene.enqueue(Act::HoldDeaf).await;
        let quick = scene.enqueue(Act::Nothing).await;
        let report = scene.work().await;
        assert_eq!((report.succeeded, report.failed), (1, 1));
        assert_eq!(scene.status(quick).await, Status::Succeeded);
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED FAILED RETRY_SCHEDULED");
        assert_eq!(scene.error_code(id).await, "TIMEOUT");
        assert_eq!(scene.notes.running(), 0, "nobody is left running");
        scene.assert_sound().await;
    }

    async fn the_soft_limit_is_told_to_the_handler(db) {
        let soft_limit = Some(Duration::from_millis(50));
        let scene = Scene::with(&db, common::still(), |_, probe| probe.policy.soft_limit = soft_limit).await;
        let id = scene.enqueue(Act::Hold).await;
        assert_eq!(scene.work().await.failed, 1);
        assert_eq!(scene.notes.stop(id), Some(bpc_worker::Stopping::SoftLimit));
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED FAILED RETRY_SCHEDULED");
        assert_eq!(scene.error_code(id).await, "TIMEOUT");
        scene.assert_sound().await;
    }

    async fn a_handler_that_computes_does_not_hold_up_the_others(db) {
        let policy = JobPolicy { cpu_bound: true, ..JobPolicy::default() };
        let scene = Scene::ticking_with_policy(&db, policy).await;
        // More of them than there are async threads.
        let mut busy = Vec::new();
        for _ in 0..4 {
            busy.push(scene.enqueue(Act::Compute).await);
        }
        let panics = scene.enqueue_job(job(Act::Panic).max_attempts(1)).await;
        let working = Working::start(&scene.engine, options("w"));
        // A panic takes a while to be told, and until then its job is running too.
        scene.until(panics, Status::DeadLetter).await;
        assert_eq!(scene.error_code(panics).await, "PANIC");
        bpc_testkit::eventually(SOON, || async { scene.notes.running() == 4 }).await;
        let quick = scene.enqueue_job(second(Act::Nothing)).await;
        scene.until(quick, Status::Succeeded).await;
        assert_eq!(scene.notes.running(), 4, "while they still compute");
        scene.notes.let_go(4);
        for id in busy {
            scene.until(id, Status::Succeeded).await;
        }
        working.stop().await;
        scene.assert_sound().await;
    }
}
