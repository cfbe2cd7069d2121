//! Reading back.

use bpc_core::{StreamId, TenantId, Version};
use bpc_eventstore::{read_stream, read_streams_after};
use bpc_testkit::on_both_databases;
use uuid::Uuid;

use crate::common::{acme, all_events, append, empty_log, notes, stream};

on_both_databases! {
    async fn a_stream_is_read_oldest_first(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 4), notes(stream("b"), 0, 2)]).await.unwrap();
        append(&store, &[notes(stream("a"), 4, 1)]).await.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        let events = read_stream(&mut tx.conn(), acme(), stream("a")).await.unwrap();
        let versions: Vec<i32> = events.iter().map(|event| event.version).collect();
        assert_eq!(versions, [1, 2, 3, 4, 5]);
        assert!(events.iter().all(|event| event.stream_id == stream("a")));
    }

    async fn columns_are_what_the_envelope_says(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap();
        for event in all_events(&store).await {
            let envelope = event.envelope().unwrap();
            assert_eq!(envelope.tenant_id, event.tenant_id);
            assert_eq!(envelope.stream_id, event.stream_id);
            assert_eq!(envelope.stream_type, event.stream_type);
            assert_eq!(envelope.event_type, event.event_type);
            assert_eq!(envelope.version, Version(event.version as u32));
            assert_eq!(envelope.occurred_at, event.at());
            assert_eq!(envelope.actor, "user:test");
        }
    }

    async fn another_tenant_reads_nothing(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        let other = TenantId::from_slug("other");
        assert!(read_stream(&mut tx.conn(), other, stream("a")).await.unwrap().is_empty());
        assert!(read_stream(&mut tx.conn(), acme(), stream("none")).await.unwrap().is_empty());
    }

    async fn pages_of_any_size_cover_the_log(db) {
        let store = empty_log(&db).await;
        let appends: Vec<_> = (0..7).map(|n| notes(stream(&n.to_string()), 0, n + 1)).collect();
        append(&store, &appends).await.unwrap();
        let whole = all_events(&store).await;
        assert_eq!(whole.len(), 28);
        for limit in [1, 2, 5, 27, 28, 29] {
            let (mut pages, mut stream_id, mut version) = (Vec::new(), StreamId(Uuid::nil()), Version::NONE);
            let mut tx = store.begin_read().await.unwrap();
            loop {
                let page = read_streams_after(&mut tx.conn(), stream_id, version, limit).await.unwrap();
                let Some(last) = page.last() else { break };
                (stream_id, version) = (last.stream_id, Version(last.version as u32));
                pages.extend(page);
            }
            assert_eq!(pages, whole, "in pages of {limit}");
        }
    }

    async fn a_reader_sees_one_moment_of_the_log(db) {
        let store = empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        let before = read_stream(&mut tx.conn(), acme(), stream("a")).await.unwrap();
        append(&store, &[notes(stream("a"), 1, 1)]).await.unwrap();
        let after = read_stream(&mut tx.conn(), acme(), stream("a")).await.unwrap();
        assert_eq!(before, after);
    }

    async fn a_reader_cannot_write(db) {
        let store = empty_log(&db).await;
        let mut tx = store.begin_read().await.unwrap();
        tx.conn().execute("DELETE FROM tenants").await.unwrap_err();
    }
}
