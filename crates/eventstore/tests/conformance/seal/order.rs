//! Order and tree: dense, in the order of insertion, the same however it was sealed.

use bpc_core::merkle::{EMPTY_ROOT, Frontier, event_leaf};
use bpc_core::tile::TileId;
use bpc_core::{Hash, Version};
use bpc_eventstore::Store;
use bpc_eventstore::seal::{KeyState, SealOptions, Sealer, read_tile, root_at, sealed_head};
use bpc_testkit::on_both_databases;

use crate::common::{event_count, number};

use super::log::{keyed_log, note, options, seal, sealed_events, sealer, secret};

/// The root over the events as they are read back, made leaf by leaf.
async fn root_of_events(store: &Store) -> Hash {
    let mut tree = Frontier::new();
    for sealed in sealed_events(store).await {
        let event = sealed.event;
        let version = Version(event.version as u32);
        tree.push(event_leaf(&event.stream_type, event.stream_id, version, &event.hash().unwrap()));
    }
    tree.root()
}

on_both_databases! {
    async fn a_new_log_is_sealed_up_to_nothing(db) {
        let store = crate::common::empty_log(&db).await;
        let mut tx = store.begin_read().await.unwrap();
        let head = sealed_head(&mut tx.conn()).await.unwrap();
        assert_eq!((head.size, head.root), (0, EMPTY_ROOT));
    }

    async fn events_are_sealed_in_the_order_they_were_inserted(db) {
        let store = keyed_log(&db).await;
        for round in 0..3 {
            note(&store, "a", round * 2, 2).await;
            note(&store, "b", round, 1).await;
        }
        let sealed = seal(&store).await;
        assert_eq!((sealed.events, sealed.head.unwrap().size, sealed.has_more), (10, 10, false));
        let events = sealed_events(&store).await;
        assert!(events.iter().map(|it| it.position).eq(0..10));
        assert!(events.is_sorted_by_key(|it| it.event.id));
        assert_eq!(sealed.head.unwrap().root, root_of_events(&store).await);
    }

    async fn positions_never_change_however_often_more_is_sealed(db) {
        let store = keyed_log(&db).await;
        let mut sealer = sealer(&store);
        let mut before: Vec<_> = Vec::new();
        for round in 0..12 {
            note(&store, "a", round * 50, 50).await;
            let sealed = sealer.pass().await.unwrap();
            assert_eq!(sealed.events, if round == 0 { 51 } else { 50 });
            let now = sealed_events(&store).await;
            assert_eq!(now[..before.len()], before[..], "what was sealed stays where it is");
            assert_eq!(sealed.head.unwrap().root, root_of_events(&store).await);
            before = now;
        }
        assert_eq!(sealer.pass().await.unwrap().events, 0, "nothing is sealed twice");
    }

    async fn a_backlog_is_sealed_in_passes_and_the_tree_is_the_same(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 1500).await;
        let options = SealOptions { batch_max: 64, ..options() };
        let mut sealer = Sealer::new(store.clone(), secret(), KeyState::memory(), options);
        let first = sealer.pass().await.unwrap();
        assert_eq!((first.events, first.has_more), (64, true));
        let all = sealer.seal_all().await.unwrap();
        assert_eq!((all.events as i64, all.has_more), (event_count(&store).await - 64, false));
        assert_eq!(all.head.unwrap().root, root_of_events(&store).await);
    }

    async fn stored_tiles_are_those_of_the_tree(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 700).await;
        seal(&store).await;
        note(&store, "a", 700, 300).await;
        let head = seal(&store).await.head.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        for id in TileId::all(head.size) {
            let bytes = read_tile(&mut tx.conn(), id.level, id.index).await.unwrap().unwrap();
            assert_eq!(bytes.len(), id.len_bytes(), "{id}");
        }
        let tiles = TileId::all(head.size).count() as i64;
        assert_eq!(number(&store, "SELECT count(*) FROM tiles").await, tiles);
        for size in [0, 1, 2, 255, 256, 257, 511, 512, 700, head.size] {
            let mut tree = Frontier::new();
            tree.extend(sealed_events(&store).await.into_iter().take(size as usize).map(|sealed| {
                let event = sealed.event;
                let version = Version(event.version as u32);
                event_leaf(&event.stream_type, event.stream_id, version, &event.hash().unwrap())
            }));
            assert_eq!(root_at(&mut tx.conn(), size).await.unwrap(), tree.root(), "{size}");
        }
    }

    async fn two_sealers_that_start_together_never_fork(db) {
        let store = keyed_log(&db).await;
        let state = KeyState::memory();
        let sealers: Vec<_> = (0..3)
            .map(|_| {
                let options = SealOptions { batch_max: 16, ..options() };
                let mut sealer = Sealer::new(store.clone(), secret(), state.clone(), options);
                tokio::spawn(async move {
                    let mut events = 0;
                    for _ in 0..40 {
                        events += sealer.pass().await.unwrap().events;
                    }
                    events
                })
            })
            .collect();
        for round in 0..60 {
            note(&store, "a", round * 5, 5).await;
        }
        let mut events = 0;
        for sealer in sealers {
            events += sealer.await.unwrap();
        }
        events += Sealer::new(store.clone(), secret(), state, options()).seal_all().await.unwrap().events;
        assert_eq!(events, 301, "each event is sealed by one of them");
        let mut tx = store.begin_read().await.unwrap();
        let head = sealed_head(&mut tx.conn()).await.unwrap();
        assert_eq!((head.size, head.root), (301, root_of_events(&store).await));
    }
}
