//! The database goes away under load and comes back: no job is lost, none is done twice.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bpc_testkit::postgres::{Cluster, StopMode};
use bpc_testkit::{TestDatabase, eventually};
use bpc_worker::{Engine, EngineError, Enqueued, TenantId, WorkerOptions};
use common::{ACTOR, Act, Scene, Working, job, options};
use sqlx::{Connection, SqliteConnection};

/// How long the aftermath of an outage may take.
const AFTERMATH: Duration = Duration::from_secs(60);

fn worker(worker_id: &str) -> WorkerOptions {
    WorkerOptions {
        concurrency: 8,
        lease_ttl: Duration::from_secs(2),
        renew_interval: Duration::from_millis(500),
        ..options(worker_id)
    }
}

/// Enqueue `jobs` jobs one after the other, each with its key, asking again when the answer is an error.
fn load(engine: Engine, tenant: TenantId, jobs: usize) -> tokio::task::JoinHandle<usize> {
    tokio::spawn(async move {
        let mut errors = 0;
        for n in 0..jobs {
            let job = job(Act::Everything { follow_ups: 1 }).key(format!("job {n}"));
            loop {
                let asked: Result<Enqueued, EngineError> = engine.enqueue(tenant, ACTOR, job.clone()).await;
                match asked {
                    Ok(_) => break,
                    Err(error) if error.is_retryable() => errors += 1,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        errors
    })
}

impl Scene {
    /// Wait until all is done, and see that it was done once: each job and its follow-up succeeded
    /// exactly once and left its effects once.
    async fn assert_all_done_once(&self, jobs: i64) {
        eventually(AFTERMATH, || async { self.count("SELECT count(*) FROM live_jobs").await == 0 }).await;
        assert_eq!(self.events_of("ENQUEUED").await, 2 * jobs);
        assert_eq!(self.events_of("SUCCEEDED").await, 2 * jobs);
        let finished = "SELECT count(*) FROM ended_jobs WHERE status = 'SUCCEEDED'";
        assert_eq!(self.count(finished).await, 2 * jobs);
        assert_eq!(self.left_behind().await, (2 * jobs, 2 * jobs, 2 * jobs));
        assert_eq!(self.events_of("ENTERED").await, 2 * jobs);
        self.assert_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_stopped_and_started_under_load() {
    let cluster = Cluster::launch();
    let db = TestDatabase::on_cluster(&cluster).await;
    let scene = Scene::ticking(&db).await;
    let elsewhere = scene.elsewhere().await;
    let workers =
        [Working::start(&scene.engine, worker("here")), Working::start(&elsewhere, worker("there"))];
    let loading = load(elsewhere.clone(), scene.tenant, 300);
    for (mode, done) in [(StopMode::Immediate, 20), (StopMode::Fast, 100)] {
        eventually(AFTERMATH, || async { scene.events_of("SUCCEEDED").await >= done }).await;
        cluster.stop(mode);
        // Long enough for leases to run out.
        tokio::time::sleep(Duration::from_millis(if done == 20 { 2500 } else { 300 })).await;
        cluster.start();
    }
    loading.await.unwrap();
    scene.assert_all_done_once(300).await;
    for working in workers {
        assert!(!working.has_ended(), "it goes on by itself");
        working.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_killed_at_random() {
    let db = TestDatabase::postgres().await;
    let scene = Scene::ticking(&db).await;
    let elsewhere = scene.elsewhere().await;
    let workers =
        [Working::start(&scene.engine, worker("here")), Working::start(&elsewhere, worker("there"))];
    let loading = load(elsewhere.clone(), scene.tenant, 300);
    let is_over = Arc::new(AtomicBool::new(false));
    let killing = tokio::spawn(kill_at_random(db.url().to_owned(), Arc::clone(&is_over)));
    loading.await.unwrap();
    is_over.store(true, Ordering::SeqCst);
    assert!(killing.await.unwrap() > 0, "some were killed");
    scene.assert_all_done_once(300).await;
    for working in workers {
        assert!(!working.has_ended(), "it goes on by itself");
        working.stop().await;
    }
}

/// Kills about a third of the others' connections every few milliseconds. Returns how many.
async fn kill_at_random(url: String, is_over: Arc<AtomicBool>) -> i64 {
    let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3";
    let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
    let mut killed = 0;
    while !is_over.load(Ordering::SeqCst) {
        killed += sqlx::query_scalar::<_, i64>(kill).fetch_one(&mut connection).await.unwrap();
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    killed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_else_holds_the_write_lock_of_sqlite() {
    let db = TestDatabase::sqlite();
    let scene = Scene::ticking(&db).await;
    let working = Working::start(&scene.engine, options("w"));
    let mut other = SqliteConnection::connect(db.url()).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let loading = load(scene.engine.clone(), scene.tenant, 20);
    // About what a careless backup takes.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!loading.is_finished());
    assert_eq!(scene.events_of("ENQUEUED").await, 0, "reading goes on meanwhile");
    sqlx::raw_sql("COMMIT").execute(&mut other).await.unwrap();
    assert_eq!(loading.await.unwrap(), 0, "nothing surfaced");
    scene.assert_all_done_once(20).await;
    assert_eq!(working.stop().await.refused, 0);
}
