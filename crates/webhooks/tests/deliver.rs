//! Deliveries to real receivers, on both databases.

use std::time::Duration;

use bpc_core::Status;
use bpc_eventstore::verify::{VerifyOptions, verify};
use bpc_eventstore::{Clock, StoreOptions, add_tenant};
use bpc_secrets::{KeySource, SecretsKey};
use bpc_testkit::TestDatabase;
use bpc_webhooks::{
    DeliveryRow, Settings, WebhookError, add_endpoint, deliveries, delivery, disable_endpoint, redeliver,
    register, subscribe, unsubscribe,
};
use bpc_worker::{
    Context, Draft, Effects, Engine, Handler, HandlerError, Job, JobId, Registry, Store, StreamId, TenantId,
    Version, Worker, WorkerOptions,
};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const ACTOR: &str = "user:test";
/// Longer than any delay between two attempts.
const PATIENCE: Duration = Duration::from_secs(2000);

/// Emits one event of its own type, so that there is something to tell.
struct Ring;

#[derive(Deserialize)]
struct Tone {
    stream: StreamId,
}

impl Handler for Ring {
    const TYPE: &'static str = "RING";
    type Payload = Tone;

    async fn handle(&self, job: &Job<Tone>, cx: &Context) -> Result<Effects, HandlerError> {
        let version = cx.stream_version(job.payload.stream).await?;
        Ok(Effects::none().emit(job.tenant_id, "Bell", job.payload.stream, version, vec![rang()]))
    }
}

fn rang() -> Draft {
    let payload = bpc_core::canonical::to_canonical(&serde_json::json!({"tone": "c"})).expect("canonical");
    Draft { event_type: "BELL_RANG".into(), schema: 1, payload }
}

struct House {
    engine: Engine,
    tenant: TenantId,
    settings: Settings,
}

impl House {
    async fn on(db: &TestDatabase, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::strict(KeySource::Key(SecretsKey::generate()));
        (settings.allow_http, settings.allow_private) = (true, true);
        settings.timeout = Duration::from_secs(5);
        change(&mut settings);
        let mut registry = Registry::new();
        register(&mut registry, settings.clone());
        registry.job(Ring).event("Bell", "BELL_RANG");
        let now = "2027-02-18T12:00:00.000000Z".parse().expect("a moment");
        let options = StoreOptions { clock: Clock::manual(now), ..StoreOptions::default() };
        let store = Store::connect(db.url(), options).await.expect("a store");
        store.migrate().await.expect("a schema");
        let tenant = add_tenant(&store, "acme", "Acme", ACTOR).await.expect("a tenant").tenant_id;
        House { engine: Engine::new(store, registry), tenant, settings }
    }

    async fn endpoint(&self, url: &str) -> (uuid::Uuid, String) {
        let added = add_endpoint(&self.engine, self.tenant, ACTOR, &self.settings, url).await.expect("added");
        let done =
            subscribe(&self.engine, self.tenant, ACTOR, added.id, "BELL_RANG").await.expect("subscribed");
        assert!(done.created);
        (added.id, added.secret)
    }

    /// A person's command that emits one event.
    async fn ring(&self, stream: &str) {
        let id = StreamId::derived("bell", stream);
        let effects = Effects::none().emit(self.tenant, "Bell", id, Version::NONE, vec![rang()]);
        self.engine.perform(self.tenant, ACTOR, &effects).await.expect("performed");
    }

    async fn work(&self) {
        let options = WorkerOptions { until_idle: true, ..WorkerOptions::named("w") };
        Worker::new(self.engine.clone(), options).run(CancellationToken::new()).await.expect("a worker");
    }

    /// Work through every retry.
    async fn work_through(&self) {
        for _ in 0..6 {
            self.work().await;
            self.engine.store.clock.advance(PATIENCE);
        }
    }

    async fn deliveries(&self) -> Vec<DeliveryRow> {
        deliveries(&self.engine.store, self.tenant, 100).await.expect("deliveries")
    }

    async fn assert_sound(&self) {
        let report = verify(&self.engine.store, &VerifyOptions::default(), |_| {}).await.expect("readable");
        assert!(report.is_sound(), "{:?}", report.findings);
        let projections = self.engine.registry.projections();
        let check = bpc_projections::replay::check(&self.engine.store, projections, &mut |_| {}).await;
        assert!(check.as_ref().is_ok_and(|check| check.is_clean()), "{check:?}");
    }
}

/// A request as it came over the wire.
struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(line).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }
}

/// A receiver that gives each request the next of these answers, the last one for ever.
async fn receiver(answers: Vec<Vec<u8>>) -> (String, mpsc::UnboundedReceiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut answers = answers.into_iter().peekable();
        loop {
            let (mut socket, _) = listener.accept().await.expect("a connection");
            let answer = match answers.next() {
                Some(answer) if answers.peek().is_none() => {
                    answers = vec![answer.clone()].into_iter().peekable();
                    answer
                }
                Some(answer) => answer,
                None => return,
            };
            let sender = sender.clone();
            tokio::spawn(async move {
                if let Some(request) = read(&mut socket).await {
                    let _ = sender.send(request);
                }
                // Nothing to say: it keeps the line open and says nothing.
                if answer.is_empty() {
                    std::future::pending::<()>().await;
                }
                let _ = socket.write_all(&answer).await;
                let _ = socket.shutdown().await;
            });
        }
    });
    (url, receiver)
}

async fn read(socket: &mut tokio::net::TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = socket.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let request = Request {
            head: String::from_utf8_lossy(&bytes[..end]).into_owned(),
            body: bytes[end + 4..].to_vec(),
        };
        let length: usize = request.header("content-length")?.parse().ok()?;
        if request.body.len() >= length {
            return Some(request);
        }
    }
}

fn answer(status: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\nX-Answer: yes\r\nConnection: close\r\n\r\nhello")
        .into_bytes()
}

bpc_testkit::on_both_databases! {
    async fn an_event_reaches_its_subscriber_signed(db) {
        let house = House::on(&db, |_| {}).await;
        let (url, mut requests) = receiver(vec![answer("200 OK")]).await;
        let (_, secret) = house.endpoint(&url).await;
        house.ring("one").await;
        house.work().await;
        let request = requests.recv().await.expect("a request");
        assert!(request.head.starts_with("POST /hook HTTP/1.1"), "{}", request.head);
        // The signature by the other crate's own words: HMAC-SHA256 of the bytes as they came.
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
        mac.update(&request.body);
        let hex = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(request.header("x-bpc-signature"), Some(format!("sha256={hex}").as_str()));
        assert_eq!(request.header("x-bpc-event-type"), Some("BELL_RANG"));
        let rows = house.deliveries().await;
        assert_eq!(rows.len(), 1);
        assert_eq!(request.header("x-bpc-delivery-id"), Some(rows[0].id.to_string().as_str()));
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        let mut names: Vec<&String> = body.as_object().expect("an object").keys().collect();
        names.sort();
        let expected =
            ["aggregate_id", "aggregate_type", "event_id", "event_type", "occurred_at", "payload", "tenant_id"];
        assert_eq!(names, expected);
        assert_eq!((&body["payload"]["tone"], &body["aggregate_type"]), (&"c".into(), &"Bell".into()));
        assert_eq!(body["event_id"], rows[0].event_id.to_string());
        assert_eq!((rows[0].status.as_str(), rows[0].http_status), ("DELIVERED", Some(200)));
        let told = delivery(&house.engine.store, house.tenant, rows[0].id).await.expect("a delivery");
        assert!(told.headers.iter().any(|(name, value)| name == "x-answer" && value == "yes"));
        house.assert_sound().await;
    }

    async fn an_event_of_a_handler_is_told_in_the_same_transaction(db) {
        let house = House::on(&db, |_| {}).await;
        let (url, mut requests) = receiver(vec![answer("204 No Content")]).await;
        house.endpoint(&url).await;
        let stream = StreamId::derived("bell", "handler");
        let job = bpc_worker::Enqueue::new("RING", &serde_json::json!({"stream": stream})).expect("a job");
        house.engine.enqueue(house.tenant, ACTOR, job).await.expect("enqueued");
        house.work().await;
        assert!(requests.recv().await.is_some());
        assert_eq!(house.deliveries().await.len(), 1);
        house.assert_sound().await;
    }

    async fn what_may_pass_is_tried_again_under_the_same_id(db) {
        let house = House::on(&db, |_| {}).await;
        let answers =
            ["503 Service Unavailable", "429 Too Many Requests", "408 Request Timeout", "200 OK"].map(answer);
        let (url, mut requests) = receiver(answers.to_vec()).await;
        house.endpoint(&url).await;
        house.ring("one").await;
        house.work_through().await;
        let mut ids = Vec::new();
        for _ in 0..4 {
            let request = requests.recv().await.expect("a request");
            ids.push(request.header("x-bpc-delivery-id").expect("an id").to_owned());
        }
        ids.dedup();
        assert_eq!(ids.len(), 1);
        let rows = house.deliveries().await;
        assert_eq!((rows[0].status.as_str(), rows[0].http_status), ("DELIVERED", Some(200)));
        house.assert_sound().await;
    }

    async fn what_will_not_pass_fails_at_once_and_is_recorded(db) {
        let house = House::on(&db, |_| {}).await;
        for status in ["400 Bad Request", "404 Not Found", "302 Found\r\nLocation: http://127.0.0.1:1/"] {
            let (url, mut requests) = receiver(vec![answer(status)]).await;
            house.endpoint(&url).await;
            house.ring(status).await;
            house.work_through().await;
            assert!(requests.recv().await.is_some());
            assert!(requests.try_recv().is_err(), "{status} was sent again or followed");
            let row = house.deliveries().await.into_iter().find(|row| row.status == "FAILED");
            let row = row.expect("a failed delivery");
            assert_eq!(row.error_code.as_deref(), Some("WEBHOOK_NON_2XX"));
            assert_eq!(row.http_status.map(|status| status.to_string()).as_deref(), status.get(..3));
            for endpoint in bpc_webhooks::endpoints(&house.engine.store, house.tenant).await.expect("endpoints") {
                disable_endpoint(&house.engine, house.tenant, ACTOR, endpoint.id).await.expect("disabled");
                for (subscription, _) in endpoint.subscriptions {
                    unsubscribe(&house.engine, house.tenant, ACTOR, subscription).await.expect("unsubscribed");
                }
            }
            // A clean slate for the next one: this one is delivered to nobody.
            let again = redeliver(&house.engine, house.tenant, ACTOR, row.id).await.expect("asked again");
            house.work_through().await;
            assert_eq!(error_code(&house, again).await, "WEBHOOK_DELIVERY_FAILED");
        }
        house.assert_sound().await;
    }

    async fn a_receiver_that_says_nothing_closes_or_is_away_is_tried_until_attempts_end(db) {
        let house = House::on(&db, |settings| settings.timeout = Duration::from_millis(200)).await;
        let (silent, _silent) = receiver(vec![Vec::new()]).await;
        let (closing, _closing) = receiver(vec![b"HT".to_vec()]).await;
        let gone = {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            format!("http://{}/", listener.local_addr().expect("an address"))
        };
        for (url, code) in [(silent, "WEBHOOK_TIMEOUT"), (closing, "WEBHOOK_DELIVERY_FAILED"), (gone, "WEBHOOK_DELIVERY_FAILED")] {
            let (id, _) = house.endpoint(&url).await;
            house.ring(&url).await;
            house.work_through().await;
            let row = house.deliveries().await.into_iter().find(|row| row.endpoint_id == id).expect("a row");
            assert_eq!((row.status.as_str(), row.error_code.as_deref()), ("FAILED", Some(code)), "{url}");
            let found = bpc_webhooks::endpoints(&house.engine.store, house.tenant).await.expect("endpoints");
            for (subscription, _) in found.into_iter().flat_map(|endpoint| endpoint.subscriptions) {
                unsubscribe(&house.engine, house.tenant, ACTOR, subscription).await.expect("unsubscribed");
            }
        }
        house.assert_sound().await;
    }

    async fn a_huge_answer_is_cut(db) {
        let house = House::on(&db, |_| {}).await;
        let mut huge = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec();
        huge.resize(4 * 1024 * 1024, b'x');
        let (url, _requests) = receiver(vec![huge]).await;
        house.endpoint(&url).await;
        house.ring("one").await;
        house.work().await;
        let rows = house.deliveries().await;
        assert_eq!(rows[0].status, "DELIVERED");
        let sql = "SELECT max(length) FROM blobs";
        let mut tx = house.engine.store.begin_read().await.expect("a transaction");
        let longest: Option<i64> =
            bpc_eventstore::portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_one(c).await).expect("a number");
        assert_eq!(longest, Some(64 * 1024));
    }

    async fn addresses_that_are_not_public_are_refused_early_and_late(db) {
        let house = House::on(&db, |settings| settings.allow_private = false).await;
        for url in ["http://127.0.0.1:9/", "http://[::1]:9/", "http://10.0.0.1/", "http://169.254.169.254/latest"] {
            let refused = add_endpoint(&house.engine, house.tenant, ACTOR, &house.settings, url).await;
            assert!(matches!(refused, Err(WebhookError::Url { .. })), "{url}");
        }
        // A name tells only when it is resolved.
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        house.endpoint(&format!("http://localhost:{port}/")).await;
        house.ring("one").await;
        house.work_through().await;
        let rows = house.deliveries().await;
        assert_eq!(rows[0].status, "FAILED");
        let told = delivery(&house.engine.store, house.tenant, rows[0].id).await.expect("a delivery");
        let (code, message) = told.error.expect("an error");
        assert_eq!(code, "WEBHOOK_DELIVERY_FAILED");
        assert!(message.contains("private"), "{message}");
        let connected = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(connected.is_err(), "somebody connected");
    }

    async fn plain_http_is_for_development(db) {
        let house = House::on(&db, |settings| settings.allow_http = false).await;
        for url in ["http://example.com/", "ftp://example.com/", "example.com", "https://user:secret@example.com/"] {
            let refused = add_endpoint(&house.engine, house.tenant, ACTOR, &house.settings, url).await;
            assert_eq!(refused.expect_err("refused").code(), "VALIDATION_ERROR", "{url}");
        }
        add_endpoint(&house.engine, house.tenant, ACTOR, &house.settings, "https://example.com/").await.expect("added");
    }

    async fn a_secret_is_in_the_log_only_sealed(db) {
        let house = House::on(&db, |_| {}).await;
        let (_, secret) = house.endpoint("http://127.0.0.1:9/").await;
        let mut tx = house.engine.store.begin_read().await.expect("a transaction");
        let bytes: Vec<Vec<u8>> = bpc_eventstore::portable!(tx.conn(), c => {
            sqlx::query_scalar("SELECT event_bytes FROM log_events").fetch_all(c).await
        })
        .expect("events");
        for bytes in bytes {
            assert!(!String::from_utf8_lossy(&bytes).contains(&secret));
        }
        let other = Settings::strict(KeySource::Key(SecretsKey::generate()));
        assert!(!format!("{:?} {other:?}", house.settings).contains(&secret));
    }

    async fn a_delivered_one_can_be_sent_again_and_a_pending_one_cannot(db) {
        let house = House::on(&db, |_| {}).await;
        let (url, mut requests) = receiver(vec![answer("200 OK")]).await;
        house.endpoint(&url).await;
        house.ring("one").await;
        let id = house.deliveries().await[0].id;
        let pending = redeliver(&house.engine, house.tenant, ACTOR, id).await.expect_err("refused");
        assert_eq!(pending.code(), "WEBHOOK_DELIVERY_PENDING");
        house.work().await;
        redeliver(&house.engine, house.tenant, ACTOR, id).await.expect("asked again");
        house.work().await;
        let (first, second) = (requests.recv().await.expect("one"), requests.recv().await.expect("two"));
        assert_eq!(first.body, second.body);
        assert_eq!(first.header("x-bpc-delivery-id"), second.header("x-bpc-delivery-id"));
        // Running it once more after it was delivered sends nothing.
        let payload = serde_json::json!({"webhook_delivery_id": id});
        let job = bpc_worker::Enqueue::new("DELIVER_WEBHOOK", &payload).expect("a job");
        let job = house.engine.enqueue(house.tenant, ACTOR, job).await.expect("enqueued").job_id;
        house.work().await;
        let history = house.engine.history(house.tenant, job).await.expect("readable").expect("a job");
        assert_eq!(history.job.status(), Status::Succeeded);
        assert!(requests.try_recv().is_err());
        house.assert_sound().await;
    }
}

async fn error_code(house: &House, job: JobId) -> String {
    let history = house.engine.history(house.tenant, job).await.expect("readable").expect("a job");
    history.job.last_error.map_or_else(String::new, |error| error.code)
}
