//! Reading back.

use std::time::Duration;

use bpc_core::{EventRecord, StreamId, TenantId, Version};
use bpc_eventstore::{StoredEvent, portable, read_event, read_hashes, read_stream};
use bpc_testkit::{TestDatabase, on_both_databases};
use uuid::Uuid;

use crate::cohorts::{Rows, Together, write, write_life};
use crate::common::{NOW, acme, all_events, append, empty_log, notes, run_sql, stream};

/// All that is stored of an event but its id.
type Facts<'a> = (StreamId, i64, &'a str, &'a str, i64, &'a [u8], &'a [u8]);

fn facts(event: &StoredEvent) -> Facts<'_> {
    let (version, at) = (i64::from(event.version), event.occurred_at);
    let StoredEvent { stream_type, event_type, event_hash, event_bytes, .. } = event;
    (event.stream_id, version, stream_type, event_type, at, event_hash, event_bytes)
}

fn facts_of(event: &EventRecord) -> Facts<'_> {
    let (version, at) = (i64::from(event.version.0), event.occurred_at.as_micros());
    let EventRecord { stream_type, event_type, event_hash, event_bytes, .. } = event;
    (event.stream_id, version, stream_type, event_type, at, &event_hash.0, event_bytes)
}

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

    async fn the_whole_log_comes_by_stream_and_version(db) {
        let store = empty_log(&db).await;
        let appends: Vec<_> = (0..7).map(|n| notes(stream(&n.to_string()), 0, n + 1)).collect();
        append(&store, &appends).await.unwrap();
        let events = all_events(&store).await;
        assert_eq!(events.len(), 28);
        assert!(events.is_sorted_by_key(|event| (event.stream_id, event.version)));
    }

    async fn jobs_that_went_together_are_read_one_by_one(db) {
        let store = empty_log(&db).await;
        let mut written = Vec::new();
        // Two cohorts of one millisecond, whose ids lie between each other, and one of another.
        for mut together in [Together::new(64), Together::new(3), Together::at(NOW.plus(Duration::from_secs(1)), 5)] {
            let count = together.count();
            let mut life = together.enqueue();
            write(&store, &life, Rows::Shared).await;
            for (places, rows) in [(0..2, Rows::Shared), (2..3, Rows::Single), (3..count, Rows::Shared)] {
                let events = together.lease(places);
                write(&store, &events, rows).await;
                life.extend(events);
            }
            let events = together.fail(1..2);
            write(&store, &events, Rows::Single).await;
            life.extend(events);
            written.extend(life);
        }
        append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap();
        written.sort_by_key(|event| (event.stream_id, event.version));
        let mut tx = store.begin_read().await.unwrap();
        for events in written.chunk_by(|a, b| a.stream_id == b.stream_id) {
            let stream_id = events[0].stream_id;
            let read = read_stream(&mut tx.conn(), acme(), stream_id).await.unwrap();
            assert!(read.iter().map(facts).eq(events.iter().map(facts_of)), "{stream_id}");
            let other = TenantId::from_slug("other");
            assert!(read_stream(&mut tx.conn(), other, stream_id).await.unwrap().is_empty());
            for stored in read {
                let version = Version(stored.version as u32);
                let read = read_event(&mut tx.conn(), acme(), stream_id, version).await.unwrap();
                assert_eq!(read.as_ref(), Some(&stored));
                assert_eq!(read_event(&mut tx.conn(), other, stream_id, version).await.unwrap(), None);
            }
            let none = read_event(&mut tx.conn(), acme(), stream_id, Version(9)).await.unwrap();
            assert_eq!(none, None);
        }
        let all = all_events(&store).await;
        let jobs = all.iter().filter(|event| event.stream_id != stream("a"));
        assert!(jobs.map(facts).eq(written.iter().map(facts_of)), "the whole log, in order");
        assert_eq!(all.len(), written.len() + 2);
        let places: Vec<_> = written.iter().map(|event| (event.stream_id, event.version)).collect();
        let hashes = read_hashes(&mut tx.conn(), &places).await.unwrap();
        assert_eq!(hashes.len(), written.len());
        for event in &written {
            assert_eq!(hashes[&(event.stream_id, event.version)], event.event_hash);
        }
        assert!(read_hashes(&mut tx.conn(), &[(places[0].0, Version(9))]).await.unwrap().is_empty());
    }

    async fn people_see_every_event_as_a_row(db) {
        let store = empty_log(&db).await;
        write_life(&store, &mut Together::new(5), Rows::Shared).await;
        let sql = "SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, \
            event_bytes FROM log_events ORDER BY stream_id, version";
        type Columns = (i64, Uuid, String, Uuid, i32, String, i64, Vec<u8>, Vec<u8>);
        let mut tx = store.begin_read().await.unwrap();
        let rows: Vec<Columns> = portable!(tx.conn(), c => sqlx::query_as(sql).fetch_all(c).await).unwrap();
        let columns = |event: StoredEvent| {
            let StoredEvent { id, tenant_id, stream_type, stream_id, version, .. } = event;
            let StoredEvent { event_type, occurred_at, event_hash, event_bytes, .. } = event;
            (id, tenant_id.0, stream_type, stream_id.0, version, event_type, occurred_at, event_hash, event_bytes)
        };
        assert_eq!(rows, all_events(&store).await.into_iter().map(columns).collect::<Vec<_>>());
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

/// A row that nobody can take apart is an error for whoever needs it, not fewer events.
#[tokio::test]
async fn a_damaged_row_of_a_cohort_is_an_error() {
    for damage in [
        "stream_ids = substr(stream_ids, 17)",
        "event_hashes = substr(event_hashes, 2)",
        "event_hashes = '', stream_ids = ''",
        "event_lines = replace(convert_from(event_lines, 'UTF8'), E'\n', ' ')::bytea",
    ] {
        let db = TestDatabase::postgres().await;
        let store = empty_log(&db).await;
        let mut together = Together::new(3);
        write(&store, &together.enqueue(), Rows::Shared).await;
        run_sql(&store, "ALTER TABLE cohort_events DISABLE TRIGGER ALL").await.unwrap();
        run_sql(&store, &format!("UPDATE cohort_events SET {damage}")).await.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        let error = read_stream(&mut tx.conn(), acme(), together.stream(0)).await.unwrap_err();
        assert_eq!(error.code(), "DATA_DAMAGED", "{damage}: {error}");
    }
}
