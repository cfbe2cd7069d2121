//! Long jobs: their leases are kept, and let go in time when they cannot be.

use std::time::Duration;

use bpc_core::Status;
use bpc_core::job::JobEvent;
use bpc_eventstore::Clock;
use bpc_testkit::postgres::{Cluster, StopMode};
use bpc_testkit::{TestDatabase, eventually};
use bpc_worker::{Stopping, WorkerOptions};

use crate::common::{Act, SOON, Scene, Working, options};

fn short_leases(worker_id: &str) -> WorkerOptions {
    WorkerOptions {
        lease_ttl: Duration::from_secs(1),
        renew_interval: Duration::from_millis(300),
        ..options(worker_id)
    }
}

bpc_testkit::on_both_databases! {
    async fn a_long_job_is_renewed_and_never_run_twice(db) {
        let scene = Scene::ticking(&db).await;
        let deaf = scene.enqueue(Act::Take { ms: 2500 }).await;
        let elsewhere = scene.elsewhere().await;
        let (here, there) = (
            Working::start(&scene.engine, short_leases("here")),
            Working::start(&elsewhere, short_leases("there")),
        );
        scene.until(deaf, Status::Succeeded).await;
        let (here, there) = (here.stop().await, there.stop().await);
        assert_eq!((scene.notes.runs(deaf), here.refused + there.refused), (1, 0));
        let story = scene.story(deaf).await;
        assert!((2..=9).contains(&story.matches("RENEWED").count()), "{story}");
        assert!(!story.contains("EXPIRED"), "{story}");
        scene.assert_sound().await;
    }

    async fn a_long_job_is_renewed_however_many_others_come_in(db) {
        let scene = Scene::ticking(&db).await;
        let long = scene.enqueue(Act::Take { ms: 2500 }).await;
        let working = Working::start(&scene.engine, short_leases("w"));
        eventually(SOON, || async { scene.notes.runs(long) == 1 }).await;
        // Each of these is a hint, and they come faster than any worker looks after its leases.
        eventually(SOON, || async {
            scene.enqueue(Act::Nothing).await;
            scene.history(long).await.job.status() == Status::Succeeded
        })
        .await;
        working.stop().await;
        let story = scene.story(long).await;
        assert!(story.contains("RENEWED") && !story.contains("EXPIRED"), "{story}");
        scene.assert_sound().await;
    }

    async fn progress_is_recorded_now_and_then_and_never_backwards(db) {
        let scene = Scene::ticking(&db).await;
        let percents = vec![1, 2, 3, 4, 50, 40, 30, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 20];
        let id = scene.enqueue(Act::Progress { percents }).await;
        let working = Working::start(&scene.engine, short_leases("w"));
        let recorded = || async {
            let history = scene.history(id).await;
            let mut recorded = Vec::new();
            for event in &history.events {
                let read = JobEvent::read(&event.event_type, 1, event.payload.as_bytes()).unwrap();
                if let JobEvent::Progressed { percent, .. } = read {
                    recorded.push((percent, event.occurred_at));
                }
            }
            recorded
        };
        let recorded = eventually(SOON, || async { Some(recorded().await).filter(|it| it.len() == 2) }).await;
        scene.notes.let_go(1);
        scene.until(id, Status::Succeeded).await;
        working.stop().await;
        let [(first, at), (next, later)] = recorded[..] else { unreachable!("two of them") };
        assert!(first < next, "{first} % then {next} %");
        assert!(later.since(at) >= Duration::from_secs(2));
        scene.assert_sound().await;
    }

    async fn a_lease_taken_away_stops_the_handler(db) {
        let scene = Scene::ticking(&db).await;
        let id = scene.enqueue(Act::Hold).await;
        let working = Working::start(&scene.engine, short_leases("w"));
        eventually(SOON, || async { scene.notes.running() == 1 }).await;
        // Somebody thinks the worker dead, an hour from now.
        let now = scene.store().now().await.unwrap();
        let clock = Clock::manual(now.plus(Duration::from_secs(3600)));
        assert_eq!(scene.elsewhere_at(clock).await.expire(10).await.unwrap(), 1);
        eventually(SOON, || async { scene.notes.stop(id) == Some(Stopping::LeaseLost) }).await;
        assert_eq!(working.stop().await.refused, 1);
        let story = scene.story(id).await.replace(" RENEWED", "");
        assert_eq!(story, "ENQUEUED LEASED LEASE_EXPIRED STALE_COMPLETION_REFUSED");
        scene.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_cannot_renew_stops_its_jobs_before_the_lease_ends() {
    let cluster = Cluster::launch();
    let db = TestDatabase::on_cluster(&cluster).await;
    let scene = Scene::ticking(&db).await;
    let ids = [scene.enqueue(Act::Hold).await, scene.enqueue(Act::HoldDeaf).await];
    let working = Working::start(&scene.engine, short_leases("w"));
    eventually(SOON, || async { scene.notes.running() == 2 }).await;
    let held = std::time::Instant::now();
    cluster.stop(StopMode::Immediate);
    // Both are ended, the deaf one too.
    eventually(SOON, || async { scene.notes.running() == 0 }).await;
    assert_eq!(scene.notes.stop(ids[0]), Some(Stopping::LeaseLost));
    assert!(held.elapsed() < Duration::from_secs(5), "{:?}", held.elapsed());
    cluster.start();
    // It goes on by itself: the leases have run out, and both are run again.
    eventually(SOON, || async { scene.notes.running() == 2 }).await;
    scene.notes.let_go(2);
    for id in ids {
        scene.until(id, Status::Succeeded).await;
        assert_eq!((scene.notes.runs(id), scene.story(id).await.matches("SUCCEEDED").count()), (2, 1));
    }
    working.stop().await;
    scene.assert_sound().await;
}
