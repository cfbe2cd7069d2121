//! Jobs that are enqueued together: whatever happens to one of them alone, the others go on, and it goes on as if it had
//! been alone from the beginning. On PostgreSQL they share rows until then.

mod common;

use std::collections::HashSet;
use std::time::Duration;

use bpc_core::Status;
use bpc_core::job::Outcome;
use bpc_projections::{JobFilter, jobs_by_status, list_jobs, running_jobs};
use bpc_worker::{Effects, Enqueue, JobId, JobPolicy, Keep, Kept, LeasedJob, Settled, Version};
use common::{ACTOR, Act, Scene, TTL, ended, failed, job, lane, succeeded};

const SECOND: Duration = Duration::from_secs(1);

async fn enqueue_all(scene: &Scene, jobs: usize) -> Vec<JobId> {
    let jobs: Vec<Enqueue> = (0..jobs).map(|_| job(Act::Nothing)).collect();
    let enqueued = scene.engine.enqueue_all(scene.tenant, ACTOR, jobs).await.unwrap();
    enqueued.into_iter().map(|job| job.unwrap().job_id).collect()
}

fn ids(leased: &[LeasedJob]) -> Vec<JobId> {
    leased.iter().map(|leased| leased.job.job_id).collect()
}

async fn succeed(scene: &Scene, leased: &[LeasedJob]) -> Vec<Settled> {
    let attempts: Vec<_> = leased.iter().map(|leased| succeeded(leased, Effects::none())).collect();
    scene.engine.settle("w", &attempts).await.unwrap()
}

bpc_testkit::on_both_databases! {
    async fn are_leased_and_finished_in_any_portions(db) {
        let scene = Scene::still(&db).await;
        let all = enqueue_all(&scene, 150).await;
        let mut order = Vec::new();
        for portion in [1, 2, 63, 64, 100] {
            let leased = scene.lease("w", portion).await;
            order.extend(ids(&leased));
            scene.assert_sound().await;
            // Not in the order in which they were leased, and not at once.
            let (odd, even): (Vec<_>, Vec<_>) =
                leased.into_iter().enumerate().partition(|(number, _)| number % 2 == 1);
            for half in [odd, even] {
                let half: Vec<LeasedJob> = half.into_iter().rev().map(|(_, leased)| leased).collect();
                let settled = succeed(&scene, &half).await;
                assert!(settled.iter().all(|it| *it == Settled::Recorded(Status::Succeeded)));
                scene.assert_sound().await;
            }
        }
        assert_eq!(order.len(), 150);
        assert_eq!(order.iter().collect::<HashSet<_>>(), all.iter().collect());
        for id in [all[0], all[77], all[149]] {
            assert_eq!(scene.story(id).await, "ENQUEUED LEASED SUCCEEDED");
        }
        assert!(scene.lease("w", 1).await.is_empty());
    }

    async fn one_that_fails_is_tried_again_without_the_others(db) {
        let scene = Scene::still(&db).await;
        enqueue_all(&scene, 10).await;
        let leased = scene.lease("w", 10).await;
        let mut attempts: Vec<_> = leased.iter().map(|leased| succeeded(leased, Effects::none())).collect();
        attempts[3] = failed(&leased[3], "TIMEOUT", true);
        attempts[5] = failed(&leased[5], "VALIDATION_ERROR", false);
        attempts[7] = ended(&leased[7], Outcome::Released, Effects::none());
        scene.engine.settle("w", &attempts).await.unwrap();
        scene.assert_sound().await;
        let again = scene.lease("w", 10).await;
        assert_eq!(ids(&again), [leased[7].job.job_id]);
        assert_eq!(again[0].payload, leased[7].payload);
        scene.advance(3 * SECOND);
        let again = scene.lease("w", 10).await;
        assert_eq!(ids(&again), [leased[3].job.job_id]);
        assert_eq!((again[0].job.attempts, &again[0].payload), (2, &leased[3].payload));
        succeed(&scene, &again).await;
        let story = "ENQUEUED LEASED FAILED RETRY_SCHEDULED LEASED SUCCEEDED";
        assert_eq!(scene.story(leased[3].job.job_id).await, story);
        assert_eq!(scene.status(leased[5].job.job_id).await, Status::Failed);
        scene.assert_sound().await;
    }

    async fn one_with_effects_brings_them_once(db) {
        let scene = Scene::still(&db).await;
        enqueue_all(&scene, 8).await;
        let leased = scene.lease("w", 8).await;
        let mut attempts: Vec<_> = leased.iter().map(|leased| succeeded(leased, Effects::none())).collect();
        attempts[2].effects = Effects::none().enqueue(common::second(Act::Nothing));
        let settled = scene.engine.settle("w", &attempts).await.unwrap();
        assert!(settled.iter().all(|it| *it == Settled::Recorded(Status::Succeeded)));
        // The answer was lost, and the worker asks again.
        let again = scene.engine.settle("w", &attempts).await.unwrap();
        assert!(again.iter().all(|it| *it == Settled::Already), "{again:?}");
        assert_eq!(scene.events_of("SUCCEEDED").await, 8);
        assert_eq!(scene.lease("w", 9).await.len(), 1, "the follow-up");
        scene.assert_sound().await;
    }

    async fn successes_of_which_the_answer_was_lost_are_recorded_once(db) {
        let scene = Scene::still(&db).await;
        enqueue_all(&scene, 70).await;
        let leased = scene.lease("w", 70).await;
        succeed(&scene, &leased[..40]).await;
        // Told again, along with others: those are not kept from it.
        let settled = succeed(&scene, &leased).await;
        assert!(settled[..40].iter().all(|it| *it == Settled::Already), "{settled:?}");
        assert!(settled[40..].iter().all(|it| *it == Settled::Recorded(Status::Succeeded)), "{settled:?}");
        assert_eq!(scene.events_of("SUCCEEDED").await, 70);
        scene.assert_sound().await;
    }

    async fn whoever_does_not_hold_them_cannot_finish_them(db) {
        let scene = Scene::still(&db).await;
        enqueue_all(&scene, 8).await;
        let leased = scene.lease("w", 8).await;
        let attempts: Vec<_> = leased.iter().map(|leased| succeeded(leased, Effects::none())).collect();
        let settled = scene.engine.settle("another", &attempts).await.unwrap();
        assert!(settled.iter().all(|it| *it == Settled::Refused), "{settled:?}");
        assert_eq!(scene.events_of("SUCCEEDED").await, 0);
        let settled = succeed(&scene, &leased).await;
        assert!(settled.iter().all(|it| *it == Settled::Recorded(Status::Succeeded)), "{settled:?}");
        scene.assert_sound().await;
    }

    async fn one_can_be_cancelled_while_the_others_wait_or_run(db) {
        let scene = Scene::still(&db).await;
        let all = enqueue_all(&scene, 12).await;
        scene.engine.cancel(scene.tenant, ACTOR, all[4], None).await.unwrap();
        assert_eq!(scene.story(all[4]).await, "ENQUEUED CANCELLED");
        scene.assert_sound().await;
        let leased = scene.lease("w", 20).await;
        assert_eq!(leased.len(), 11);
        let stopped = &leased[6];
        scene.engine.cancel(scene.tenant, ACTOR, stopped.job.job_id, None).await.unwrap();
        scene.assert_sound().await;
        let mut attempts: Vec<_> = leased.iter().map(|leased| succeeded(leased, Effects::none())).collect();
        attempts[6] = ended(stopped, Outcome::Cancelled, Effects::none());
        let settled = scene.engine.settle("w", &attempts).await.unwrap();
        let cancelled = settled.iter().filter(|it| **it == Settled::Recorded(Status::Cancelled)).count();
        assert_eq!((cancelled, settled.len()), (1, 11));
        scene.assert_sound().await;
    }

    async fn cancels_leases_and_successes_at_once_end_every_job_once(db) {
        let scene = Scene::still(&db).await;
        let all = enqueue_all(&scene, 128).await;
        let elsewhere = scene.elsewhere().await;
        let lanes = [lane(scene.tenant, "default", 3)];
        let working = ["v", "w"].map(|worker| {
            let (engine, lanes) = (if worker == "v" { elsewhere.clone() } else { scene.engine.clone() }, lanes.clone());
            tokio::spawn(async move {
                let mut idle = 0;
                while idle < 20 {
                    let leased = engine.lease(worker, &lanes, 3, TTL).await.unwrap();
                    idle = if leased.is_empty() { idle + 1 } else { 0 };
                    let attempts: Vec<_> =
                        leased.iter().map(|leased| succeeded(leased, Effects::none())).collect();
                    for settled in engine.settle(worker, &attempts).await.unwrap() {
                        assert!(matches!(settled, Settled::Recorded(_)), "{settled:?}");
                    }
                }
            })
        });
        let another = scene.elsewhere().await;
        for id in &all {
            // Those that are finished already refuse it.
            let _ = another.cancel(scene.tenant, ACTOR, *id, None).await;
        }
        for working in working {
            working.await.unwrap();
        }
        scene.assert_sound().await;
        for id in all {
            assert!(scene.status(id).await.is_finished(), "{id}: {}", scene.story(id).await);
        }
    }

    async fn leases_that_run_out_are_taken_back_and_the_late_ones_refused(db) {
        let scene = Scene::still(&db).await;
        enqueue_all(&scene, 70).await;
        let late = scene.lease("w", 70).await;
        succeed(&scene, &late[..30]).await;
        assert_eq!(scene.engine.expire(100).await.unwrap(), 0);
        scene.advance(TTL + SECOND);
        let mut expired = 0;
        while let more @ 1.. = scene.engine.expire(100).await.unwrap() {
            expired += more;
        }
        assert_eq!(expired, 40);
        scene.assert_sound().await;
        let settled = succeed(&scene, &late[29..32]).await;
        assert_eq!(settled, [Settled::Already, Settled::Refused, Settled::Refused]);
        scene.assert_sound().await;
        let again = scene.lease("v", 100).await;
        assert_eq!(again.len(), 40);
        assert!(again.iter().all(|leased| leased.job.attempts == 2));
        // Whoever comes late for what somebody else has finished since is refused as well.
        let attempts: Vec<_> = again.iter().map(|leased| succeeded(leased, Effects::none())).collect();
        scene.engine.settle("v", &attempts).await.unwrap();
        assert_eq!(succeed(&scene, &late[60..]).await, [Settled::Refused; 10]);
        scene.assert_sound().await;
    }

    async fn leases_are_renewed_and_progress_is_recorded_one_by_one(db) {
        let scene = Scene::still(&db).await;
        enqueue_all(&scene, 9).await;
        let leased = scene.lease("w", 9).await;
        scene.advance(TTL / 2);
        let keeps: Vec<Keep> = leased[..5]
            .iter()
            .map(|leased| Keep {
                job_id: leased.job.job_id,
                fence: Version(2),
                renew: true,
                progress: Some((50, None, None)),
            })
            .collect();
        let kept = scene.engine.keep("w", &keeps, TTL).await.unwrap();
        assert!(kept.values().all(|kept| *kept == Kept::Held { progressed: true }), "{kept:?}");
        scene.assert_sound().await;
        scene.advance(TTL / 2 + SECOND);
        assert_eq!(scene.engine.expire(100).await.unwrap(), 4);
        let settled = succeed(&scene, &leased).await;
        let recorded = settled.iter().filter(|it| **it == Settled::Recorded(Status::Succeeded)).count();
        assert_eq!(recorded, 5, "{settled:?}");
        scene.assert_sound().await;
    }

    async fn priority_and_due_time_decide_between_them_and_others(db) {
        let scene = Scene::still(&db).await;
        let mut expected = vec![scene.enqueue(Act::Nothing).await];
        scene.advance(SECOND);
        expected.extend(enqueue_all(&scene, 6).await);
        scene.advance(SECOND);
        expected.push(scene.enqueue(Act::Nothing).await);
        scene.advance(SECOND);
        expected.extend(enqueue_all(&scene, 6).await);
        let first = scene.enqueue_job(job(Act::Nothing).priority(0)).await;
        expected.insert(0, first);
        let mut order = Vec::new();
        for limit in [3, 1, 5, 20] {
            let leased = scene.lease("w", limit).await;
            assert!(leased.len() == limit || limit == 20);
            order.extend(ids(&leased));
        }
        assert_eq!(order, expected);
        scene.assert_sound().await;
    }

    async fn are_held_against_limits(db) {
        let limited = |_: &mut _, probe: &mut common::Probe| {
            probe.policy = JobPolicy { concurrency_max: Some(3), ..probe.policy.clone() };
        };
        let scene = Scene::with(&db, common::still(), limited).await;
        enqueue_all(&scene, 20).await;
        let leased = scene.lease("w", 10).await;
        assert_eq!(leased.len(), 3);
        assert!(scene.lease("v", 10).await.is_empty());
        succeed(&scene, &leased[..1]).await;
        assert_eq!(scene.lease("v", 10).await.len(), 1);
        scene.assert_sound().await;
    }

    async fn are_listed_and_counted_one_by_one(db) {
        let scene = Scene::still(&db).await;
        for _ in 0..3 {
            enqueue_all(&scene, 30).await;
            scene.advance(SECOND);
        }
        let alone = scene.enqueue(Act::Nothing).await;
        let leased = scene.lease("w", 40).await;
        succeed(&scene, &leased[..10]).await;
        let mut tx = scene.store().begin_read().await.unwrap();
        let mut conn = tx.conn();
        let counts = jobs_by_status(&mut conn, scene.tenant).await.unwrap();
        let counts: Vec<(Status, u64)> = counts.into_iter().map(|it| (it.status, it.jobs)).collect();
        assert_eq!(counts, [(Status::Queued, 51), (Status::Running, 30), (Status::Succeeded, 10)]);
        let running: u64 = running_jobs(&mut conn).await.unwrap().into_iter().map(|it| it.2).sum();
        assert_eq!(running, 30);
        for (status, limit, found) in [
            (None, 200, 91),
            (None, 7, 7),
            (Some(Status::Queued), 200, 51),
            (Some(Status::Queued), 20, 20),
            (Some(Status::Running), 200, 30),
            (Some(Status::Succeeded), 200, 10),
            (Some(Status::Succeeded), 3, 3),
            (Some(Status::Failed), 200, 0),
        ] {
            let filter = JobFilter { tenant: Some(scene.tenant), status, limit, ..JobFilter::default() };
            let lines = list_jobs(&mut conn, &filter).await.unwrap();
            assert_eq!(lines.len(), found, "{status:?} {limit}");
        }
        let newest = JobFilter { tenant: Some(scene.tenant), limit: 1, ..JobFilter::default() };
        let newest = list_jobs(&mut conn, &newest).await.unwrap();
        assert!(matches!(&newest[..], [bpc_core::job::Placement::Queue(row)] if row.job_id == alone));
        let lanes = [lane(scene.tenant, "default", 1)];
        drop(tx);
        assert_eq!(scene.engine.lease("w", &lanes, 1, TTL).await.unwrap().len(), 1);
    }

    async fn with_keys_are_never_one(db) {
        let scene = Scene::still(&db).await;
        let keyed = || (0..10).map(|number| job(Act::Nothing).key(format!("k{number}"))).collect::<Vec<_>>();
        let first = scene.engine.enqueue_all(scene.tenant, ACTOR, keyed()).await.unwrap();
        let second = scene.engine.enqueue_all(scene.tenant, ACTOR, keyed()).await.unwrap();
        for (first, second) in first.into_iter().zip(second) {
            let (first, second) = (first.unwrap(), second.unwrap());
            assert_eq!((first.job_id, first.event_hash), (second.job_id, second.event_hash));
            assert!(first.created && !second.created);
        }
        assert_eq!(scene.lease("w", 20).await.len(), 10);
        scene.assert_sound().await;
    }
}
