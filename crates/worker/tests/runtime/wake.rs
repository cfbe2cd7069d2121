//! Wake-ups: an idle worker starts promptly, and polling makes up for every hint that is lost.

use std::time::{Duration, Instant};

use bpc_core::Status;
use bpc_testkit::{TestDatabase, eventually};
use bpc_worker::{Due, Engine, WakeOptions, WorkerOptions};

use crate::common::{ACTOR, Act, SOON, Scene, Working, job, options};

/// Looks so rarely that within a test only a hint can wake it.
fn sleepy() -> WorkerOptions {
    WorkerOptions { poll_interval: Duration::from_secs(120), ..WorkerOptions::named("w") }
}

/// A worker on `scene` that has begun to listen and found nothing left to do.
async fn asleep(scene: &Scene) -> Working {
    let first = scene.enqueue(Act::Nothing).await;
    let working = Working::start(&scene.engine, sleepy());
    scene.until(first, Status::Succeeded).await;
    working
}

async fn starts_promptly(scene: &Scene, enqueuer: &Engine) {
    let begun = Instant::now();
    let id = enqueuer.enqueue(scene.tenant, ACTOR, job(Act::Nothing)).await.unwrap().job_id;
    scene.until(id, Status::Succeeded).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

bpc_testkit::on_both_databases! {
    async fn an_idle_worker_starts_what_its_own_process_enqueues(db) {
        let scene = Scene::ticking(&db).await;
        let working = asleep(&scene).await;
        for _ in 0..3 {
            starts_promptly(&scene, &scene.engine).await;
        }
        working.stop().await;
        scene.assert_sound().await;
    }

    async fn without_any_hint_polling_finds_the_job(db) {
        let scene = Scene::ticking(&db).await;
        let elsewhere = scene.elsewhere().await;
        let working = Working::start(&scene.engine, options("w"));
        starts_promptly(&scene, &elsewhere).await;
        starts_promptly(&scene, &elsewhere).await;
        working.stop().await;
        scene.assert_sound().await;
    }

    async fn a_delayed_job_is_started_when_it_is_due_and_not_at_the_next_poll(db) {
        let scene = Scene::ticking(&db).await;
        let soon = Due::After(Duration::from_millis(500));
        let id = scene.enqueue_job(job(Act::Nothing).due(soon)).await;
        let working = Working::start(&scene.engine, sleepy());
        scene.until(id, Status::Succeeded).await;
        let history = scene.history(id).await;
        assert!(history.events[1].occurred_at >= history.job.scheduled_at, "not before its time");
        working.stop().await;
        scene.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notification_wakes_a_worker_of_another_process_on_postgres() {
    let db = TestDatabase::postgres().await;
    let scene = Scene::ticking(&db).await;
    let elsewhere = scene.elsewhere().await;
    let working = asleep(&scene).await;
    eventually(SOON, || async { is_listening(&scene).await }).await;
    starts_promptly(&scene, &elsewhere).await;
    // Also from a transaction of the caller, once that commits.
    let mut tx = elsewhere.store.begin().await.unwrap();
    let id = elsewhere.enqueue_in(&mut tx, scene.tenant, ACTOR, job(Act::Nothing)).await.unwrap().job_id;
    tx.commit().await.unwrap();
    scene.until(id, Status::Succeeded).await;
    // And a cancel request reaches a handler that runs.
    let held = scene.enqueue(Act::Hold).await;
    eventually(SOON, || async { scene.notes.running() == 1 }).await;
    elsewhere.cancel(scene.tenant, ACTOR, held, None).await.unwrap();
    scene.until(held, Status::Cancelled).await;
    working.stop().await;
    scene.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_process_writes_wakes_a_worker_on_sqlite() {
    let db = TestDatabase::sqlite();
    let scene = Scene::ticking(&db).await;
    let elsewhere = scene.elsewhere().await;
    let working = asleep(&scene).await;
    for _ in 0..3 {
        starts_promptly(&scene, &elsewhere).await;
    }
    working.stop().await;
    scene.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_listener_listens_again_on_postgres() {
    let db = TestDatabase::postgres().await;
    let scene = Scene::ticking(&db).await;
    let elsewhere = scene.elsewhere().await;
    let working = asleep(&scene).await;
    eventually(SOON, || async { is_listening(&scene).await }).await;
    let killed = scene
        .count(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                WHERE datname = current_database() AND query ILIKE 'LISTEN%'",
        )
        .await;
    assert_eq!(killed, 1);
    starts_promptly(&scene, &elsewhere).await;
    eventually(SOON, || async { is_listening(&scene).await }).await;
    starts_promptly(&scene, &elsewhere).await;
    working.stop().await;
    scene.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_can_be_turned_off_on_postgres() {
    let db = TestDatabase::postgres().await;
    let scene = Scene::ticking(&db).await;
    let off = WakeOptions { listen: false, rabbit: None };
    let poll_interval = Duration::from_millis(300);
    let working = Working::start(
        &scene.engine,
        WorkerOptions { wake: off, poll_interval, ..WorkerOptions::named("w") },
    );
    starts_promptly(&scene, &scene.elsewhere().await).await;
    assert!(!is_listening(&scene).await);
    working.stop().await;
    scene.assert_sound().await;
}

async fn is_listening(scene: &Scene) -> bool {
    let listeners = "SELECT count(*) FROM pg_stat_activity \
        WHERE datname = current_database() AND query ILIKE 'LISTEN%'";
    scene.count(listeners).await == 1
}
