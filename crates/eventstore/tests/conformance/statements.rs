//! Statements written in each database's own tongue: none without its counterpart, none that does not
//! fit the schema.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bpc_eventstore::Conn;
use bpc_testkit::on_both_databases;
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};

use crate::common::empty_log;

fn statements(database: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(database).join("sql");
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()
}

fn names(database: &str) -> BTreeSet<String> {
    let name = |file: PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    statements(database).into_iter().map(name).collect()
}

#[test]
fn every_statement_has_its_counterpart() {
    assert!(!names("postgres").is_empty());
    assert_eq!(names("postgres"), names("sqlite"));
}

on_both_databases! {
    async fn every_statement_fits_the_schema(db) {
        let store = empty_log(&db).await;
        let mut tx = store.begin_read().await.unwrap();
        for file in statements(store.kind()) {
            let sql = AssertSqlSafe(std::fs::read_to_string(&file).unwrap()).into_sql_str();
            let prepared = match tx.conn() {
                Conn::Postgres(conn) => conn.prepare(sql).await.map(drop),
                Conn::Sqlite(conn) => conn.prepare(sql).await.map(drop),
            };
            prepared.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
}
