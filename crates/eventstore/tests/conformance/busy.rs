//! SQLite with many writers: each waits its turn, and none hears of it.

use bpc_core::Version;
use bpc_eventstore::{Database, Store, append_to_streams, stream_heads};
use bpc_testkit::TestDatabase;

use crate::common::{CAUSE, append, connect, empty_log, event_count, notes, stream};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_handles_on_one_file_never_see_busy() {
    const HANDLES: u32 = 6;
    const ROUNDS: u32 = 25;
    let db = TestDatabase::sqlite();
    let store = empty_log(&db).await;
    let mut writers = Vec::new();
    for number in 0..HANDLES {
        let own = connect(&db).await;
        writers.push(tokio::spawn(async move {
            for round in 0..ROUNDS {
                append(&own, &[notes(stream(&number.to_string()), round, 1)]).await?;
                add_to_shared(&own).await?;
            }
            Ok::<_, bpc_eventstore::StoreError>(())
        }));
    }
    for writer in writers {
        writer.await.unwrap().expect("neither busy nor in conflict");
    }
    assert_eq!(event_count(&store).await, i64::from(HANDLES * ROUNDS * 2));
}

/// Read, decide, write in one transaction: whoever has begun is alone, so no version is ever taken.
async fn add_to_shared(store: &Store) -> Result<(), bpc_eventstore::StoreError> {
    let mut tx = store.begin().await?;
    let heads = stream_heads(&mut tx.conn(), &[stream("shared")]).await?;
    let version = heads.get(&stream("shared")).map_or(Version::NONE, |head| head.head.version);
    append_to_streams(&mut tx.conn(), &[notes(stream("shared"), version.0, 1)], CAUSE).await?;
    tx.commit().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_waits_for_the_transaction_before_it() {
    let db = TestDatabase::sqlite();
    let (first, second) = (empty_log(&db).await, connect(&db).await);
    let mut open = first.begin().await.unwrap();
    append_to_streams(&mut open.conn(), &[notes(stream("a"), 0, 1)], CAUSE).await.unwrap();
    let waiting = tokio::spawn(async move { append(&second, &[notes(stream("a"), 1, 1)]).await });
    open.commit().await.unwrap();
    waiting.await.unwrap().expect("it came second and saw the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_do_not_wait_for_a_writer() {
    let db = TestDatabase::sqlite();
    let store = empty_log(&db).await;
    append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap();
    let mut open = store.begin().await.unwrap();
    append_to_streams(&mut open.conn(), &[notes(stream("a"), 1, 1)], CAUSE).await.unwrap();
    assert_eq!(event_count(&store).await, 1);
    open.commit().await.unwrap();
    assert_eq!(event_count(&store).await, 2);
}

#[tokio::test]
async fn a_commit_is_on_disk_when_it_returns() {
    let db = TestDatabase::sqlite();
    let store = empty_log(&db).await;
    let Database::Sqlite(pools) = &store.database else { unreachable!("the database is SQLite") };
    for pool in [&pools.writer, &pools.readers] {
        let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(pool).await.unwrap();
        let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(pool).await.unwrap();
        assert_eq!((journal.as_str(), synchronous), ("wal", 2), "2 is FULL");
    }
}

/// Older ones can corrupt a database when the write-ahead log is reset.
#[tokio::test]
async fn the_bundled_sqlite_is_new_enough() {
    let db = TestDatabase::sqlite();
    let store = connect(&db).await;
    let Database::Sqlite(pools) = &store.database else { unreachable!("the database is SQLite") };
    let version: String =
        sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&pools.readers).await.unwrap();
    let numbers: Vec<u32> = version.split('.').map(|number| number.parse().unwrap()).collect();
    assert!(numbers >= vec![3, 51, 3], "SQLite {version}");
}
