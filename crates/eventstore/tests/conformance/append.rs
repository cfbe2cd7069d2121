//! Appending: expected versions, all or nothing, one winner.

use std::collections::HashMap;
use std::sync::Arc;

use bpc_core::chain_hash;
use bpc_core::{CanonicalJson, EventRecord, Hash, TenantId, Version};
use bpc_eventstore::{StoreError, StreamAppend, append_to_streams, read_stream, stream_heads};
use bpc_testkit::on_both_databases;

use crate::cohorts::{Rows, Together, write};
use crate::common::{CAUSE, acme, all_events, append, draft, empty_log, event_count, notes, stream};

on_both_databases! {
    async fn events_of_a_stream_are_dense_and_chained(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap();
        append(&store, &[notes(stream("a"), 2, 3)]).await.unwrap();
        let mut before = Hash::ZERO;
        for (event, version) in all_events(&store).await.iter().zip(1..) {
            assert_eq!(event.version, version);
            assert_eq!(event.hash().unwrap(), chain_hash(&before, &event.event_bytes));
            before = event.hash().unwrap();
        }
        assert_eq!(event_count(&store).await, 5);
    }

    async fn returned_records_are_what_is_stored(db) {
        let store = empty_log(&db).await;
        let records = append(&store, &[notes(stream("a"), 0, 3)]).await.unwrap();
        let stored = all_events(&store).await;
        assert_eq!(records.len(), stored.len());
        for (record, stored) in records.iter().zip(&stored) {
            assert_eq!(record.event_bytes, stored.event_bytes);
            assert_eq!(record.event_hash, stored.hash().unwrap());
            assert_eq!(record.occurred_at, stored.at());
            assert_eq!(*record.stream_type, stored.stream_type);
            assert_eq!(*record.event_type, stored.event_type);
            assert_eq!(record.tenant_id, stored.tenant_id);
        }
    }

    async fn a_wrong_expectation_is_a_version_conflict(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap();
        for expected in [0, 1, 3, 1000] {
            let error = append(&store, &[notes(stream("a"), expected, 1)]).await.unwrap_err();
            assert_eq!(error.code(), "EVENT_VERSION_CONFLICT");
            assert!(error.is_retryable());
            let StoreError::VersionConflict { stream_id, expected: seen, found } = error else {
                panic!("{error} does not say what is there");
            };
            assert_eq!((stream_id, seen, found), (stream("a"), Version(expected), Version(2)));
        }
        assert_eq!(event_count(&store).await, 2);
    }

    async fn one_conflict_among_many_streams_leaves_nothing(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("b"), 0, 1)]).await.unwrap();
        let appends = [notes(stream("a"), 0, 3), notes(stream("b"), 0, 1), notes(stream("c"), 0, 2)];
        let error = append(&store, &appends).await.unwrap_err();
        assert_eq!(error.code(), "EVENT_VERSION_CONFLICT");
        assert_eq!(event_count(&store).await, 1);
    }

    async fn many_streams_are_appended_together(db) {
        let store = empty_log(&db).await;
        let names: Vec<String> = (0..300).map(|number| number.to_string()).collect();
        let appends: Vec<StreamAppend> = names.iter().map(|name| notes(stream(name), 0, 2)).collect();
        assert_eq!(append(&store, &appends).await.unwrap().len(), 600);
        let ids: Vec<_> = appends.iter().map(|append| append.stream_id).collect();
        let mut tx = store.begin_read().await.unwrap();
        let heads = stream_heads(&mut tx.conn(), &ids).await.unwrap();
        assert_eq!(heads.len(), 300);
        assert!(heads.values().all(|head| head.head.version == Version(2)));
    }

    async fn heads_are_those_of_jobs_that_went_together_too(db) {
        let store = empty_log(&db).await;
        let mut together = Together::new(64);
        let (mut heads, mut ids) = (HashMap::new(), vec![stream("none"), stream("a")]);
        let mut note = |events: &[EventRecord]| {
            heads.extend(events.iter().map(|event| (event.stream_id, (event.version, event.event_hash))));
        };
        let steps = [
            (together.enqueue(), Rows::Shared),
            (together.lease(0..40), Rows::Shared),
            (together.succeed(0..20), Rows::Shared),
            (together.fail(30..31), Rows::Single),
        ];
        for (events, rows) in &steps {
            write(&store, events, *rows).await;
            note(events);
        }
        note(&append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap());
        ids.extend((0..64).map(|place| together.stream(place)));
        let mut tx = store.begin_read().await.unwrap();
        let found = stream_heads(&mut tx.conn(), &ids).await.unwrap();
        let found: HashMap<_, _> =
            found.into_iter().map(|(id, it)| (id, (it.head.version, it.head.hash))).collect();
        assert_eq!(found, heads);
    }

    async fn one_stream_twice_in_a_call_goes_on_where_it_was_left(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 2), notes(stream("a"), 2, 1)]).await.unwrap();
        let error = append(&store, &[notes(stream("a"), 3, 1), notes(stream("a"), 3, 1)]).await.unwrap_err();
        assert_eq!(error.code(), "EVENT_VERSION_CONFLICT");
        assert_eq!(event_count(&store).await, 3);
    }

    async fn events_share_the_fate_of_the_callers_transaction(db) {
        let store = empty_log(&db).await;
        let mut tx = store.begin().await.unwrap();
        append_to_streams(&mut tx.conn(), &[notes(stream("a"), 0, 2)], CAUSE).await.unwrap();
        let seen = read_stream(&mut tx.conn(), acme(), stream("a")).await.unwrap();
        assert_eq!(seen.len(), 2, "the transaction sees its own events");
        assert_eq!(event_count(&store).await, 0, "nobody else does");
        drop(tx);
        assert_eq!(event_count(&store).await, 0, "and nothing is left of it");
        append(&store, &[notes(stream("a"), 0, 1)]).await.expect("the version was not used up");
    }

    async fn a_stream_of_another_tenant_is_a_mismatch(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap();
        let theirs = StreamAppend { tenant_id: TenantId::from_slug("other"), ..notes(stream("a"), 1, 1) };
        let error = append(&store, &[theirs]).await.unwrap_err();
        assert_eq!(error.code(), "STREAM_MISMATCH");
        assert!(!error.is_retryable());
    }

    async fn a_stream_about_something_else_is_a_mismatch(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap();
        let other = StreamAppend { stream_type: Arc::from("Letter"), ..notes(stream("a"), 1, 1) };
        assert_eq!(append(&store, &[other]).await.unwrap_err().code(), "STREAM_MISMATCH");
        assert_eq!(event_count(&store).await, 1);
    }

    async fn an_event_that_may_not_be_hashed_is_refused_before_anything_is_written(db) {
        let store = empty_log(&db).await;
        let list = CanonicalJson::from_trusted(b"[1]".to_vec());
        let deep = format!("{}{}", "{\"a\":".repeat(63), "{}").into_bytes();
        let deep = CanonicalJson::from_trusted([deep, vec![b'}'; 63]].concat());
        let large = CanonicalJson::from_trusted(format!("{{\"a\":\"{}\"}}", "x".repeat(262_144)).into_bytes());
        for (payload, code) in
            [(list, "PAYLOAD_NOT_OBJECT"), (deep, "JSON_TOO_DEEP"), (large, "EVENT_TOO_LARGE")]
        {
            let mut bad = notes(stream("bad"), 0, 1);
            bad.events[0].payload = payload;
            let mut tx = store.begin().await.unwrap();
            let appends = [notes(stream("good"), 0, 1), bad];
            let error = append_to_streams(&mut tx.conn(), &appends, CAUSE).await.unwrap_err();
            assert_eq!(error.code(), code);
            tx.commit().await.expect("the transaction is still good");
            assert_eq!(event_count(&store).await, 0);
        }
        let mut misnamed = notes(stream("bad"), 0, 1);
        misnamed.events.push(bpc_core::Draft { event_type: "noted".into(), ..draft("{}") });
        assert_eq!(append(&store, &[misnamed]).await.unwrap_err().code(), "EVENT_NAME_INVALID");
        assert_eq!(event_count(&store).await, 0);
    }

    async fn of_concurrent_appenders_exactly_one_wins(db) {
        let store = empty_log(&db).await;
        for round in 0..5 {
            let race = (0..8).map(|_| {
                let store = store.clone();
                tokio::spawn(async move { append(&store, &[notes(stream("a"), round, 1)]).await })
            });
            let mut winners = 0;
            for racer in race.collect::<Vec<_>>() {
                match racer.await.unwrap() {
                    Ok(_) => winners += 1,
                    Err(error) => assert_eq!(error.code(), "EVENT_VERSION_CONFLICT"),
                }
            }
            assert_eq!(winners, 1);
        }
        assert_eq!(event_count(&store).await, 5);
    }

    async fn appending_nothing_changes_nothing(db) {
        let store = empty_log(&db).await;
        assert!(append(&store, &[]).await.unwrap().is_empty());
        assert!(append(&store, &[notes(stream("a"), 0, 0)]).await.unwrap().is_empty());
        assert_eq!(event_count(&store).await, 0);
    }
}
