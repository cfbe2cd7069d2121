//! The schema: created once, by anybody, never taken for an older one.

use std::collections::BTreeSet;
use std::path::Path;

use bpc_eventstore::{MIGRATIONS, Store, StoreOptions};
use bpc_testkit::on_both_databases;

use crate::common::{append, connect, empty_log, event_count, notes, number, run_sql, stream};

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
