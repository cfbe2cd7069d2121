//! Reading in sealed order.

use bpc_eventstore::seal::{position_of, read_sealed, unsealed};
use bpc_testkit::on_both_databases;

use crate::common::{NOW, run_sql};

use super::log::{keyed_log, note, seal, sealed_events};

on_both_databases! {
    async fn pages_are_parts_of_the_whole(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 600).await;
        seal(&store).await;
        let all = sealed_events(&store).await;
        assert_eq!(all.len(), 601);
        let mut tx = store.begin_read().await.unwrap();
        for (from, limit) in [(0, 1), (0, 256), (255, 2), (300, 300), (600, 10), (601, 10), (u64::MAX, 10)] {
            let page = read_sealed(&mut tx.conn(), from, limit).await.unwrap();
            let start = (from as usize).min(all.len());
            assert_eq!(page, all[start..all.len().min(start.saturating_add(limit))], "{from} {limit}");
        }
        for it in [&all[0], &all[255], &all[256], &all[600]] {
            assert_eq!(position_of(&mut tx.conn(), it.event.id).await.unwrap(), Some(it.position));
        }
        assert_eq!(position_of(&mut tx.conn(), 4711).await.unwrap(), None);
    }

    async fn what_is_not_sealed_is_counted_and_not_read(db) {
        let store = keyed_log(&db).await;
        assert_eq!(unsealed(&store).await.unwrap().events, 1);
        seal(&store).await;
        assert_eq!(unsealed(&store).await.unwrap(), Default::default());
        note(&store, "a", 0, 2).await;
        let open = unsealed(&store).await.unwrap();
        assert_eq!((open.events, open.oldest_at), (2, Some(NOW.as_micros())));
        assert_eq!(sealed_events(&store).await.len(), 1);
    }

    async fn an_event_that_is_gone_is_an_error_and_not_a_shorter_page(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 5).await;
        seal(&store).await;
        let triggers = match db.kind() {
            bpc_testkit::DatabaseKind::Postgres => "DROP TRIGGER events_append_only ON events",
            bpc_testkit::DatabaseKind::Sqlite => "DROP TRIGGER events_refuse_delete",
        };
        run_sql(&store, triggers).await.unwrap();
        run_sql(&store, "DELETE FROM events WHERE version = 5").await.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        assert_eq!(read_sealed(&mut tx.conn(), 0, 5).await.unwrap().len(), 5);
        let error = read_sealed(&mut tx.conn(), 0, 6).await.unwrap_err();
        assert_eq!(error.code(), "DATA_DAMAGED");
        assert!(error.to_string().contains("position 5"), "{error}");
    }
}
