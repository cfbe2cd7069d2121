//! PostgreSQL: events that become visible after higher ids were sealed.

use bpc_eventstore::seal::{Sealer, position_of, unsealed};
use bpc_eventstore::{Store, append_to_streams};
use bpc_testkit::TestDatabase;
use bpc_testkit::postgres::Cluster;

use crate::common::{CAUSE, append, event_count, notes, number, run_sql, stream};

use super::log::{keyed_log, note, sealed_events, sealer};

async fn log() -> (TestDatabase, Store, Sealer) {
    let db = TestDatabase::postgres().await;
    let store = keyed_log(&db).await;
    let sealer = sealer(&store);
    (db, store, sealer)
}

async fn gaps(store: &Store) -> i64 {
    number(store, "SELECT count(*) FROM seal_gaps").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_commits_late_is_sealed_all_the_same() {
    let (_db, store, mut sealer) = log().await;
    let mut late = store.begin().await.unwrap();
    append_to_streams(&mut late.conn(), &[notes(stream("late"), 0, 3)], CAUSE).await.unwrap();
    note(&store, "a", 0, 5).await;
    assert_eq!(sealer.pass().await.unwrap().events, 6, "nobody waits for an open transaction");
    for round in 1..4 {
        note(&store, "a", round * 5, 5).await;
        assert_eq!(sealer.pass().await.unwrap().events, 5);
    }
    assert_eq!(gaps(&store).await, 1);
    late.commit().await.unwrap();
    assert_eq!(unsealed(&store).await.unwrap().events, 3);
    assert_eq!(sealer.pass().await.unwrap().events, 3, "with the pass after its commit");
    assert_eq!((gaps(&store).await, unsealed(&store).await.unwrap().events), (0, 0));
    let events = sealed_events(&store).await;
    assert_eq!(events.len() as i64, event_count(&store).await);
    assert!(events[21..].iter().all(|it| it.event.stream_id == stream("late")), "behind what was there");
    let mut tx = store.begin_read().await.unwrap();
    for it in &events {
        assert_eq!(position_of(&mut tx.conn(), it.event.id).await.unwrap(), Some(it.position));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_transactions_that_were_rolled_back_are_forgotten() {
    let (_db, store, mut sealer) = log().await;
    for round in 0..5 {
        append(&store, &[notes(stream("a"), 77, 3)]).await.unwrap_err();
        let mut undone = store.begin().await.unwrap();
        append_to_streams(&mut undone.conn(), &[notes(stream("b"), 0, 2)], CAUSE).await.unwrap();
        drop(undone);
        note(&store, "a", round, 1).await;
        sealer.pass().await.unwrap();
    }
    // Once to look again, once to find that nobody is left who could fill them.
    for _ in 0..2 {
        sealer.pass().await.unwrap();
    }
    assert_eq!(gaps(&store).await, 0);
    assert_eq!(sealed_events(&store).await.len() as i64, event_count(&store).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_whose_ids_interleave_are_sealed_completely() {
    let (_db, store, mut sealer) = log().await;
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let name = writer.to_string();
                for round in 0..30 {
                    let mut tx = store.begin().await.unwrap();
                    for part in 0..3 {
                        let part = [notes(stream(&name), round * 6 + part * 2, 2)];
                        append_to_streams(&mut tx.conn(), &part, CAUSE).await.unwrap();
                        tokio::task::yield_now().await;
                    }
                    tx.commit().await.unwrap();
                }
            })
        })
        .collect();
    while !writers.iter().all(|writer| writer.is_finished()) {
        sealer.pass().await.unwrap();
    }
    for writer in writers {
        writer.await.unwrap();
    }
    for _ in 0..3 {
        sealer.pass().await.unwrap();
    }
    let events = sealed_events(&store).await;
    assert_eq!((events.len() as i64, gaps(&store).await), (event_count(&store).await, 0));
    let mut ids: Vec<_> = events.iter().map(|it| it.event.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), events.len(), "each event once");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_transaction_that_does_not_write_to_the_log_delays_nothing() {
    let (_db, store, mut sealer) = log().await;
    let mut other = store.begin().await.unwrap();
    let write = "CREATE TABLE other (x int); INSERT INTO other VALUES (1)";
    other.conn().execute(write).await.unwrap();
    let mut reader = store.begin_read().await.unwrap();
    reader.conn().execute("SELECT count(*) FROM events").await.unwrap();
    append(&store, &[notes(stream("a"), 77, 3)]).await.unwrap_err();
    note(&store, "a", 0, 5).await;
    assert_eq!(sealer.pass().await.unwrap().events, 6);
    sealer.pass().await.unwrap();
    assert_eq!(gaps(&store).await, 0, "nor do they keep what was rolled back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_transaction_may_still_commit() {
    let cluster = Cluster::launch_with(&[("max_prepared_transactions", "5")]);
    let db = TestDatabase::on_cluster(&cluster).await;
    let store = keyed_log(&db).await;
    let mut sealer = sealer(&store);
    let mut tx = store.begin().await.unwrap();
    append_to_streams(&mut tx.conn(), &[notes(stream("late"), 0, 3)], CAUSE).await.unwrap();
    note(&store, "a", 0, 5).await;
    assert_eq!(sealer.pass().await.unwrap().events, 6);
    tx.conn().execute("PREPARE TRANSACTION 'late'").await.unwrap();
    drop(tx);
    for _ in 0..3 {
        assert_eq!(sealer.pass().await.unwrap().events, 0);
    }
    assert_eq!(gaps(&store).await, 1);
    run_sql(&store, "COMMIT PREPARED 'late'").await.unwrap();
    assert_eq!(sealer.pass().await.unwrap().events, 3);
}

/// What forgetting gaps rests on: ids are given out one by one.
#[tokio::test]
async fn ids_are_not_given_out_in_advance() {
    let (_db, store, _) = log().await;
    let cache =
        "SELECT seqcache FROM pg_sequence WHERE seqrelid = pg_get_serial_sequence('events', 'id')::regclass";
    assert_eq!(number(&store, cache).await, 1);
}
