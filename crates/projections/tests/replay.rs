//! Replay of sound and unsound logs: what follows from them, and what cannot.

mod common;

use std::time::Duration;

use bpc_core::{StreamId, Version};
use bpc_eventstore::{Conn, Store, StoreOptions, Tx, portable};
use bpc_projections::replay::{
    DatabaseSource, Drift, DriftCode, Progress, RebuildReport, ReplayError, Until, check, rebuild,
};
use bpc_projections::{JobFilter, list_jobs};
use bpc_testkit::TestDatabase;
use common::{Crowd, House, draft, new_job, projections};

const ALL: JobFilter = JobFilter {
    tenant: None,
    status: None,
    job_type: None,
    queue: None,
    from: None,
    to: None,
    limit: 10_000,
};

bpc_testkit::on_both_databases! {
    async fn after_any_legal_commands_every_view_is_what_the_log_says(db) {
        let seed = 11;
        let mut crowd = Crowd::new(House::seeded(&db, seed).await);
        crowd.work(300).await;
        let house = &crowd.house;
        assert_eq!(kinds_of_job_events(house).await, 16, "seed {seed} leaves out something that can happen");
        house.count(house.acme, "a", &[1, 2, 3]).await;
        house.count(house.other, "b", &[7]).await;
        house.add_log_key("00ff").await;
        let mut seen = Vec::new();
        let report = check(&house.store, &projections(), &mut |progress| seen.push(progress)).await.unwrap();
        assert!(report.is_clean(), "seed {seed}: {:#?}", report.drift);
        assert_eq!(report.jobs, crowd.jobs().len() as u64);
        assert_eq!(report.streams, report.jobs + 2 + 2 + 1, "jobs, tenants, counters, the log");
        assert_eq!(report.rows, report.streams);
        assert_eq!(report.views, ["tenants", "log_keys", "job_queue", "finished_jobs", "drill_streams"]);
        assert!(seen.contains(&Progress::Rebuilding { events: report.events }));
        assert!(seen.contains(&Progress::Comparing { view: "tenants", rows: 2 }));
    }

    async fn what_others_write_meanwhile_is_not_taken_for_drift(db) {
        let crowd = Crowd::new(House::seeded(&db, 5).await);
        let store = crowd.house.store.clone();
        let mut working = Some(tokio::spawn(async move {
            let mut crowd = crowd;
            crowd.work(150).await;
        }));
        while let Some(work) = working.take() {
            let is_last = work.is_finished();
            let report = check(&store, &[], &mut |_| {}).await.unwrap();
            assert!(report.is_clean(), "{:#?}", report.drift);
            if is_last {
                work.await.unwrap();
            } else {
                working = Some(work);
            }
        }
    }

    async fn a_history_that_cannot_be_is_reported_and_no_row_follows_from_it(db) {
        let mut house = House::open(&db).await;
        let (bad, good) = (house.enqueue(house.acme, new_job()).await, house.enqueue(house.other, new_job()).await);
        let done = draft("SUCCEEDED", &serde_json::json!({ "duration_ms": 1, "emitted": [] }));
        house.append(bad.tenant_id, "Job", bad.job_id.into(), Version(1), vec![done]).await;

        let drift = drift(&house.store).await;
        let found: Vec<_> = drift.iter().map(|it| (it.code, it.view, it.key.clone())).collect();
        let (stream, row) = (format!("stream_id={} version=2", bad.job_id), format!("job_id={}", bad.job_id));
        let (history, extra) = (DriftCode::ReplayIllegalHistory, DriftCode::ViewRowExtra);
        assert_eq!(found, [(history, "events", stream), (extra, "job_queue", row)]);
        assert!(drift[0].message.contains("SUCCEEDED cannot follow: the job is QUEUED"), "{}", drift[0].message);
        assert!(!drift.iter().any(|it| it.key.contains(&good.job_id.to_string())));
    }

    async fn a_missing_version_is_reported(db) {
        let mut house = House::open(&db).await;
        let job = house.enqueue(house.acme, new_job()).await;
        let job = house.lease(job).await;
        lift_the_guard(&house).await;
        house.tamper("DELETE FROM events WHERE event_type = 'ENQUEUED'").await;
        let drift = drift(&house.store).await;
        assert_eq!(drift[0].code, DriftCode::ReplayIllegalHistory);
        assert_eq!(drift[0].key, format!("stream_id={} version=2", job.job_id));
    }

    async fn bytes_that_are_no_event_are_reported(db) {
        let mut house = House::open(&db).await;
        let job = house.enqueue(house.acme, new_job()).await;
        lift_the_guard(&house).await;
        let nothing = if db.path().is_some() { "X'7b7d'" } else { "'\\x7b7d'" };
        house.tamper(&format!("UPDATE events SET event_bytes = {nothing} WHERE stream_type = 'Job'")).await;
        let drift = drift(&house.store).await;
        assert_eq!(drift[0].code, DriftCode::ReplayEventUnreadable);
        assert_eq!(drift[0].key, format!("stream_id={} version=1", job.job_id));
    }

    async fn an_event_that_its_view_does_not_take_is_reported(db) {
        let house = House::open(&db).await;
        let stream = StreamId::derived("counter", "odd");
        let odd = draft("COUNTED", &serde_json::json!({ "numero": 1 }));
        house.append(house.acme, "Counter", stream, Version::NONE, vec![odd]).await;
        let drift = drift(&house.store).await;
        assert_eq!(drift.len(), 1, "{drift:#?}");
        assert_eq!(drift[0].code, DriftCode::ReplayEventRefused);
        assert_eq!(drift[0].key, format!("stream_id={stream} version=1"));
        assert!(drift[0].message.contains("counters does not take COUNTED"), "{}", drift[0].message);
    }

    async fn views_can_be_rebuilt_as_they_stood_at_a_moment(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 3).await);
        crowd.work(80).await;
        let (then, listed) = (crowd.house.now(), crowd.house.list(ALL).await);
        crowd.house.pass(Duration::from_secs(1));
        crowd.work(80).await;
        assert_ne!(crowd.house.list(ALL).await, listed);

        let file = TestDatabase::sqlite();
        let target = fresh(&file).await;
        let mut tx = crowd.house.read().await;
        let report = rebuilt(&mut tx, &target, Until::Moment(then)).await.unwrap();
        assert!(report.is_clean(), "{:#?}", report.drift);
        assert_eq!(report.jobs, listed.len() as u64);
        let mut rebuilt = target.begin_read().await.unwrap();
        assert_eq!(list_jobs(&mut rebuilt.conn(), &ALL).await.unwrap(), listed);
    }

    async fn a_target_that_is_not_empty_is_refused(db) {
        let house = House::open(&db).await;
        let file = TestDatabase::sqlite();
        let target = fresh(&file).await;
        let mut tx = house.read().await;
        rebuilt(&mut tx, &target, Until::Newest).await.unwrap();
        let again = rebuilt(&mut tx, &target, Until::Newest).await;
        assert!(matches!(again, Err(ReplayError::TargetNotEmpty("tenants"))), "{again:?}");
    }
}

#[test]
fn names_in_a_report_are_stable() {
    let drift = Drift {
        code: DriftCode::ViewRowDiffers,
        view: "tenants",
        key: "tenant_id=1".to_owned(),
        column: Some("slug"),
        expected: Some("a".to_owned()),
        found: None,
        message: "m".to_owned(),
    };
    let expected = serde_json::json!({ "code": "VIEW_ROW_DIFFERS", "view": "tenants", "key": "tenant_id=1",
        "column": "slug", "expected": "a", "message": "m" });
    assert_eq!(serde_json::to_value(drift).unwrap(), expected);
    let every = [
        DriftCode::ViewRowMissing,
        DriftCode::ViewRowExtra,
        DriftCode::ViewRowDiffers,
        DriftCode::ReplayEventUnreadable,
        DriftCode::ReplayIllegalHistory,
        DriftCode::ReplayEventRefused,
    ];
    for code in every {
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
    }
}

async fn kinds_of_job_events(house: &House) -> i64 {
    let sql = "SELECT count(DISTINCT event_type) FROM log_events WHERE stream_type = 'Job'";
    let mut tx = house.read().await;
    portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_one(c).await).unwrap()
}

async fn rebuilt(log: &mut Tx, target: &Store, until: Until) -> Result<RebuildReport, ReplayError> {
    let mut conn = log.conn();
    rebuild(&mut DatabaseSource::new(&mut conn), target, &[], until, &mut |_| {}).await
}

async fn drift(store: &Store) -> Vec<Drift> {
    check(store, &projections(), &mut |_| {}).await.unwrap().drift
}

async fn fresh(db: &TestDatabase) -> Store {
    let store = Store::connect(db.url(), StoreOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    store
}

/// What whoever holds the database can do.
async fn lift_the_guard(house: &House) {
    let lift = match house.store.begin().await.unwrap().conn() {
        Conn::Postgres(_) => "ALTER TABLE events DISABLE TRIGGER events_append_only",
        Conn::Sqlite(_) => "DROP TRIGGER events_refuse_update; DROP TRIGGER events_refuse_delete",
    };
    house.tamper(lift).await;
}
