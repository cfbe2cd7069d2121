//! The guard rails of the tables that hold events.

use bpc_eventstore::{Conn, Database, append_to_streams};
use bpc_testkit::{DatabaseKind, TestDatabase, on_both_databases};
use sqlx::{AssertSqlSafe, Executor};

use crate::cohorts::{Rows, Together, write, write_on};
use crate::common::{CAUSE, all_events, append, empty_log, event_count, notes, run_sql, stream};

on_both_databases! {
    async fn an_event_is_neither_changed_nor_deleted(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 3)]).await.unwrap();
        let before = all_events(&store).await;
        let mut statements = vec![
            "UPDATE events SET event_type = 'FORGED' WHERE version = 2",
            "DELETE FROM events WHERE version = 3",
            "DELETE FROM events",
        ];
        if db.kind() == DatabaseKind::Postgres {
            statements.push("TRUNCATE events");
        }
        for statement in statements {
            let error = run_sql(&store, statement).await.unwrap_err();
            assert!(error.to_string().contains("append only"), "{error}");
            assert_eq!(all_events(&store).await, before, "after {statement}");
        }
    }

    async fn a_replacing_insert_is_refused_too(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap();
        let before = all_events(&store).await;
        let columns = "tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes";
        let upsert = format!(
            "INSERT INTO events ({columns}) SELECT {columns} FROM events WHERE true \
             ON CONFLICT (stream_id, version) DO UPDATE SET event_type = 'FORGED'"
        );
        let error = run_sql(&store, &upsert).await.unwrap_err();
        assert!(error.to_string().contains("append only"), "{error}");
        assert_eq!(all_events(&store).await, before);
    }
}

/// PostgreSQL has a second table, for events of jobs that go together.
#[tokio::test]
async fn what_happened_to_jobs_together_is_neither_changed_nor_deleted() {
    let db = TestDatabase::postgres().await;
    let store = empty_log(&db).await;
    write(&store, &Together::new(3).enqueue(), Rows::Shared).await;
    let before = all_events(&store).await;
    let columns = "occurred_at, version, tenant_id, first_stream_id, last_stream_id, event_type, stream_ids, event_hashes, \
        event_lines";
    let upsert = format!(
        "INSERT INTO cohort_events ({columns}) SELECT {columns} FROM cohort_events WHERE true \
         ON CONFLICT (first_stream_id, version) DO UPDATE SET event_type = 'FORGED'"
    );
    for statement in [
        "UPDATE cohort_events SET event_type = 'FORGED'",
        "DELETE FROM cohort_events",
        "TRUNCATE cohort_events",
        &upsert,
    ] {
        let error = run_sql(&store, statement).await.unwrap_err();
        assert!(error.to_string().contains("append only"), "{error}");
        assert_eq!(all_events(&store).await, before, "after {statement}");
    }
}

/// SQLite's REPLACE deletes the row in its way, by default without asking the triggers.
#[tokio::test]
async fn sqlite_replaces_no_event() {
    let db = TestDatabase::sqlite();
    let store = empty_log(&db).await;
    append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap();
    let before = all_events(&store).await;
    for statement in [
        "REPLACE INTO events SELECT * FROM events WHERE version = 1",
        "INSERT OR REPLACE INTO events SELECT 99, occurred_at, version, tenant_id, stream_id, stream_type, \
         'FORGED', event_hash, event_bytes FROM events WHERE version = 1",
    ] {
        let error = run_sql(&store, statement).await.unwrap_err();
        assert!(error.to_string().contains("append only"), "{error}");
        assert_eq!(all_events(&store).await, before);
    }
}

/// The setup for production: the program's role may add to the log and no more, so the guard rail is
/// not its own to lift.
#[tokio::test]
async fn a_role_with_insert_and_select_appends_and_cannot_do_more() {
    let db = TestDatabase::postgres().await;
    let store = empty_log(&db).await;
    let Database::Postgres(pool) = &store.database else { unreachable!("the database is PostgreSQL") };
    let database: String = sqlx::query_scalar("SELECT current_database()").fetch_one(pool).await.unwrap();
    let role = format!("app_of_{database}");
    let setup = format!(
        "CREATE ROLE {role}; GRANT USAGE ON SCHEMA public TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}; \
         GRANT USAGE ON SEQUENCE events_id_seq TO {role}; \
         REVOKE UPDATE, DELETE ON events, cohort_events FROM {role}"
    );
    run_sql(&store, &setup).await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    conn.execute(AssertSqlSafe(format!("SET ROLE {role}"))).await.unwrap();

    append_to_streams(&mut Conn::from(&mut *conn), &[notes(stream("a"), 0, 2)], CAUSE).await.unwrap();
    write_on(&mut Conn::from(&mut *conn), &Together::new(3).enqueue(), Rows::Shared).await;
    for statement in [
        "UPDATE events SET version = 3 WHERE version = 2",
        "DELETE FROM events",
        "TRUNCATE events",
        "DROP TRIGGER events_append_only ON events",
        "ALTER TABLE events DISABLE TRIGGER ALL",
        "DROP TABLE events",
        "UPDATE cohort_events SET version = 3",
        "DELETE FROM cohort_events",
        "TRUNCATE cohort_events",
        "DROP TRIGGER cohort_events_append_only ON cohort_events",
        "ALTER TABLE cohort_events DISABLE TRIGGER ALL",
        "DROP TABLE cohort_events",
        "SELECT setval('events_id_seq', 1)",
    ] {
        let error = conn.execute(statement).await.unwrap_err();
        let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
        assert_eq!(code, "42501", "{statement} must fail for want of rights, not otherwise: {error}");
    }
    conn.execute("RESET ROLE").await.unwrap();
    drop(conn);
    assert_eq!(event_count(&store).await, 5);
    run_sql(&store, &format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}
