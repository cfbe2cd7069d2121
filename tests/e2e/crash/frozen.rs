//! A worker that freezes in the middle of a transaction keeps rows locked, and locked rows are passed over.

use std::time::Duration;

use bpc_eventstore::{Conn, Store, StoreError, StoreOptions};
use bpc_testkit::{TestDatabase, eventually};

use crate::harness::{PATIENCE, initialised};
use crate::log::Log;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_left_alone_is_ended_by_the_server_and_may_be_tried_again() {
    let db = TestDatabase::postgres().await;
    initialised(&db);
    let store = Store::connect(db.url(), StoreOptions::default()).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    assert_eq!(patience(&mut tx.conn()).await.unwrap(), "1min");
    // The same in less time.
    let short = "SET LOCAL idle_in_transaction_session_timeout = '100ms'";
    tx.conn().execute(short).await.unwrap();
    let log = Log::open(&db).await;
    let open = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    eventually(PATIENCE, || async { log.number(open).await == 0 }).await;
    let error = patience(&mut tx.conn()).await.unwrap_err();
    assert!(error.is_retryable(), "{error:?}");
    drop(tx);
    // A reader holds no rows, and may think for as long as it likes.
    let mut tx = store.begin_read().await.unwrap();
    assert_eq!(patience(&mut tx.conn()).await.unwrap(), "0");
    drop(tx);
    let _ = tokio::time::timeout(Duration::from_secs(5), store.close()).await;
}

async fn patience(conn: &mut Conn<'_>) -> Result<String, StoreError> {
    let Conn::Postgres(conn) = conn else { panic!("this is about PostgreSQL") };
    let shown = sqlx::query_scalar("SHOW idle_in_transaction_session_timeout").fetch_one(&mut **conn).await;
    Ok(shown?)
}
