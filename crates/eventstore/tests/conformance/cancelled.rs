//! Whoever stops waiting for the log leaves it to others as it was.

use bpc_eventstore::{Store, StoreOptions};
use bpc_testkit::on_both_databases;

use crate::common::{append, cut_off, empty_log, event_count, notes, stream};

on_both_databases! {
    async fn a_transaction_whose_beginning_nobody_waits_for_is_nobody_elses(db) {
        empty_log(&db).await.close().await;
        // One connection: whoever comes next gets the same.
        let options = StoreOptions { connections_max: 1, ..StoreOptions::default() };
        let store = Store::connect(db.url(), options).await.unwrap();
        let mut version = 0;
        for polls in 0..12 {
            drop(cut_off(polls, store.begin_read()).await);
            drop(cut_off(polls, store.begin()).await);
            append(&store, &[notes(stream("a"), version, 1)]).await.unwrap();
            version += 1;
            assert_eq!(event_count(&store).await, i64::from(version), "after {polls} polls");
        }
    }
}
