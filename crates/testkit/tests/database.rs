//! A fresh database for every test.

use bpc_testkit::{DatabaseKind, TestDatabase, on_both_databases};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};

/// The number of tables after creating one that must not have been there.
async fn create_table(db: &TestDatabase) -> i64 {
    let create = "CREATE TABLE mine (n int)";
    match db.kind() {
        DatabaseKind::Postgres => {
            let mut connection = PgConnection::connect(db.url()).await.unwrap();
            connection.execute(create).await.unwrap();
            let count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
            let fetched = sqlx::query_scalar(count).fetch_one(&mut connection).await;
            fetched.unwrap()
        }
        DatabaseKind::Sqlite => {
            let options: SqliteConnectOptions = db.url().parse().unwrap();
            let mut connection: SqliteConnection = options.create_if_missing(true).connect().await.unwrap();
            connection.execute(create).await.unwrap();
            let count = "SELECT count(*) FROM sqlite_schema";
            let fetched = sqlx::query_scalar(count).fetch_one(&mut connection).await;
            fetched.unwrap()
        }
    }
}

async fn another(db: &TestDatabase) -> TestDatabase {
    match db.kind() {
        DatabaseKind::Postgres => TestDatabase::postgres().await,
        DatabaseKind::Sqlite => TestDatabase::sqlite(),
    }
}

on_both_databases! {
    async fn it_is_fresh(db) {
        assert_eq!(create_table(&db).await, 1);
    }

    async fn two_are_isolated(db: TestDatabase) {
        let other = another(&db).await;
        assert_ne!(db.url(), other.url());
        assert_eq!(create_table(&db).await, 1);
        assert_eq!(create_table(&other).await, 1);
    }

    /// Attributes and results are passed through.
    #[should_panic(expected = "on purpose")]
    async fn a_test_may_fail(db) {
        panic!("{:?} on purpose", db.kind());
    }

    async fn a_test_may_return_a_result(db) -> sqlx::Result<()> {
        if db.kind() == DatabaseKind::Postgres {
            PgConnection::connect(db.url()).await?.close().await?;
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_postgres_database_is_gone_though_in_use() {
    let db = TestDatabase::postgres().await;
    let url = db.url().to_owned();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    db.close();
    assert!(connection.ping().await.is_err());
    assert!(PgConnection::connect(&url).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_sqlite_database_is_gone() {
    let db = TestDatabase::sqlite();
    create_table(&db).await;
    let path = db.path().unwrap().to_owned();
    assert!(path.is_absolute() && path.exists());
    db.close();
    assert!(!path.exists());
}
