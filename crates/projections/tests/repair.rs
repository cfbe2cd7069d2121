//! Views made what the log says again, whatever was done to them and whoever works meanwhile.

mod common;

use bpc_core::Version;
use bpc_projections::replay::{DriftCode, RepairReport, check, repair, view_tables};
use bpc_testkit::TestDatabase;
use common::{Crowd, House, draft, new_job, projections};

bpc_testkit::on_both_databases! {
    async fn whatever_was_done_to_the_views_is_undone(db) {
        let house = inhabited(&db).await;
        let damage = [
            ("job_queue", "DELETE FROM job_queue"),
            ("finished_jobs", "UPDATE finished_jobs SET status = 'FAILED', attempts = attempts + 1, error_code = NULL"),
            ("finished_jobs", "DELETE FROM finished_jobs"),
            ("job_queue", "UPDATE job_queue SET running = NOT running, head_hash = NULL, worker_id = 'nobody'"),
            ("tenants", "UPDATE tenants SET slug = 'x' || slug, name = name || '!'"),
            ("drill_streams", "UPDATE drill_streams SET events = 0"),
            ("log_keys", "INSERT INTO log_keys (public_key, origin, added_at) VALUES ('ff', 'nobody', 1)"),
        ];
        for (view, sql) in damage {
            house.tamper(sql).await;
            let before = check(&house.store, &projections(), &mut |_| {}).await.unwrap();
            assert!(!before.is_clean(), "{sql} changes something");
            let report = repaired(&house).await;
            assert_eq!(report.repaired.keys().copied().collect::<Vec<_>>(), [view], "{sql}");
            assert_eq!(report.drift_total, before.drift_total, "what was there is reported");
            assert_clean(&house).await;
        }
        assert!(repaired(&house).await.repaired.is_empty(), "nothing is left to do");
    }

    async fn keys_that_changed_places_are_put_back(db) {
        let house = inhabited(&db).await;
        // Slugs are unique: whoever puts one back has to take the other away first.
        house.tamper("UPDATE tenants SET slug = 'swap' WHERE slug = 'acme'; \
            UPDATE tenants SET slug = 'acme' WHERE slug = 'other'; \
            UPDATE tenants SET slug = 'other' WHERE slug = 'swap'").await;
        assert_eq!(repaired(&house).await.repaired["tenants"], 2);
        assert_clean(&house).await;
    }

    async fn a_view_that_is_mostly_wrong_is_written_anew(db) {
        let house = inhabited(&db).await;
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500) \
            INSERT INTO log_keys SELECT 'key-' || i, 'nobody', 0 FROM n";
        house.tamper(many).await;
        assert_eq!(repaired(&house).await.repaired["log_keys"], 10_500);
        assert_clean(&house).await;
    }

    async fn a_repair_beside_people_who_work_leaves_nothing_wrong(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 31).await);
        crowd.work(60).await;
        let store = crowd.house.store.clone();
        let working = tokio::spawn(async move {
            crowd.work(120).await;
            crowd
        });
        let mut repairs = 0;
        while !working.is_finished() {
            let report = repair(&store, &[], &mut |_| {}).await.unwrap();
            assert!(report.repaired.is_empty(), "{:#?}", report.drift);
            repairs += 1;
        }
        assert!(repairs > 0);
        let crowd = working.await.unwrap();
        assert!(check(&crowd.house.store, &[], &mut |_| {}).await.unwrap().is_clean());
    }

    async fn views_of_a_damaged_log_are_left_alone(db) {
        let mut house = House::open(&db).await;
        let job = house.enqueue(house.acme, new_job()).await;
        let done = draft("SUCCEEDED", &serde_json::json!({ "duration_ms": 1, "emitted": [] }));
        house.append(job.tenant_id, "Job", job.job_id.into(), Version(1), vec![done]).await;
        let refused = repair(&house.store, &projections(), &mut |_| {}).await;
        assert!(matches!(&refused, Err(error) if error.code() == "REPLAY_LOG_UNSOUND"), "{refused:?}");
        let drift = check(&house.store, &projections(), &mut |_| {}).await.unwrap().drift;
        assert!(drift.iter().any(|drift| drift.code == DriftCode::ViewRowExtra), "its row is still there");
    }

    async fn a_repair_that_does_not_commit_changes_nothing(db) {
        let house = inhabited(&db).await;
        house.tamper("DELETE FROM job_queue").await;
        house.store.fault.fail_not_persisted(0);
        assert!(repair(&house.store, &projections(), &mut |_| {}).await.is_err());
        assert!(!check(&house.store, &projections(), &mut |_| {}).await.unwrap().is_clean());
        repaired(&house).await;
        assert_clean(&house).await;
    }
}

/// Something in every view.
async fn inhabited(db: &TestDatabase) -> House {
    let mut crowd = Crowd::new(House::seeded(db, 30).await);
    crowd.work(120).await;
    let house = crowd.house;
    house.count(house.acme, "a", &[1, 2]).await;
    house.seal().await;
    for view in view_tables(&projections()) {
        assert!(rows(&house, view.name).await > 0, "{} has rows", view.name);
    }
    house
}

async fn rows(house: &House, view: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {view}"));
    let mut tx = house.read().await;
    bpc_eventstore::portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_one(c).await).unwrap()
}

async fn repaired(house: &House) -> RepairReport {
    repair(&house.store, &projections(), &mut |_| {}).await.unwrap()
}

async fn assert_clean(house: &House) {
    let report = check(&house.store, &projections(), &mut |_| {}).await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.drift);
}
