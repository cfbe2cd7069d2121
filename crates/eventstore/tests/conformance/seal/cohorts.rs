//! PostgreSQL: rows that hold the events of many jobs are sealed event by event.

use bpc_core::proof::check;
use bpc_core::{EventRecord, Hash, JobId, Version};
use bpc_eventstore::Store;
use bpc_eventstore::seal::{
    KeyEpoch, KeyState, Keyring, SealOptions, Sealer, position_of, prove_event, prove_job, sealed_head,
    unsealed,
};
use bpc_testkit::TestDatabase;

use crate::cohorts::{Rows, Together, write, write_life, write_on};
use crate::common::{NOW, acme, event_count, number, run_sql};

use super::log::{keyed_log, note, options, seal, sealed_events, sealer, secret};

fn sealer_of(store: &Store, batch_max: usize) -> Sealer {
    Sealer::new(store.clone(), secret(), KeyState::memory(), SealOptions { batch_max, ..options() })
}

/// Bytes and hashes in sealed order, without the key's own event, whose id is another in each log.
async fn sealed_bytes(store: &Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let events = sealed_events(store).await.into_iter().skip(1).map(|it| it.event);
    events.map(|event| (event.event_bytes, event.event_hash)).collect()
}

async fn assert_all_sealed_once(store: &Store) {
    let events = sealed_events(store).await;
    assert_eq!(events.len() as i64, event_count(store).await);
    let mut tx = store.begin_read().await.unwrap();
    for it in &events {
        assert_eq!(position_of(&mut tx.conn(), it.event.id).await.unwrap(), Some(it.position));
    }
    let mut places: Vec<_> = events.iter().map(|it| (it.event.stream_id, it.event.version)).collect();
    let is_in_turn = |version: i32, at: usize| places[..at].contains(&(places[at].0, version - 1));
    assert!(
        (0..places.len()).all(|at| places[at].1 == 1 || is_in_turn(places[at].1, at)),
        "in order of versions"
    );
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), events.len(), "each event once");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_sealed_knows_of_rows() {
    let (mut sealed, mut lives) = (Vec::new(), Vec::<Vec<EventRecord>>::new());
    for rows in [Rows::Shared, Rows::Single] {
        let db = TestDatabase::postgres().await;
        let store = keyed_log(&db).await;
        if lives.is_empty() {
            let mut together = Together::new(64);
            lives = vec![together.enqueue(), together.lease(0..64), together.succeed(0..50)];
        }
        for events in &lives {
            write(&store, events, rows).await;
        }
        assert_eq!(seal(&store).await.events, 1 + 64 + 64 + 50);
        sealed.push(sealed_bytes(&store).await);
    }
    assert_eq!(sealed[0], sealed[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_may_end_in_the_middle_of_a_row() {
    let mut roots: Vec<Hash> = Vec::new();
    let db = TestDatabase::postgres().await;
    let store = keyed_log(&db).await;
    write_life(&store, &mut Together::new(64), Rows::Shared).await;
    note(&store, "a", 0, 30).await;
    write_life(&store, &mut Together::new(7), Rows::Shared).await;
    let all = event_count(&store).await as usize;
    for batch_max in [10, 1, 64, 100, 1000] {
        let mut sealed = 0;
        while sealed < all {
            assert_eq!(unsealed(&store).await.unwrap().events as usize, all - sealed);
            // Another one each time: it goes on from what is stored.
            let pass = sealer_of(&store, batch_max).pass().await.unwrap();
            assert!((1..=batch_max).contains(&pass.events), "{pass:?}");
            sealed += pass.events;
            assert!(pass.has_more || sealed == all);
        }
        assert_eq!(unsealed(&store).await.unwrap(), Default::default());
        assert_all_sealed_once(&store).await;
        assert_eq!(number(&store, "SELECT count(*) FROM seal_gaps").await, 0);
        roots.push(sealed_head(&mut store.begin_read().await.unwrap().conn()).await.unwrap().root);
        forget_seals(&store).await;
    }
    roots.dedup();
    assert_eq!(roots.len(), 1, "the tree is the same however it was sealed");
}

async fn forget_seals(store: &Store) {
    let sql = "DELETE FROM tiles; DELETE FROM log_order; DELETE FROM checkpoints; DELETE FROM late_events; \
        UPDATE log_state SET size = 0, root = sha256('')";
    run_sql(store, sql).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_sealer_sees_the_rest_of_a_row() {
    let db = TestDatabase::postgres().await;
    let store = keyed_log(&db).await;
    let mut sealer = sealer_of(&store, 5);
    write(&store, &Together::new(6).enqueue(), Rows::Shared).await;
    for events in [5, 2, 0] {
        assert_eq!(sealer.pass().await.unwrap().events, events);
    }
    write(&store, &Together::new(1).enqueue(), Rows::Shared).await;
    let open = unsealed(&store).await.unwrap();
    assert_eq!((open.events, open.oldest_at), (1, Some(NOW.as_micros())));
    assert_eq!(sealer.pass().await.unwrap().events, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_commits_late_is_sealed_all_the_same() {
    for batch_max in [1000, 10, 1] {
        let db = TestDatabase::postgres().await;
        let store = keyed_log(&db).await;
        let mut sealer = sealer_of(&store, batch_max);
        let (mut early, mut together) = (Together::new(64), Together::new(64));
        let mut late = store.begin().await.unwrap();
        write_on(&mut late.conn(), &together.enqueue(), Rows::Shared).await;
        write_on(&mut late.conn(), &together.lease(0..20), Rows::Shared).await;
        write_on(&mut late.conn(), &together.fail(3..4), Rows::Single).await;
        write(&store, &early.enqueue(), Rows::Shared).await;
        assert_eq!(sealer.seal_all().await.unwrap().events, 65, "nobody waits for an open transaction");
        assert_eq!(number(&store, "SELECT count(*) FROM seal_gaps").await, 1);
        write(&store, &early.lease(0..64), Rows::Shared).await;
        assert_eq!(sealer.seal_all().await.unwrap().events, 64);
        late.commit().await.unwrap();
        assert_eq!(unsealed(&store).await.unwrap().events, 86);
        write(&store, &together.succeed(0..3), Rows::Shared).await;
        assert_eq!(sealer.seal_all().await.unwrap().events, 89, "what was late, and what follows it");
        sealer.seal_all().await.unwrap();
        assert_eq!(number(&store, "SELECT count(*) FROM seal_gaps").await, 0);
        assert_eq!(unsealed(&store).await.unwrap().events, 0);
        assert_all_sealed_once(&store).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_both_kinds_of_rows_are_sealed_completely() {
    let db = TestDatabase::postgres().await;
    let store = keyed_log(&db).await;
    let mut sealer = sealer(&store);
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    let mut together = Together::new(8);
                    let mut tx = store.begin().await.unwrap();
                    write_on(&mut tx.conn(), &together.enqueue(), Rows::Shared).await;
                    tokio::task::yield_now().await;
                    write_on(&mut tx.conn(), &together.lease(0..8), Rows::Shared).await;
                    let rows = if writer == 0 { Rows::Single } else { Rows::Shared };
                    write_on(&mut tx.conn(), &together.succeed(0..4), rows).await;
                    write_on(&mut tx.conn(), &together.fail(5..7), Rows::Single).await;
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
    assert_eq!(number(&store, "SELECT count(*) FROM seal_gaps").await, 0);
    assert_all_sealed_once(&store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_proved_wherever_its_events_are() {
    let db = TestDatabase::postgres().await;
    let store = keyed_log(&db).await;
    let mut together = Together::new(7);
    write_life(&store, &mut together, Rows::Shared).await;
    seal(&store).await;
    let mut tx = store.begin_read().await.unwrap();
    let keyring = Keyring::load(&mut tx.conn()).await.unwrap();
    let keys = keyring.newest().and_then(KeyEpoch::verifiers).unwrap();
    for (place, events) in [(0, 3), (5, 3), (6, 4)] {
        let stream = together.stream(place);
        let proven = prove_job(&mut tx.conn(), acme(), JobId(stream.0)).await.unwrap();
        assert_eq!((proven.proof.events.len(), proven.uncovered), (events, 0));
        check(&proven.proof.write().unwrap(), &keys).unwrap();
        let one = prove_event(&mut tx.conn(), acme(), stream, Version(2)).await.unwrap();
        check(&one.write().unwrap(), &keys).unwrap();
    }
}
