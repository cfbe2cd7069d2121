//! Who gets a job, who may settle it, and what a settled attempt leaves.

#[path = "../common/mod.rs"]
mod common;
mod neighbours;

use std::collections::HashSet;
use std::time::Duration;

use bpc_core::Status;
use bpc_core::job::Outcome;
use bpc_worker::{Due, Effects, Keep, Kept, Settled, StreamId, Version};
use common::{Act, LEDGER, Scene, TTL, ended, entered, failed, job, lane, second, succeeded};

const SECOND: Duration = Duration::from_secs(1);

/// An event on a ledger of its own, a follow-up, a blob and a row by SQL.
fn everything(scene: &Scene, name: &str) -> Effects {
    let (effects, _) = Effects::none().blob(name.as_bytes().to_vec());
    let ledger = StreamId::derived("ledger", name);
    effects
        .emit(scene.tenant, LEDGER, ledger, Version::NONE, vec![entered()])
        .enqueue(second(Act::Nothing))
        .sql(common::MARK, vec![bpc_worker::SqlValue::Text(name.to_owned())])
}

bpc_testkit::on_both_databases! {
    async fn a_late_completion_cannot_overwrite_its_successor(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let late = scene.lease_one("slow").await;
        scene.advance(TTL);
        assert_eq!(scene.engine.expire(10).await.unwrap(), 1);
        let successor = scene.lease_one("fast").await;
        let settled = scene.settle("slow", succeeded(&late, everything(&scene, "late"))).await;
        assert_eq!(settled, Settled::Refused);
        assert_eq!((scene.left_behind().await, scene.events_of("ENQUEUED").await), ((0, 0, 0), 1));
        scene.assert_sound().await;
        let settled = scene.settle("fast", succeeded(&successor, everything(&scene, "fast"))).await;
        assert_eq!(settled, Settled::Recorded(Status::Succeeded));
        // And once more when the job is long done.
        let settled = scene.settle("slow", succeeded(&late, everything(&scene, "late"))).await;
        assert_eq!(settled, Settled::Refused);
        let expected = "ENQUEUED LEASED LEASE_EXPIRED LEASED STALE_COMPLETION_REFUSED SUCCEEDED \
            STALE_COMPLETION_REFUSED";
        assert_eq!(scene.story(id).await, expected);
        assert!(scene.history(id).await.events[4].payload.contains(r#""worker_id":"slow""#));
        assert_eq!(scene.left_behind().await, (1, 1, 1));
        scene.assert_sound().await;
    }

    async fn a_completion_after_the_lease_ended_is_refused_even_if_nobody_took_it_over(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let leased = scene.lease_one("w").await;
        scene.advance(TTL);
        let settled = scene.settle("w", succeeded(&leased, everything(&scene, "late"))).await;
        assert_eq!(settled, Settled::Refused);
        assert_eq!(scene.left_behind().await, (0, 0, 0));
        assert_eq!(scene.engine.expire(10).await.unwrap(), 1);
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED STALE_COMPLETION_REFUSED LEASE_EXPIRED");
        assert_eq!(scene.status(id).await, Status::Queued);
        scene.assert_sound().await;
    }

    async fn a_completion_in_the_last_moment_of_the_lease_counts(db) {
        let scene = Scene::still(&db).await;
        scene.enqueue(Act::Nothing).await;
        let leased = scene.lease_one("w").await;
        scene.advance(TTL - Duration::from_micros(1));
        assert_eq!(scene.engine.expire(10).await.unwrap(), 0);
        let settled = scene.settle("w", succeeded(&leased, Effects::none())).await;
        assert_eq!(settled, Settled::Recorded(Status::Succeeded));
        scene.assert_sound().await;
    }

    async fn a_lease_is_renewed_while_it_holds_and_not_after(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let leased = scene.lease_one("w").await;
        let fence = leased.job.lease().unwrap().fence;
        let keep = [Keep { job_id: id, fence, renew: true, progress: None }];
        for (pass, expected) in [
            (TTL - SECOND, Kept::Held { progressed: false }),
            (TTL - SECOND, Kept::Held { progressed: false }),
            (TTL, Kept::Lost),
        ] {
            scene.advance(pass);
            let kept = scene.engine.keep("w", &keep, TTL).await.unwrap();
            assert_eq!(kept[&id], expected);
        }
        assert_eq!(scene.settle("w", succeeded(&leased, Effects::none())).await, Settled::Refused);
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED RENEWED RENEWED STALE_COMPLETION_REFUSED");
        scene.assert_sound().await;
    }

    async fn progress_is_kept_every_two_seconds_and_never_goes_back(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let fence = scene.lease_one("w").await.job.lease().unwrap().fence;
        for (pass, percent, progressed) in
            [(0, 10, true), (1, 20, false), (1, 20, true), (5, 15, true), (0, 20, true), (9, 100, true)]
        {
            scene.advance(SECOND * pass);
            let progress = Some((percent, Some("step".to_owned()), None));
            let keep = [Keep { job_id: id, fence, renew: false, progress }];
            let kept = scene.engine.keep("w", &keep, TTL).await.unwrap();
            assert_eq!(kept[&id], Kept::Held { progressed }, "{percent} % after {pass} s");
        }
        let story = "ENQUEUED LEASED PROGRESSED PROGRESSED PROGRESSED PROGRESSED";
        assert_eq!(scene.story(id).await, story);
        scene.assert_sound().await;
    }

    async fn progress_that_cannot_be_recorded_costs_nobody_the_lease(db) {
        let scene = Scene::still(&db).await;
        let mut keeps = Vec::new();
        for message in [Some("x".repeat(300_000)), None] {
            let id = scene.enqueue(Act::Nothing).await;
            let fence = scene.lease_one("w").await.job.lease().unwrap().fence;
            keeps.push(Keep { job_id: id, fence, renew: true, progress: Some((50, None, message)) });
        }
        let kept = scene.engine.keep("w", &keeps, TTL).await.unwrap();
        assert!(kept.values().all(|kept| *kept == Kept::Held { progressed: true }), "{kept:?}");
        assert_eq!(scene.story(keeps[0].job_id).await, "ENQUEUED LEASED RENEWED");
        assert_eq!(scene.story(keeps[1].job_id).await, "ENQUEUED LEASED RENEWED PROGRESSED");
        scene.assert_sound().await;
    }

    async fn the_place_of_a_row_may_have_become_that_of_another_job(db) {
        let scene = Scene::still(&db).await;
        let (one, other) = (scene.enqueue(Act::Nothing).await, scene.enqueue(Act::Nothing).await);
        let mut leased = scene.lease("w", 2).await;
        leased.sort_by_key(|it| it.job.job_id != one);
        let mut attempt = succeeded(&leased[0], Effects::none());
        attempt.place = leased[1].place.clone();
        assert_eq!(scene.settle("w", attempt).await, Settled::Recorded(Status::Succeeded));
        assert_eq!((scene.status(one).await, scene.status(other).await), (Status::Succeeded, Status::Running));
        scene.assert_sound().await;
        let attempt = succeeded(&leased[1], Effects::none());
        assert_eq!(scene.settle("w", attempt).await, Settled::Recorded(Status::Succeeded));
        scene.assert_sound().await;
    }

    async fn settling_twice_says_already(db) {
        let scene = Scene::still(&db).await;
        for n in 0..4 {
            let id = scene.enqueue(Act::Nothing).await;
            let leased = scene.lease_one("w").await;
            let attempt = match n {
                0 => succeeded(&leased, everything(&scene, "once")),
                1 => failed(&leased, "PERMANENT", false),
                2 => failed(&leased, "RETRYABLE", true),
                _ => ended(&leased, Outcome::Snoozed { delay: SECOND }, Effects::none()),
            };
            assert!(matches!(scene.settle("w", attempt.clone()).await, Settled::Recorded(_)));
            let told = scene.story(id).await;
            assert_eq!(scene.settle("w", attempt).await, Settled::Already);
            assert_eq!(scene.story(id).await, told);
            // The follow-up of the first is none of the others' business.
            scene.lease("w", 10).await;
        }
        assert_eq!(scene.left_behind().await, (1, 1, 1));
        scene.assert_sound().await;
    }

    async fn a_lost_answer_is_found_by_settling_again(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let attempt = succeeded(&scene.lease_one("w").await, everything(&scene, "once"));
        scene.store().fault.fail_but_persisted(0);
        let batch = std::slice::from_ref(&attempt);
        assert!(scene.engine.settle("w", batch).await.unwrap_err().is_unavailable());
        assert_eq!(scene.engine.settle("w", batch).await.unwrap(), [Settled::Already]);
        assert_eq!(scene.story(id).await, "ENQUEUED LEASED SUCCEEDED");
        assert_eq!(scene.left_behind().await, (1, 1, 1));
        scene.assert_sound().await;
    }

    async fn only_the_worker_that_leased_may_settle(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let leased = scene.lease_one("w").await;
        assert_eq!(scene.settle("thief", succeeded(&leased, Effects::none())).await, Settled::Refused);
        assert_eq!(scene.status(id).await, Status::Running);
        let settled = scene.settle("w", succeeded(&leased, Effects::none())).await;
        assert_eq!(settled, Settled::Recorded(Status::Succeeded));
        scene.assert_sound().await;
    }

    async fn an_old_and_a_new_attempt_of_one_job_are_told_apart_in_one_batch(db) {
        let scene = Scene::still(&db).await;
        for is_old_first in [true, false] {
            let id = scene.enqueue(Act::Nothing).await;
            let old = scene.lease_one("w").await;
            scene.advance(TTL);
            scene.engine.expire(10).await.unwrap();
            let new = scene.lease_one("w").await;
            let mut batch = vec![succeeded(&old, Effects::none()), succeeded(&new, Effects::none())];
            let mut expected = vec![Settled::Refused, Settled::Recorded(Status::Succeeded)];
            if !is_old_first {
                batch.reverse();
                expected.reverse();
            }
            assert_eq!(scene.engine.settle("w", &batch).await.unwrap(), expected);
            assert_eq!(scene.status(id).await, Status::Succeeded);
            scene.assert_sound().await;
        }
    }

    async fn effects_are_committed_in_one_transaction(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let attempt = succeeded(&scene.lease_one("w").await, everything(&scene, "all"));
        scene.store().fault.fail_not_persisted(0);
        assert!(scene.engine.settle("w", std::slice::from_ref(&attempt)).await.is_err());
        assert_eq!((scene.left_behind().await, scene.events_of("ENQUEUED").await), ((0, 0, 0), 1));
        assert_eq!(scene.status(id).await, Status::Running);
        scene.assert_sound().await;
        let settled = scene.settle("w", attempt).await;
        assert_eq!(settled, Settled::Recorded(Status::Succeeded));
        assert_eq!((scene.left_behind().await, scene.events_of("ENQUEUED").await), ((1, 1, 1), 2));
        let newest = scene.history(id).await.events.pop().unwrap();
        assert_eq!(newest.payload.matches("stream_id").count(), 2, "{}", newest.payload);
        assert_eq!(scene.work().await.succeeded, 1, "the follow-up");
        scene.assert_sound().await;
    }

    async fn a_released_or_snoozed_attempt_is_not_counted(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue_job(job(Act::Nothing).max_attempts(1)).await;
        for _ in 0..3 {
            let released = ended(&scene.lease_one("w").await, Outcome::Released, Effects::none());
            assert_eq!(scene.settle("w", released).await, Settled::Recorded(Status::Queued));
            let snoozed = Outcome::Snoozed { delay: SECOND };
            let snoozed = ended(&scene.lease_one("w").await, snoozed, Effects::none());
            assert_eq!(scene.settle("w", snoozed).await, Settled::Recorded(Status::Queued));
            assert!(scene.lease("w", 1).await.is_empty(), "not before the snooze is over");
            scene.advance(SECOND);
        }
        assert_eq!(scene.history(id).await.job.attempts, 0);
        assert_eq!(scene.lease_one("w").await.job.attempts, 1);
        scene.assert_sound().await;
    }

    async fn two_workers_leasing_at_once_never_get_the_same_job(db) {
        let scene = Scene::still(&db).await;
        let jobs = (0..200).map(|_| job(Act::Nothing)).collect();
        scene.engine.enqueue_all(scene.tenant, common::ACTOR, jobs).await.unwrap();
        let elsewhere = scene.elsewhere().await;
        let lanes = [lane(scene.tenant, "default", 7)];
        let leasing = ["a", "b", "c", "d"].map(|worker| {
            let engine = if worker < "c" { scene.engine.clone() } else { elsewhere.clone() };
            let lanes = lanes.clone();
            tokio::spawn(async move {
                let mut mine = Vec::new();
                loop {
                    let leased = engine.lease(worker, &lanes, 7, TTL).await.unwrap();
                    if leased.is_empty() {
                        return mine;
                    }
                    assert!(leased.len() <= 7);
                    mine.extend(leased.into_iter().map(|it| it.job.job_id));
                }
            })
        });
        let mut all = Vec::new();
        for leased in leasing {
            all.extend(leased.await.unwrap());
        }
        // A round that met only jobs in others' hands ended early; nobody holds them now.
        all.extend(scene.lease("e", 200).await.into_iter().map(|it| it.job.job_id));
        assert_eq!((all.len(), all.iter().collect::<HashSet<_>>().len()), (200, 200));
        assert_eq!(scene.events_of("LEASED").await, 200);
        scene.assert_sound().await;
    }

    async fn jobs_are_leased_by_priority_then_due_time(db) {
        let scene = Scene::still(&db).await;
        let mut expected = Vec::new();
        // Enqueued in the opposite of the order they are due in.
        for (priority, seconds) in [(3, 0), (2, 9), (2, 3), (1, 5), (1, 4), (0, 8), (0, 1)] {
            let due = Due::After(Duration::from_secs(seconds));
            let id = scene.enqueue_job(job(Act::Nothing).priority(priority).due(due)).await;
            expected.insert(0, id);
        }
        scene.advance(Duration::from_secs(10));
        let first: Vec<_> = scene.lease("w", 4).await.into_iter().map(|it| it.job.job_id).collect();
        assert_eq!(first, expected[..4]);
        let rest: Vec<_> = scene.lease("w", 4).await.into_iter().map(|it| it.job.job_id).collect();
        assert_eq!(rest, expected[4..]);
        scene.assert_sound().await;
    }

    async fn several_queues_are_leased_as_one_order(db) {
        let scene = Scene::still(&db).await;
        let mut expected = Vec::new();
        for (queue, priority) in [("b", 3), ("a", 2), ("b", 1), ("a", 0)] {
            let id = scene.enqueue_job(job(Act::Nothing).queue(queue).priority(priority)).await;
            expected.insert(0, id);
        }
        scene.enqueue_job(job(Act::Nothing).queue("c").priority(0)).await;
        let lanes = ["a", "b"].map(|queue| lane(scene.tenant, queue, 3));
        let leased = scene.engine.lease("w", &lanes, 3, TTL).await.unwrap();
        assert_eq!(leased.iter().map(|it| it.job.job_id).collect::<Vec<_>>(), expected[..3]);
        scene.assert_sound().await;
    }

    async fn jobs_of_types_without_a_handler_are_left_alone(db) {
        let scene = Scene::still(&db).await;
        let strange = scene.enqueue_job(second(Act::Nothing).priority(0)).await;
        let known = scene.enqueue(Act::Nothing).await;
        let mut registry = bpc_worker::Registry::new();
        registry.job(common::Probe::new(&scene.notes));
        let engine = bpc_worker::Engine::new(scene.store().clone(), registry);
        let leased = engine.lease("w", &[lane(scene.tenant, "default", 9)], 9, TTL).await.unwrap();
        assert_eq!(leased.iter().map(|it| it.job.job_id).collect::<Vec<_>>(), [known]);
        assert_eq!(engine.why(scene.tenant, strange).await.unwrap().unwrap().code, "UNSUPPORTED_JOB_TYPE");
        assert_eq!(scene.lease_one("v").await.job.job_id, strange);
        scene.assert_sound().await;
    }
}
