//! RabbitMQ as a hint: it makes workers look at once, and nothing depends on it.

use std::time::{Duration, Instant};

use bpc_testkit::process::{Bpc, Signal};
use bpc_testkit::rabbitmq::Broker;
use bpc_testkit::{TestDatabase, eventually};

use crate::harness::{self, PATIENCE, assert_sound, enqueue, initialised};
use crate::log::Log;

/// No poll within any test.
const NEVER: &str = "600000";
/// Nobody listens there.
const NO_BROKER: &str = "amqp://guest:guest@127.0.0.1:1/%2f";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_enqueue_wakes_a_worker_of_another_process_through_the_broker() {
    let broker = Broker::launch();
    let db = TestDatabase::sqlite();
    initialised(&db);
    let bpc = with_queue(&db, &broker.url(), NEVER);
    let log = Log::open(&db).await;
    let mut worker = bpc.spawn(["worker", "--json"]);
    eventually(PATIENCE, || async { heard(&worker.stderr()) == 1 }).await;
    for _ in 0..3 {
        let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        eventually(PATIENCE, || async { log.types(&job).await.len() == 3 }).await;
    }

    broker.stop();
    eventually(PATIENCE, || async { worker.stderr().contains("polling goes on") }).await;
    let call = ["enqueue", "DRILL_NOOP", "--json"];
    let told = bpc.run(call).expect_success();
    assert!(told.stderr.contains("WARN"), "{}", told.stderr);
    assert_eq!(told.json()["created"], true);

    // Each new connection begins with a look, for what was missed; then triggers work again.
    broker.start();
    eventually(PATIENCE, || async { heard(&worker.stderr()) == 2 }).await;
    eventually(PATIENCE, || async { log.count("SUCCEEDED").await == 4 }).await;
    bpc.run(["enqueue", "DRILL_NOOP", "--count", "50"]).expect_success();
    eventually(PATIENCE, || async { log.count("SUCCEEDED").await == 54 }).await;

    worker.signal(Signal::Term);
    assert_eq!(worker.wait(PATIENCE).expect_success().json()["succeeded"], 54);
    assert_sound(&bpc);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_broker_there_is_a_warning_and_polling_goes_on() {
    let db = TestDatabase::sqlite();
    initialised(&db);
    let bpc = with_queue(&db, NO_BROKER, "100");
    let log = Log::open(&db).await;
    let mut worker = bpc.spawn(["worker", "--json"]);
    let asked_at = Instant::now();
    let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
    assert!(asked_at.elapsed() < Duration::from_secs(10), "a missing broker is not waited for");
    eventually(PATIENCE, || async { log.types(&job).await.len() == 3 }).await;
    eventually(PATIENCE, || async { worker.stderr().contains("polling goes on") }).await;
    worker.signal(Signal::Term);
    let output = worker.wait(PATIENCE).expect_success();
    assert_eq!(output.stderr.matches("polling goes on").count(), 1, "one word is enough: {}", output.stderr);
    bpc.run(["worker", "--until-idle"]).expect_success();
    assert_sound(&bpc);
}

fn with_queue(db: &TestDatabase, url: &str, poll_ms: &str) -> Bpc {
    harness::bpc(db)
        .env("BPC_QUEUE_ENABLED", "true")
        .env("BPC_QUEUE_URL", url)
        .env("BPC_QUEUE_EXCHANGE", "e2e")
        .env("BPC_JOBS_POLL_INTERVAL_MS", poll_ms)
}

fn heard(stderr: &str) -> usize {
    stderr.matches("listening for RabbitMQ triggers").count()
}
