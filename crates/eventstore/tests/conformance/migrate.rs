//! The schema: created once, by anybody, never taken for an older one.

use std::collections::BTreeSet;
use std::path::Path;

use bpc_eventstore::seal::unsealed;
use bpc_eventstore::verify::{VerifyOptions, verify};
use bpc_eventstore::{MIGRATIONS, Store, StoreOptions, add_log_key, append_to_streams};
use bpc_testkit::{TestDatabase, on_both_databases};

use crate::cohorts::{Rows, Together, write_life};
use crate::common::{CAUSE, append, connect, empty_log, event_count, notes, number, run_sql, stream};
use crate::seal::log::{ORIGIN, seal, sealed_events, secret};

on_both_databases! {
    async fn ten_that_start_together_find_one_schema(db) {
        let starts = (0..10).map(|_| {
            let url = db.url().to_owned();
            tokio::spawn(async move {
                let options = StoreOptions { connections_max: 2, ..StoreOptions::default() };
                let store = Store::connect(&url, options).await?;
                let migrated = store.migrate().await;
                store.close().await;
                migrated
            })
        });
        for start in starts.collect::<Vec<_>>() {
            start.await.unwrap().unwrap();
        }
        let store = connect(&db).await;
        let rows = number(&store, "SELECT count(*) FROM schema_migrations").await;
        assert_eq!(rows, MIGRATIONS.len() as i64);
        append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap();
    }

    async fn migrating_again_changes_nothing(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap();
        store.migrate().await.unwrap();
        connect(&db).await.migrate().await.unwrap();
        assert_eq!(event_count(&store).await, 2);
    }

    async fn a_newer_schema_is_refused(db) {
        let store = empty_log(&db).await;
        run_sql(&store, "INSERT INTO schema_migrations (version, name) VALUES (9999, 'from the future')")
            .await
            .unwrap();
        let error = store.migrate().await.unwrap_err();
        assert_eq!(error.code(), "SCHEMA_TOO_NEW");
        assert!(!error.is_retryable());
    }

    async fn without_a_schema_the_error_says_what_to_do(db) {
        let store = connect(&db).await;
        let error = append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap_err();
        assert_eq!(error.code(), "NOT_INITIALISED");
        assert!(error.to_string().contains("bpc init"));
    }
}

/// Rows as they were before there were cohorts, each with the next id.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_from_before_cohorts_goes_on() {
    let db = TestDatabase::postgres().await;
    let store = connect(&db).await;
    let schema = "CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL)";
    run_sql(&store, schema).await.unwrap();
    for migration in MIGRATIONS.iter().filter(|migration| migration.version < 11) {
        run_sql(&store, migration.postgres).await.unwrap();
        let (version, name) = (migration.version, migration.name);
        let applied = format!("INSERT INTO schema_migrations (version, name) VALUES ({version}, '{name}')");
        run_sql(&store, &applied).await.unwrap();
    }
    add_log_key(&store, ORIGIN, secret().public_hex(), "user:ops").await.unwrap();
    let mut late = store.begin().await.unwrap();
    append_to_streams(&mut late.conn(), &[notes(stream("late"), 0, 3)], CAUSE).await.unwrap();
    append(&store, &[notes(stream("a"), 0, 4)]).await.unwrap();
    // The sealer of then passed over the ids 2, 3 and 4; that of now cannot do without the new names.
    let table = "ALTER TABLE seal_gaps RENAME COLUMN holders TO writers; CREATE TABLE cohort_events AS SELECT id, occurred_at, version, tenant_id, stream_id AS first_stream_id, \
        stream_id AS last_stream_id, event_type, event_hash AS stream_ids, event_hash AS event_hashes, \
        event_bytes AS event_lines FROM events WHERE false";
    run_sql(&store, table).await.unwrap();
    assert_eq!(seal(&store).await.events, 5);
    let gap = "DROP TABLE cohort_events; ALTER TABLE seal_gaps RENAME COLUMN writers TO holders; \
        INSERT INTO seal_gaps (is_fresh, holders, first_ids, last_ids) VALUES (true, '{}', '{2}', '{4}')";
    run_sql(&store, gap).await.unwrap();
    late.commit().await.unwrap();
    append(&store, &[notes(stream("b"), 0, 1), notes(stream("c"), 0, 70)]).await.unwrap();
    let before = number(&store, "SELECT max(id) FROM events").await;
    assert_eq!(before, 1 + 3 + 4 + 71);

    store.migrate().await.unwrap();
    assert_eq!(unsealed(&store).await.unwrap().events, 3 + 71);
    append(&store, &[notes(stream("a"), 4, 2)]).await.unwrap();
    assert_eq!(number(&store, "SELECT max(id) FROM events").await, 192, "from the next word on, by the word");
    assert_eq!(seal(&store).await.events, 3 + 71 + 2);
    let report = verify(&store, &VerifyOptions::default(), |_| {}).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    write_life(&store, &mut Together::new(5), Rows::Shared).await;
    assert_eq!(number(&store, "SELECT min(id) FROM cohort_events").await, 256);
    seal(&store).await;
    assert_eq!(number(&store, "SELECT count(*) FROM seal_gaps").await, 0);
    assert_eq!(sealed_events(&store).await.len() as i64, event_count(&store).await);
    assert_eq!(unsealed(&store).await.unwrap().events, 0);
}

#[test]
fn both_databases_have_the_same_migrations_and_all_are_known() {
    let folder = |name: &str| -> BTreeSet<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(name);
        let files = std::fs::read_dir(path).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    };
    let known = MIGRATIONS.iter().map(|migration| format!("{}.sql", migration.name)).collect();
    assert_eq!(folder("postgres"), known);
    assert_eq!(folder("sqlite"), known);
    for (migration, number) in MIGRATIONS.iter().zip(1..) {
        assert_eq!(migration.version, number, "numbers are dense");
        assert!(migration.name.starts_with(&format!("{number:04}_")), "{}", migration.name);
    }
}

#[tokio::test]
async fn an_address_of_no_known_kind_is_refused() {
    for url in ["", "mysql://localhost/x", "log.db", "postgres"] {
        let error = Store::connect(url, StoreOptions::default()).await.unwrap_err();
        assert_eq!(error.code(), "DATABASE_URL_INVALID", "{url:?}");
    }
}

#[tokio::test]
async fn a_missing_file_is_not_made_unless_asked_for() {
    let db = bpc_testkit::TestDatabase::sqlite();
    let options = StoreOptions { create: false, ..StoreOptions::default() };
    let error = Store::connect(db.url(), options).await.unwrap_err();
    assert_eq!(error.code(), "DATABASE_UNAVAILABLE");
    assert!(!db.path().unwrap().exists());
}
