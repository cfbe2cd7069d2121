//! The log cut after every event, as if everything behind it had never been written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bpc_core::job::{STREAM_TYPE, fold_stream};
use bpc_core::{Envelope, EventRecord, Status, StreamId, Version};
use bpc_eventstore::{StoredEvent, portable};
use bpc_projections::{JobWrites, Projection, write_jobs};
use bpc_testkit::{DatabaseKind, TestDatabase};
use bpc_worker::{JobId, Store};
use futures_util::StreamExt;

use crate::common::{ACTOR, Act, Ledger, Scene, TTL, job, ledger_of, second, succeeded};

/// The log of a scene in the order it was written, and how long it was after each commit.
struct Told {
    log: Vec<StoredEvent>,
    commits: Vec<usize>,
}

impl Told {
    /// Enqueue, lose a lease, succeed with effects and a follow-up, fail and try again, give up, cancel
    /// before and during a run, replay.
    async fn by(scene: &Scene) -> Self {
        let mut told = Told { log: Vec::new(), commits: Vec::new() };
        let brings = scene.enqueue(Act::Everything { follow_ups: 1 }).await;
        told.commit(scene).await;
        scene.lease_one("dies").await;
        told.commit(scene).await;
        scene.advance(TTL);
        scene.engine.expire(9).await.unwrap();
        told.commit(scene).await;
        let leased = scene.lease_one("w").await;
        told.commit(scene).await;
        let (effects, _) = bpc_worker::Effects::none().blob(b"blob".to_vec());
        let effects = effects
            .emit(
                scene.tenant,
                crate::common::LEDGER,
                ledger_of(brings),
                Version::NONE,
                vec![crate::common::entered()],
            )
            .enqueue(second(Act::Everything { follow_ups: 0 }));
        scene.settle("w", succeeded(&leased, effects)).await;
        told.commit(scene).await;
        // From here on a worker does it.
        scene.enqueue(Act::SucceedAt { attempt: 2 }).await;
        told.commit(scene).await;
        let dead = scene.enqueue_job(job(Act::Fail { retryable: true }).max_attempts(1)).await;
        told.commit(scene).await;
        scene.work().await;
        told.commit(scene).await;
        scene.engine.replay(scene.tenant, ACTOR, dead, "again".to_owned()).await.unwrap();
        told.commit(scene).await;
        scene.advance(Duration::from_secs(3));
        scene.work().await;
        told.commit(scene).await;
        let waiting = scene.enqueue(Act::Nothing).await;
        scene.engine.cancel(scene.tenant, ACTOR, waiting, None).await.unwrap();
        let running = scene.enqueue(Act::Nothing).await;
        let leased = scene.lease_one("w").await;
        scene.engine.cancel(scene.tenant, ACTOR, running, None).await.unwrap();
        scene.settle("w", crate::common::failed(&leased, "FLAKY", true)).await;
        told.commit(scene).await;
        told
    }

    /// Remember what the log is now.
    async fn commit(&mut self, scene: &Scene) {
        self.log = log(scene.store()).await;
        self.commits.push(self.log.len());
    }
}

async fn log(store: &Store) -> Vec<StoredEvent> {
    let sql = "SELECT stream_id, tenant_id FROM log_events ORDER BY id";
    let mut tx = store.begin_read().await.unwrap();
    let rows: Vec<(uuid::Uuid, uuid::Uuid)> =
        portable!(tx.conn(), c => sqlx::query_as(sql).fetch_all(c).await).unwrap();
    let streams: BTreeMap<_, _> = rows.into_iter().collect();
    let mut log = Vec::new();
    for (stream, tenant) in streams {
        let tenant = bpc_worker::TenantId(tenant);
        log.extend(bpc_eventstore::read_stream(&mut tx.conn(), tenant, StreamId(stream)).await.unwrap());
    }
    log.sort_by_key(|event| event.id);
    log
}

/// Write a cut log into a fresh database, with every view as the log tells it.
async fn restore(scene: &Scene, cut: &[StoredEvent]) {
    let mut streams: BTreeMap<StreamId, Vec<&StoredEvent>> = BTreeMap::new();
    // The tenant is there already.
    for event in cut.iter().filter(|event| event.stream_id != scene.tenant.into()) {
        streams.entry(event.stream_id).or_default().push(event);
    }
    let mut tx = scene.store().begin().await.unwrap();
    let mut writes = JobWrites::default();
    for events in streams.values() {
        let records: Vec<_> = events.iter().map(|event| record(event)).collect();
        let envelopes: Vec<_> = records.iter().map(|it| Envelope::read(&it.event_bytes).unwrap()).collect();
        if &*records[0].stream_type == STREAM_TYPE {
            let hashed =
                envelopes.iter().zip(&records).map(|(envelope, record)| (envelope, record.event_hash));
            let job = fold_stream(hashed).unwrap().unwrap();
            writes.create(job, records);
        } else {
            for envelope in &envelopes {
                Ledger.apply(&mut tx.conn(), envelope).await.unwrap();
            }
            writes.append(records);
        }
    }
    write_jobs(&mut tx.conn(), &writes).await.unwrap();
    tx.commit().await.unwrap();
}

fn record(event: &StoredEvent) -> EventRecord {
    EventRecord {
        tenant_id: event.tenant_id,
        stream_type: Arc::from(&*event.stream_type),
        stream_id: event.stream_id,
        version: Version(event.version as u32),
        event_type: event.event_type.clone().into(),
        occurred_at: event.at(),
        event_hash: event.hash().unwrap(),
        event_bytes: event.event_bytes.clone(),
    }
}

fn count(log: &[StoredEvent], event_type: &str, stream: StreamId) -> usize {
    log.iter().filter(|event| event.event_type == event_type && event.stream_id == stream).count()
}

/// Resume on the log cut after `length` events.
async fn resume(db: &TestDatabase, told: &Told, length: usize) {
    let cut = &told.log[..length];
    let scene = Scene::still(db).await;
    restore(&scene, cut).await;
    if told.commits.contains(&length) {
        scene.assert_sound().await;
    }
    for _ in 0..8 {
        if scene.count("SELECT count(*) FROM live_jobs").await == 0 {
            break;
        }
        // Leases run out, retries fall due.
        scene.advance(Duration::from_secs(1000));
        scene.work().await;
    }
    assert_eq!(
        scene.count("SELECT count(*) FROM live_jobs").await,
        0,
        "cut after {length}: all are finished"
    );
    let log = log(scene.store()).await;
    for job in log.iter().filter(|event| event.event_type == "ENQUEUED") {
        let id = JobId(job.stream_id.0);
        let successes = count(&log, "SUCCEEDED", job.stream_id);
        let status = scene.status(id).await;
        assert_eq!(successes, usize::from(status == Status::Succeeded), "cut after {length}: {id}");
        let is_done_before = count(cut, "SUCCEEDED", job.stream_id) == 1;
        if is_done_before {
            assert_eq!(scene.notes.runs(id), 0, "cut after {length}: what was done is not run again");
        }
        // A cut inside a commit has lost what that commit brought; a database never does that.
        let is_whole = !is_done_before || told.commits.contains(&length);
        let brings = job.event_bytes.windows(10).any(|it| it == b"everything");
        if brings && is_whole {
            assert_eq!(count(&log, "ENTERED", ledger_of(id)), successes, "cut after {length}: effects once");
        }
        assert!(count(&log, "ENTERED", ledger_of(id)) <= 1);
    }
    if told.commits.contains(&length) {
        scene.assert_sound().await;
    }
}

bpc_testkit::on_both_databases! {
    async fn wherever_the_log_is_cut_a_worker_goes_on_from_there(db) {
        let scene = Scene::still(&db).await;
        let told = Told::by(&scene).await;
        assert!(told.log.len() > 30, "{} events", told.log.len());
        let (told, kind) = (&told, db.kind());
        // A few at a time: most of it is waiting for disks.
        let lengths = futures_util::stream::iter(1..=told.log.len());
        let resume = |length| async move {
            let fresh = match kind {
                DatabaseKind::Postgres => TestDatabase::postgres().await,
                DatabaseKind::Sqlite => TestDatabase::sqlite(),
            };
            resume(&fresh, told, length).await;
        };
        lengths.for_each_concurrent(4, resume).await;
    }
}
