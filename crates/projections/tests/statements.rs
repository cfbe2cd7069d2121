//! The statements that are written once per database: they come in pairs, and each of them is one that
//! its database understands.

use std::path::{Path, PathBuf};

use bpc_eventstore::{Database, Store, StoreOptions};
use bpc_testkit::TestDatabase;
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};

fn files(database: &str) -> Vec<PathBuf> {
    files_in(&format!("{database}/sql"))
}

fn files_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn names(database: &str) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    files(database).into_iter().map(name).collect()
}

async fn migrated(db: &TestDatabase) -> Store {
    let store = Store::connect(db.url(), StoreOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    store
}

/// Statements of PostgreSQL that begin and end with the same parts, by the name of what is between.
const DUE: [&str; 2] = ["leasable_jobs.sql", "take_jobs.sql"];

/// The one that SQLite does in two steps.
const POSTGRES_ONLY: &str = "take_jobs.sql";

#[test]
fn every_statement_has_its_counterpart_of_the_same_name() {
    let mut of_postgres = names("postgres");
    of_postgres.extend(DUE.into_iter().filter(|name| *name != POSTGRES_ONLY).map(str::to_owned));
    of_postgres.sort();
    assert_eq!(of_postgres, names("sqlite"));
}

#[tokio::test]
async fn every_postgres_statement_prepares_on_a_migrated_database() {
    let db = TestDatabase::postgres().await;
    let store = migrated(&db).await;
    let Database::Postgres(pool) = &store.database else { panic!("PostgreSQL was asked for") };
    let read = |file: &PathBuf| std::fs::read_to_string(file).unwrap();
    let mut statements: Vec<_> = files("postgres").iter().map(|file| (file.clone(), read(file))).collect();
    let (between, ends): (Vec<_>, Vec<_>) =
        files_in("postgres/due").into_iter().partition(|file| DUE.iter().any(|name| file.ends_with(name)));
    let [first, last] = &ends[..] else { panic!("two parts are shared, not {ends:?}") };
    assert!(first.ends_with("due_jobs.sql") && last.ends_with("found_jobs.sql"), "{ends:?}");
    assert_eq!(between.len(), DUE.len());
    statements
        .extend(between.into_iter().map(|file| (file.clone(), read(first) + &read(&file) + &read(last))));
    let is_sql = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "sql");
    let others = files_in("postgres/alone").into_iter().chain(files_in("postgres/cohort")).filter(is_sql);
    statements.extend(others.map(|file| (file.clone(), read(&file))));
    for (file, sql) in statements {
        let prepared = pool.prepare(AssertSqlSafe(sql).into_sql_str()).await;
        prepared.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

#[tokio::test]
async fn every_sqlite_statement_prepares_on_a_migrated_database() {
    let db = TestDatabase::sqlite();
    let store = migrated(&db).await;
    let Database::Sqlite(pools) = &store.database else { panic!("SQLite was asked for") };
    for file in files("sqlite").into_iter().chain(files_in("sqlite/alone")) {
        let sql = std::fs::read_to_string(&file).unwrap();
        let prepared = pools.writer.prepare(AssertSqlSafe(sql).into_sql_str()).await;
        prepared.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}
