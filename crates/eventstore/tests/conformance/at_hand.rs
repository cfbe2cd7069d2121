//! A connection that stays at hand is still one of the pool's.

use std::time::Duration;

use bpc_eventstore::{Database, Store, StoreOptions};
use bpc_testkit::TestDatabase;
use sqlx::PgPool;

use crate::common::empty_log;

async fn two_connections(db: &TestDatabase) -> Store {
    empty_log(db).await.close().await;
    let options = StoreOptions { connections_max: 2, ..StoreOptions::default() };
    Store::connect(db.url(), options).await.unwrap()
}

fn pool(store: &Store) -> &PgPool {
    let Database::Postgres(pool) = &store.database else { panic!("PostgreSQL was asked for") };
    pool
}

async fn ask(store: &Store) {
    store.at_hand.execute(pool(store), sqlx::query("SELECT 1")).await.unwrap();
}

#[tokio::test]
async fn statements_that_follow_each_other_take_one_connection() {
    let db = TestDatabase::postgres().await;
    let store = two_connections(&db).await;
    for _ in 0..100 {
        ask(&store).await;
    }
    assert_eq!(pool(&store).size(), 1);
}

#[tokio::test]
async fn everybody_gets_a_connection_while_one_is_at_hand() {
    let db = TestDatabase::postgres().await;
    let store = two_connections(&db).await;
    for _ in 0..10 {
        ask(&store).await;
        let (one, two) = (pool(&store).acquire().await.unwrap(), pool(&store).acquire().await.unwrap());
        drop((one, two));
        let (one, two) = (store.begin().await.unwrap(), store.begin_read().await.unwrap());
        drop((one, two));
    }
}

#[tokio::test]
async fn whoever_has_one_connection_begins_again_at_once_whatever_became_of_the_transaction_before() {
    let db = TestDatabase::postgres().await;
    let store = two_connections(&db).await.dedicated();
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        drop(store.begin().await.unwrap());
        store.begin().await.unwrap().commit().await.unwrap();
        drop(store.glance().await.unwrap());
        let given_up = tokio::time::timeout(Duration::from_micros(50), store.begin_read()).await;
        drop(given_up);
        let mut failed = store.begin().await.unwrap();
        failed.conn().execute("SELECT 1 / 0").await.unwrap_err();
        drop(failed);
    }
    assert_eq!(pool(&store).size(), 1);
    // Waiting for it in vain takes as long as a connection may.
    assert!(begun.elapsed() < StoreOptions::default().acquire_timeout, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn what_failed_or_was_given_up_does_not_stay_at_hand() {
    let db = TestDatabase::postgres().await;
    let store = two_connections(&db).await;
    ask(&store).await;
    let refused = store.at_hand.execute(pool(&store), sqlx::query("SELECT 1 / 0")).await;
    assert!(refused.is_err());
    let slow = store.at_hand.execute(pool(&store), sqlx::query("SELECT pg_sleep(0.05)"));
    assert!(tokio::time::timeout(Duration::from_millis(5), slow).await.is_err());
    ask(&store).await;
}

#[tokio::test]
async fn closing_waits_for_nobody_who_needs_it_no_more() {
    let db = TestDatabase::postgres().await;
    let store = two_connections(&db).await;
    ask(&store).await;
    tokio::time::timeout(Duration::from_secs(30), store.close()).await.expect("it closes");
    assert_eq!(pool(&store).size(), 0);
}

#[test]
fn a_store_may_outlive_its_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let db = runtime.block_on(TestDatabase::postgres());
    let store = runtime.block_on(async {
        let store = two_connections(&db).await;
        ask(&store).await;
        store
    });
    drop(runtime);
    drop(store);
}
