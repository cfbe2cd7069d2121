//! Keys that sign for the log.

use bpc_core::log_events::{LOG, LOG_KEY_ADDED};
use bpc_core::{StreamId, TenantId};
use bpc_eventstore::{LogKey, add_log_key, insert_log_key, log_keys, read_stream};
use bpc_testkit::on_both_databases;

use crate::common::{NOW, empty_log, event_count, run_sql};

/// A key whose digits are all the same.
fn key(digit: char) -> String {
    String::from_iter([digit; 64])
}

on_both_databases! {
    async fn a_key_is_an_event_of_the_log_and_a_row(db) {
        let store = empty_log(&db).await;
        let added = add_log_key(&store, "example.com/log", &key('a'), "user:ops").await.unwrap();
        assert_eq!(added, LogKey { public_key: key('a'), origin: "example.com/log".to_owned(), added_at: NOW });
        assert_eq!(log_keys(&store).await.unwrap(), [added]);
        let mut tx = store.begin_read().await.unwrap();
        let stream = StreamId::derived("log", "log");
        let events = read_stream(&mut tx.conn(), TenantId::SYSTEM, stream).await.unwrap();
        let [event] = &events[..] else { panic!("{} events", events.len()) };
        assert_eq!((&*event.stream_type, &*event.event_type), (LOG, LOG_KEY_ADDED));
        let payload = format!(
            r#"{{"algorithm":"ed25519","origin":"example.com/log","public_key":"{}"}}"#,
            key('a')
        );
        assert_eq!(event.envelope().unwrap().payload, payload.as_bytes());
    }

    async fn adding_a_key_again_changes_nothing(db) {
        let store = empty_log(&db).await;
        let first = add_log_key(&store, "log", &key('a'), "system").await.unwrap();
        store.clock.advance(std::time::Duration::from_secs(60));
        assert_eq!(add_log_key(&store, "log", &key('a'), "user:other").await.unwrap(), first);
        assert_eq!(event_count(&store).await, 1);
    }

    async fn keys_are_listed_in_the_order_they_came(db) {
        let store = empty_log(&db).await;
        for digit in ['c', 'a', 'b'] {
            add_log_key(&store, "log", &key(digit), "system").await.unwrap();
            store.clock.advance(std::time::Duration::from_secs(1));
        }
        let listed: Vec<String> = log_keys(&store).await.unwrap().into_iter().map(|key| key.public_key).collect();
        assert_eq!(listed, [key('c'), key('a'), key('b')]);
    }

    async fn many_who_add_keys_at_once_all_succeed(db) {
        let store = empty_log(&db).await;
        let adders = "aabbccdd".chars().map(|digit| {
            let store = store.clone();
            tokio::spawn(async move { add_log_key(&store, "log", &key(digit), "system").await })
        });
        for adder in adders.collect::<Vec<_>>() {
            adder.await.unwrap().unwrap();
        }
        assert_eq!((log_keys(&store).await.unwrap().len(), event_count(&store).await), (4, 4));
    }

    async fn a_key_speaks_for_one_origin(db) {
        let store = empty_log(&db).await;
        add_log_key(&store, "one", &key('a'), "system").await.unwrap();
        let error = add_log_key(&store, "two", &key('a'), "system").await.unwrap_err();
        assert_eq!(error.code(), "LOG_KEY_EXISTS");
        assert_eq!(event_count(&store).await, 1);
    }

    async fn what_is_no_key_or_no_origin_is_refused(db) {
        let store = empty_log(&db).await;
        let upper = key('A');
        for public_key in ["", "ab", &upper, &key('g'), &key('a')[1..]] {
            let error = add_log_key(&store, "log", public_key, "system").await.unwrap_err();
            assert_eq!(error.code(), "VALIDATION_ERROR", "{public_key:?}");
        }
        for origin in ["", "two words", "a+b", "line\nbreak"] {
            let error = add_log_key(&store, origin, &key('a'), "system").await.unwrap_err();
            assert_eq!(error.code(), "VALIDATION_ERROR", "{origin:?}");
        }
        assert_eq!(event_count(&store).await, 0);
    }

    async fn the_view_can_be_filled_again(db) {
        let store = empty_log(&db).await;
        let added = add_log_key(&store, "log", &key('a'), "system").await.unwrap();
        run_sql(&store, "DELETE FROM log_keys").await.unwrap();
        let mut tx = store.begin().await.unwrap();
        insert_log_key(&mut tx.conn(), &added).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(log_keys(&store).await.unwrap(), [added]);
    }
}
