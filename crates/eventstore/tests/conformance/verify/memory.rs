//! Memory stays flat however long the log: the database reads in the order of an index and never
//! sorts the whole of it.

use bpc_eventstore::Conn;
use bpc_testkit::on_both_databases;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use super::log::small_log;

on_both_databases! {
    async fn the_scan_follows_the_index(db) {
        let store = small_log(&db).await;
        let mut tx = store.begin_read().await.unwrap();
        match tx.conn() {
            Conn::Postgres(conn) => {
                let scan = include_str!("../../../src/postgres/sql/scan_events.sql");
                let explain = AssertSqlSafe(format!("EXPLAIN {scan}"));
                let rows = sqlx::query(explain).bind(None::<Uuid>).fetch_all(conn).await.unwrap();
                let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
                let plan = plan.join("\n");
                // A full sort would be named just "Sort".
                assert!(plan.starts_with("Incremental Sort"), "{plan}");
                assert!(plan.contains("Presorted Key: events.stream_id, events.version\n"), "{plan}");
                for index in ["events_stream_version", "cohort_events_stream_version"] {
                    assert!(plan.contains(&format!("Index Scan using {index} on")), "{plan}");
                }
            }
            Conn::Sqlite(conn) => {
                let scan = include_str!("../../../src/sqlite/sql/scan_events.sql");
                let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {scan}"));
                let rows = sqlx::query(explain).bind(None::<Uuid>).fetch_all(conn).await.unwrap();
                let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
                let expected = [
                    "SCAN i USING COVERING INDEX sqlite_autoindex_events_1",
                    "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)",
                ];
                assert_eq!(plan, expected);
            }
        }
    }
}
