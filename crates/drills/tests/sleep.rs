//! What wakes a sleeper.

mod rehearsal;

use std::time::Duration;

use bpc_core::Status;
use bpc_testkit::eventually;
use bpc_worker::{JobId, WorkerOptions, WorkerReport};
use rehearsal::{Rehearsal, events};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);
const AN_HOUR: &str = r#"{"ms":3600000}"#;

bpc_testkit::on_both_databases! {
    async fn a_sleeper_can_be_cancelled(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let (job, stop, worker) = asleep(&rehearsal, AN_HOUR, PATIENCE).await;
        rehearsal.engine.cancel(rehearsal.tenant, "user:test", job, None).await.unwrap();
        eventually(PATIENCE, async || rehearsal.status(job).await == Status::Cancelled).await;
        stop.cancel();
        worker.await.unwrap();
    }

    async fn a_sleeper_is_given_back_when_its_worker_stops(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let (job, stop, worker) = asleep(&rehearsal, AN_HOUR, Duration::from_millis(50)).await;
        stop.cancel();
        assert_eq!(worker.await.unwrap().returned, 1);
        let history = rehearsal.history(job).await;
        assert_eq!(events(&history), ["ENQUEUED", "LEASED", "RELEASED"]);
        assert_eq!((history.job.status(), history.job.attempts), (Status::Queued, 0));
    }

    async fn a_short_sleep_ends_within_the_grace_period(db) {
        let rehearsal = Rehearsal::on(&db).await;
        // A job that is leased but not begun when its worker stops is given back, which is another story.
        for _ in 0..20 {
            let (job, stop, worker) = asleep(&rehearsal, r#"{"ms":300}"#, PATIENCE).await;
            stop.cancel();
            let report = worker.await.unwrap();
            if report.returned == 0 {
                // What a worker before gave back is done along with it.
                assert!(report.succeeded >= 1);
                assert_eq!(rehearsal.status(job).await, Status::Succeeded);
                return;
            }
        }
        panic!("it never began");
    }
}

/// A worker with one sleeper running.
async fn asleep(
    rehearsal: &Rehearsal,
    payload: &str,
    grace: Duration,
) -> (JobId, CancellationToken, JoinHandle<WorkerReport>) {
    let poll_interval = Duration::from_millis(20);
    let options = WorkerOptions { grace, poll_interval, ..WorkerOptions::named("w") };
    let job = rehearsal.enqueue("DRILL_SLEEP", payload).await;
    let stop = CancellationToken::new();
    let run = rehearsal.worker(options).run(stop.clone());
    let worker = tokio::spawn(async { run.await.unwrap() });
    eventually(PATIENCE, async || rehearsal.status(job).await != Status::Queued).await;
    (job, stop, worker)
}
