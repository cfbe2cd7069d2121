//! Failed attempts, dead letters, and what people do about them.

mod common;

use std::time::Duration;

use bpc_core::Status;
use bpc_core::job::JobEvent;
use bpc_worker::{Effects, EngineError, JobId, Settled, Stopping};
use common::{ACTOR, Act, SOON, Scene, TTL, Working, ended, failed, job, options, succeeded};

const JUSTIFICATION: &str = "the cause is mended";

impl Scene {
    /// The delays between the attempts of a job.
    async fn delays_ms(&self, id: JobId) -> Vec<u64> {
        let history = self.history(id).await;
        let events = history.events.iter();
        let events =
            events.map(|event| JobEvent::read(&event.event_type, 1, event.payload.as_bytes()).unwrap());
        events
            .filter_map(|event| match event {
                JobEvent::RetryScheduled { delay_ms, .. } => Some(delay_ms),
                _ => None,
            })
            .collect()
    }

    /// Let a job fail until it is finished, however long its retries wait.
    async fn fail_to_the_end(&self, id: JobId) {
        for _ in 0..20 {
            self.work().await;
            if self.status(id).await.is_finished() {
                return;
            }
            self.advance(Duration::from_secs(2000));
        }
        panic!("not finished: {}", self.story(id).await);
    }

    async fn replay(&self, id: JobId) -> Result<bpc_core::Job, EngineError> {
        self.engine.replay(self.tenant, ACTOR, id, JUSTIFICATION.to_owned()).await
    }

    async fn cancel(&self, id: JobId) -> Result<bpc_core::Job, EngineError> {
        self.engine.cancel(self.tenant, ACTOR, id, Some("not wanted".to_owned())).await
    }
}

bpc_testkit::on_both_databases! {
    async fn five_attempts_wait_2_4_8_and_16_seconds_and_a_tenth_more_at_most(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Fail { retryable: true }).await;
        for seconds in [2, 4, 8, 16] {
            assert_eq!(scene.work().await.failed, 1);
            assert_eq!((scene.status(id).await, scene.why(id).await), (Status::Queued, "RETRY_WAIT"));
            scene.advance(Duration::from_secs(seconds) - Duration::from_millis(1));
            assert_eq!(scene.work().await.leased, 0, "not before {seconds} s");
            scene.advance(Duration::from_millis(1 + seconds * 100));
        }
        assert_eq!(scene.work().await.failed, 1);
        assert_eq!((scene.status(id).await, scene.notes.runs(id)), (Status::DeadLetter, 5));
        for (delay_ms, ideal_ms) in scene.delays_ms(id).await.into_iter().zip([2000, 4000, 8000, 16_000]) {
            assert!((ideal_ms..=ideal_ms + ideal_ms / 10).contains(&delay_ms), "{delay_ms} ms");
        }
        let failed = " LEASED FAILED RETRY_SCHEDULED".repeat(4);
        assert_eq!(scene.story(id).await, format!("ENQUEUED{failed} LEASED FAILED DEAD_LETTERED"));
        assert_eq!(scene.count("SELECT count(*) FROM dead_letters").await, 1);
        scene.advance(Duration::from_secs(100_000));
        assert_eq!(scene.work().await.leased, 0);
        scene.assert_sound().await;
    }

    async fn a_permanent_failure_is_final_at_once(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Fail { retryable: false }).await;
        scene.work().await;
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED FAILED");
        assert_eq!((scene.status(id).await, scene.why(id).await), (Status::Failed, "FAILED"));
        scene.advance(Duration::from_secs(100_000));
        assert_eq!(scene.work().await.leased, 0);
        scene.assert_sound().await;
    }

    async fn a_job_that_recovers_in_its_last_attempt_succeeds(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::SucceedAt { attempt: 5 }).await;
        scene.fail_to_the_end(id).await;
        assert_eq!((scene.status(id).await, scene.notes.runs(id)), (Status::Succeeded, 5));
        scene.assert_sound().await;
    }

    async fn a_job_whose_worker_dies_five_times_is_a_dead_letter(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        for attempt in 1..=5 {
            let leased = scene.lease_one("mortal").await;
            assert_eq!(leased.job.attempts, attempt);
            scene.advance(TTL);
            assert_eq!(scene.engine.expire(10).await.unwrap(), 1);
        }
        let expired = " LEASED LEASE_EXPIRED".repeat(5);
        assert_eq!(scene.story(id).await, format!("ENQUEUED{expired} DEAD_LETTERED"));
        assert_eq!(scene.error_code(id).await, "LEASE_EXPIRED");
        assert_eq!(scene.status(id).await, Status::DeadLetter);
        scene.assert_sound().await;
    }

    async fn failures_and_lost_leases_are_counted_together(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue_job(job(Act::Nothing).max_attempts(3)).await;
        scene.lease_one("mortal").await;
        scene.advance(TTL);
        scene.engine.expire(10).await.unwrap();
        let attempt = failed(&scene.lease_one("w").await, "FLAKY", true);
        assert_eq!(scene.settle("w", attempt).await, Settled::Recorded(Status::Queued));
        scene.advance(Duration::from_secs(5));
        let attempt = failed(&scene.lease_one("w").await, "FLAKY", true);
        assert_eq!(scene.settle("w", attempt).await, Settled::Recorded(Status::DeadLetter));
        assert_eq!(scene.delays_ms(id).await, [4000]);
        scene.assert_sound().await;
    }

    async fn any_worker_takes_back_what_a_dead_one_held(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        scene.lease_one("dead").await;
        scene.advance(TTL);
        assert_eq!(scene.work().await.succeeded, 1);
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED LEASE_EXPIRED LEASED SUCCEEDED");
        scene.assert_sound().await;
    }

    async fn workers_that_reap_at_once_take_each_lease_back_once(db) {
        let scene = Scene::still(&db).await;
        for _ in 0..40 {
            scene.enqueue(Act::Nothing).await;
        }
        assert_eq!(scene.lease("dead", 40).await.len(), 40);
        scene.advance(TTL);
        let elsewhere = scene.elsewhere().await;
        let (here, there, again) =
            tokio::join!(scene.engine.expire(40), elsewhere.expire(40), scene.engine.expire(40));
        assert_eq!(here.unwrap() + there.unwrap() + again.unwrap(), 40);
        assert_eq!(scene.events_of("LEASE_EXPIRED").await, 40);
        scene.assert_sound().await;
    }

    async fn a_retryable_failure_is_never_stranded(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let attempt = failed(&scene.lease_one("w").await, "FLAKY", true);
        scene.store().fault.fail_not_persisted(0);
        scene.engine.settle("w", std::slice::from_ref(&attempt)).await.unwrap_err();
        // Neither half of it is there, and the lease goes on.
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED");
        scene.store().fault.fail_but_persisted(0);
        scene.engine.settle("w", std::slice::from_ref(&attempt)).await.unwrap_err();
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED FAILED RETRY_SCHEDULED");
        assert_eq!(scene.settle("w", attempt).await, Settled::Already);
        scene.assert_sound().await;
    }

    async fn a_waiting_job_is_cancelled_at_once(db) {
        let scene = Scene::still(&db).await;
        let waiting = scene.enqueue(Act::Nothing).await;
        let retrying = scene.enqueue(Act::Fail { retryable: true }).await;
        scene.cancel(waiting).await.unwrap();
        scene.work().await;
        scene.cancel(retrying).await.unwrap();
        for id in [waiting, retrying] {
            assert_eq!((scene.status(id).await, scene.why(id).await), (Status::Cancelled, "CANCELLED"));
            assert_eq!(scene.cancel(id).await.unwrap_err().code(), "INVALID_JOB_STATUS");
            assert_eq!(scene.replay(id).await.unwrap_err().code(), "INVALID_JOB_STATUS");
        }
        assert_eq!(scene.notes.runs(waiting), 0);
        scene.advance(Duration::from_secs(100));
        assert_eq!(scene.work().await.leased, 0);
        scene.assert_sound().await;
    }

    async fn a_running_handler_sees_the_cancel_request(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::Hold).await;
        let working = Working::start(&scene.engine, options("w"));
        scene.until(id, Status::Running).await;
        bpc_testkit::eventually(SOON, || async { scene.notes.running() == 1 }).await;
        // From another process: on SQLite nothing but polling tells the worker.
        let elsewhere = scene.elsewhere().await;
        elsewhere.cancel(scene.tenant, ACTOR, id, None).await.unwrap();
        elsewhere.cancel(scene.tenant, ACTOR, id, None).await.unwrap();
        scene.until(id, Status::Cancelled).await;
        assert_eq!(scene.notes.stop(id), Some(Stopping::Cancelled));
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED CANCEL_REQUESTED CANCELLED");
        working.stop().await;
        scene.assert_sound().await;
    }

    async fn a_success_stands_even_if_a_cancel_was_requested(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::HoldDeaf).await;
        let working = Working::start(&scene.engine, options("w"));
        bpc_testkit::eventually(SOON, || async { scene.notes.running() == 1 }).await;
        scene.cancel(id).await.unwrap();
        scene.notes.let_go(1);
        scene.until(id, Status::Succeeded).await;
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED CANCEL_REQUESTED SUCCEEDED");
        working.stop().await;
        scene.assert_sound().await;
    }

    async fn a_job_to_be_cancelled_is_not_tried_again(db) {
        let scene = Scene::still(&db).await;
        let mut ids = Vec::new();
        for n in 0..4 {
            let id = scene.enqueue(Act::Nothing).await;
            let leased = scene.lease_one("w").await;
            scene.cancel(id).await.unwrap();
            let attempt = match n {
                0 => Some(failed(&leased, "FLAKY", true)),
                1 => Some(ended(&leased, bpc_core::job::Outcome::Released, Effects::none())),
                2 => {
                    let snoozed = bpc_core::job::Outcome::Snoozed { delay: TTL };
                    Some(ended(&leased, snoozed, Effects::none()))
                }
                _ => None,
            };
            if let Some(attempt) = attempt {
                assert_eq!(scene.settle("w", attempt).await, Settled::Recorded(Status::Cancelled));
            }
            ids.push(id);
        }
        // The worker of the last one was never heard of again.
        scene.advance(TTL);
        scene.engine.expire(10).await.unwrap();
        for id in ids {
            assert_eq!(scene.status(id).await, Status::Cancelled);
        }
        scene.assert_sound().await;
    }

    async fn a_replayed_dead_letter_keeps_its_history_and_starts_from_no_attempts(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue_job(job(Act::Fail { retryable: true }).max_attempts(2)).await;
        scene.fail_to_the_end(id).await;
        let before = scene.story(id).await;
        let replayed = scene.replay(id).await.unwrap();
        assert_eq!((replayed.status(), replayed.attempts), (Status::Queued, 0));
        assert_eq!(scene.story(id).await, format!("{before} REPLAYED"));
        let newest = scene.history(id).await.events.pop().unwrap();
        assert!(newest.payload.contains(JUSTIFICATION) && newest.payload.contains(ACTOR));
        assert_eq!(scene.replay(id).await.unwrap_err().code(), "INVALID_JOB_STATUS");
        scene.assert_sound().await;
        scene.fail_to_the_end(id).await;
        let round = " LEASED FAILED RETRY_SCHEDULED LEASED FAILED DEAD_LETTERED";
        assert_eq!(scene.story(id).await, format!("ENQUEUED{round} REPLAYED{round}"));
        scene.assert_sound().await;
    }

    async fn people_who_replay_at_once_send_it_back_once(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Fail { retryable: false }).await;
        scene.work().await;
        let (a, b, c) = tokio::join!(scene.replay(id), scene.replay(id), scene.replay(id));
        assert_eq!([a, b, c].into_iter().filter(Result::is_ok).count(), 1);
        assert_eq!(scene.events_of("REPLAYED").await, 1);
        scene.assert_sound().await;
    }

    async fn a_late_completion_of_a_replayed_job_is_refused(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue_job(job(Act::Nothing).max_attempts(1)).await;
        let late = scene.lease_one("slow").await;
        scene.advance(TTL);
        scene.engine.expire(10).await.unwrap();
        scene.replay(id).await.unwrap();
        // The same worker and the same number of attempt: only the fence tells them apart.
        let next = scene.lease_one("slow").await;
        assert_eq!(late.job.attempts, next.job.attempts);
        assert_eq!(scene.settle("slow", succeeded(&late, Effects::none())).await, Settled::Refused);
        let settled = scene.settle("slow", succeeded(&next, Effects::none())).await;
        assert_eq!(settled, Settled::Recorded(Status::Succeeded));
        scene.assert_sound().await;
    }

    async fn a_resolved_job_is_closed(db) {
        let scene = Scene::still(&db).await;
        let dead = scene.enqueue_job(job(Act::Fail { retryable: true }).max_attempts(1)).await;
        let failed = scene.enqueue(Act::Fail { retryable: false }).await;
        scene.work().await;
        for id in [dead, failed] {
            scene.engine.resolve(scene.tenant, ACTOR, id, "paid by hand".to_owned()).await.unwrap();
            assert_eq!((scene.status(id).await, scene.why(id).await), (Status::Failed, "RESOLVED"));
            assert_eq!(scene.replay(id).await.unwrap_err().code(), "JOB_RESOLVED");
            let again = scene.engine.resolve(scene.tenant, ACTOR, id, String::new()).await;
            assert_eq!(again.unwrap_err().code(), "JOB_RESOLVED");
        }
        assert_eq!(scene.count("SELECT count(*) FROM dead_letters").await, 0);
        let waiting = scene.enqueue(Act::Nothing).await;
        let refused = scene.engine.resolve(scene.tenant, ACTOR, waiting, String::new()).await;
        assert_eq!(refused.unwrap_err().code(), "INVALID_JOB_STATUS");
        scene.assert_sound().await;
    }

    async fn an_error_message_may_hold_any_character(db) {
        let scene = Scene::still(&db).await;
        let message = "zero \0, quote \", line\n, umlaut ü, \u{1f600}".to_owned();
        let id = scene.enqueue(Act::Say { message }).await;
        let neighbour = scene.enqueue(Act::Nothing).await;
        scene.work().await;
        assert_eq!((scene.status(id).await, &*scene.error_code(id).await), (Status::Failed, "PROBE_FAILED"));
        assert_eq!(scene.status(neighbour).await, Status::Succeeded);
        scene.assert_sound().await;
    }
}
