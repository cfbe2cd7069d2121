//! Statements written in each database's own tongue: none without its counterpart, none that does not
//! fit the schema.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bpc_eventstore::Conn;
use bpc_testkit::on_both_databases;
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};

use crate::common::empty_log;

/// Every crate's folder of statements for a database, where there is one.
fn folders(database: &str) -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sources = std::fs::read_dir(crates).unwrap().map(|room| room.unwrap().path().join("src"));
    sources.map(|source| source.join(database).join("sql")).filter(|folder| folder.is_dir()).collect()
}

fn statements(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()
}

/// `eventstore/append_events.sql`
fn names(database: &str) -> BTreeSet<String> {
    let name = |file: PathBuf| {
        let room = file.ancestors().nth(4).unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        format!("{room}/{}", file.file_name().unwrap().to_str().unwrap())
    };
    folders(database).iter().flat_map(|folder| statements(folder)).map(name).collect()
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
        for file in statements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(store.kind()).join("sql")) {
            let sql = AssertSqlSafe(std::fs::read_to_string(&file).unwrap()).into_sql_str();
            let prepared = match tx.conn() {
                Conn::Postgres(conn) => conn.prepare(sql).await.map(drop),
                Conn::Sqlite(conn) => conn.prepare(sql).await.map(drop),
            };
            prepared.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
}
