//! Views changed behind the engine's back: every kind of change is found, where it is.

mod common;

use bpc_eventstore::portable;
use bpc_projections::ViewTable;
use bpc_projections::replay::{CheckReport, DRIFT_MAX, Drift, DriftCode, check, view_tables};
use bpc_testkit::{DatabaseKind, TestDatabase};
use common::{House, failed, new_job, projections};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

bpc_testkit::on_both_databases! {
    async fn any_column_of_any_view_changed_is_reported_with_row_and_column(db) {
        let house = inhabited(&db).await;
        for view in view_tables(&projections()) {
            let key = first_key(&house, &view).await;
            for &column in &view.columns[view.key_columns..] {
                let report = tampered(&house, &view, &change(&db, &view, column)).await;
                assert_eq!(report.drift_total, 1, "{}.{column}: {:#?}", view.name, report.drift);
                let Drift { code, view: name, key: at, column: which, expected, found, .. } = &report.drift[0];
                assert_eq!((*code, *name, *which), (DriftCode::ViewRowDiffers, view.name, Some(column)));
                assert_eq!(*at, key);
                assert!(expected.is_some() && found.is_some() && expected != found);
            }
        }
    }

    async fn a_changed_key_is_one_row_too_few_and_one_too_many(db) {
        let house = inhabited(&db).await;
        for view in view_tables(&projections()) {
            let key = first_key(&house, &view).await;
            for column in &view.columns[..view.key_columns] {
                let report = tampered(&house, &view, &change(&db, &view, column)).await;
                assert_eq!(report.drift_total, 2, "{}.{column}: {:#?}", view.name, report.drift);
                let of = |code| report.drift.iter().find(|drift| drift.code == code && drift.view == view.name);
                assert_eq!(of(DriftCode::ViewRowMissing).expect("a row too few").key, key);
                assert_ne!(of(DriftCode::ViewRowExtra).expect("a row too many").key, key);
            }
        }
    }

    async fn a_deleted_row_of_any_view_is_reported(db) {
        let house = inhabited(&db).await;
        for view in view_tables(&projections()) {
            let key = first_key(&house, &view).await;
            let report = tampered(&house, &view, &format!("DELETE FROM {} {}", view.name, first_row(&view))).await;
            assert_eq!(report.drift_total, 1, "{}: {:#?}", view.name, report.drift);
            assert_eq!(report.drift[0].code, DriftCode::ViewRowMissing);
            assert_eq!((report.drift[0].view, &report.drift[0].key), (view.name, &key));
        }
    }

    async fn more_drift_than_is_kept_is_still_counted(db) {
        let house = inhabited(&db).await;
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) \
            INSERT INTO log_keys SELECT 'key-' || i, 'nobody', 0 FROM n";
        house.tamper(many).await;
        let report = check(&house.store, &projections(), &mut |_| {}).await.unwrap();
        assert_eq!(report.drift_total, 1500);
        assert_eq!(report.drift.len(), DRIFT_MAX);
        assert!(report.drift.iter().all(|drift| drift.code == DriftCode::ViewRowExtra));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_that_sorts_text_as_people_do_is_compared_byte_by_byte() {
    let db = TestDatabase::postgres().await;
    let house = inhabited(&db).await;
    // There aa00 comes before Bb11, in bytes behind it.
    house.tamper("ALTER TABLE log_keys ALTER COLUMN public_key TYPE TEXT COLLATE \"en-x-icu\"").await;
    let report = check(&house.store, &projections(), &mut |_| {}).await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.drift);
}

/// A house with at least one row in every view.
async fn inhabited(db: &TestDatabase) -> House {
    let mut house = House::open(db).await;
    let running = house.enqueue(house.acme, new_job()).await;
    house.lease(running).await;
    house.enqueue(house.other, new_job()).await;
    let finished = house.enqueue(house.acme, new_job()).await;
    let finished = house.lease(finished).await;
    house.settle(finished, failed(false)).await;
    house.count(house.acme, "a", &[1, 2]).await;
    house.count(house.other, "b", &[3]).await;
    house.add_log_key("aa00").await;
    house.add_log_key("Bb11").await;
    house
}

/// The report while a view is changed; afterwards the view is as before.
async fn tampered(house: &House, view: &ViewTable, change: &str) -> CheckReport {
    let name = view.name;
    house.tamper(&format!("CREATE TABLE kept AS SELECT * FROM {name}")).await;
    house.tamper(change).await;
    let report = check(&house.store, &projections(), &mut |_| {}).await.unwrap();
    house
        .tamper(&format!("DELETE FROM {name}; INSERT INTO {name} SELECT * FROM kept; DROP TABLE kept"))
        .await;
    report
}

/// Give a column of the first row another value of its type.
fn change(db: &TestDatabase, view: &ViewTable, column: &str) -> String {
    let bytes = |hex: &str| match db.kind() {
        DatabaseKind::Postgres => format!("'\\x{hex}'"),
        DatabaseKind::Sqlite => format!("X'{hex}'"),
    };
    let value = match column {
        "tenant_id" | "job_id" | "stream_id" | "last_job_id" => match db.kind() {
            DatabaseKind::Postgres => "'ffffffff-ffff-4fff-bfff-ffffffffffff'".to_owned(),
            DatabaseKind::Sqlite => bytes("ffffffffffff4fffbfffffffffffffff"),
        },
        "head_hash" => bytes(&"ab".repeat(32)),
        "running" | "cancel_requested" | "resolved" => format!("NOT {column}"),
        "slug" | "name" | "public_key" | "origin" | "job_type" | "queue" | "worker_id" | "error_code"
        | "error_message" | "status" => format!("COALESCE({column}, '') || 'x'"),
        _ => format!("COALESCE({column}, 0) + 1"),
    };
    format!("UPDATE {} SET {column} = {value} {}", view.name, first_row(view))
}

fn first_row(view: &ViewTable) -> String {
    let (name, key) = (view.name, view.columns[0]);
    format!("WHERE {key} = (SELECT {key} FROM {name} ORDER BY {key} LIMIT 1)")
}

/// The key of the first row as a report writes it.
async fn first_key(house: &House, view: &ViewTable) -> String {
    let mut tx = house.read().await;
    let mut key = Vec::new();
    for &column in &view.columns[..view.key_columns] {
        let sql = format!("SELECT {column} FROM {} {}", view.name, first_row(view));
        let value = portable!(tx.conn(), c => match column {
            "public_key" => sqlx::query_scalar::<_, String>(AssertSqlSafe(sql)).fetch_one(c).await,
            "created_at" => {
                sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql)).fetch_one(c).await.map(|it| it.to_string())
            }
            _ => sqlx::query_scalar::<_, Uuid>(AssertSqlSafe(sql)).fetch_one(c).await.map(|it| it.to_string()),
        });
        key.push(format!("{column}={}", value.unwrap()));
    }
    key.join(" ")
}
