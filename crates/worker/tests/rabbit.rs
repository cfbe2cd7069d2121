//! The RabbitMQ trigger, on a broker that comes and goes.

mod common;

use std::time::Duration;

use bpc_core::Status;
use bpc_testkit::TestDatabase;
use bpc_testkit::rabbitmq::Broker;
use bpc_worker::{Engine, JobId, RabbitOptions, Trigger, WakeOptions, WorkerOptions};
use common::{ACTOR, Act, Scene, Working, job};
use lapin::options::{BasicPublishOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Connection, ConnectionProperties};

/// How long a broker that was started again may take to be found.
const FOUND: Duration = Duration::from_secs(60);

struct Stage {
    scene: Scene,
    rabbit: RabbitOptions,
    /// Enqueues from elsewhere and publishes a trigger for it.
    enqueuer: Engine,
}

impl Stage {
    async fn new(broker: &Broker, db: &TestDatabase) -> Self {
        let rabbit = RabbitOptions {
            url: broker.url(),
            exchange: "bpc".to_owned(),
            routing_key: "jobs.trigger".to_owned(),
        };
        let scene = Scene::ticking(db).await;
        let enqueuer = scene.elsewhere().await.with_trigger(Trigger::start(rabbit.clone()));
        Stage { scene, rabbit, enqueuer }
    }

    /// A worker that listens to nothing but the broker.
    fn work(&self, poll_interval: Duration) -> Working {
        let wake = WakeOptions { listen: false, rabbit: Some(self.rabbit.clone()) };
        let options = WorkerOptions { poll_interval, wake, ..WorkerOptions::named("w") };
        Working::start(&self.scene.engine, options)
    }

    async fn enqueue(&self) -> JobId {
        self.enqueuer.enqueue(self.scene.tenant, ACTOR, job(Act::Nothing)).await.unwrap().job_id
    }

    /// Enqueue now and then until a job is run, which only a trigger can bring about.
    async fn assert_triggers_work(&self) {
        bpc_testkit::eventually(FOUND, || async {
            let id = self.enqueue().await;
            let patience = Duration::from_secs(2);
            tokio::time::timeout(patience, self.scene.until(id, Status::Succeeded)).await.is_ok()
        })
        .await;
    }

    async fn publish(&self, bodies: &[&[u8]]) {
        let connection =
            Connection::connect(&self.rabbit.url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        for body in bodies {
            let (exchange, key) = (self.rabbit.exchange.as_str(), self.rabbit.routing_key.as_str());
            let (options, properties) = (BasicPublishOptions::default(), BasicProperties::default());
            let sent = channel.basic_publish(exchange.into(), key.into(), options, body, properties).await;
            sent.unwrap().await.unwrap();
        }
        // An answer to this proves that everything before it was taken in.
        let own = QueueDeclareOptions { exclusive: true, ..QueueDeclareOptions::default() };
        channel.queue_declare("".into(), own, FieldTable::default()).await.unwrap();
    }
}

/// One story, because a broker takes long to start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_wakes_a_worker_and_without_a_broker_polling_goes_on() {
    let broker = Broker::launch();
    let db = TestDatabase::sqlite();
    let stage = Stage::new(&broker, &db).await;
    let sleepy = stage.work(Duration::from_secs(600));
    stage.assert_triggers_work().await;

    // What a message says is not trusted.
    let large = vec![b'{'; 100_000];
    let garbage: [&[u8]; 5] = [b"", b"\xff\xfe\x00", b"{\"job_id\":7}", b"not JSON", &large];
    stage.publish(&garbage).await;
    stage.assert_triggers_work().await;

    broker.stop();
    // Enqueueing goes on as before, and a worker that polls finds the job.
    let id = stage.enqueue().await;
    assert!(!sleepy.has_ended());
    let poller = stage.work(Duration::from_millis(100));
    stage.scene.until(id, Status::Succeeded).await;
    poller.stop().await;

    broker.start();
    stage.assert_triggers_work().await;
    assert!(!sleepy.has_ended(), "it was the same worker all the time");
    sleepy.stop().await;
    stage.scene.assert_sound().await;
}
