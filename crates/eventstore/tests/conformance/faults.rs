//! A commit that fails, with and without effect.

use bpc_testkit::on_both_databases;

use crate::common::{append, empty_log, event_count, notes, stream};

on_both_databases! {
    async fn a_failed_commit_that_is_not_persisted_leaves_nothing(db) {
        let store = empty_log(&db).await;
        store.fault.fail_not_persisted(0);
        let error = append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap_err();
        assert_eq!(error.code(), "DATABASE_UNAVAILABLE");
        assert!(error.is_retryable());
        assert!(store.fault.is_spent());
        assert_eq!(event_count(&store).await, 0);
        append(&store, &[notes(stream("a"), 0, 2)]).await.expect("the same call succeeds later");
    }

    async fn a_failed_commit_that_is_persisted_is_found_by_looking(db) {
        let store = empty_log(&db).await;
        store.fault.fail_but_persisted(0);
        let error = append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap_err();
        assert_eq!(error.code(), "DATABASE_UNAVAILABLE");
        assert_eq!(event_count(&store).await, 2);
        let again = append(&store, &[notes(stream("a"), 0, 2)]).await.unwrap_err();
        assert_eq!(again.code(), "EVENT_VERSION_CONFLICT", "a blind second try cannot write twice");
        assert_eq!(event_count(&store).await, 2);
    }

    async fn the_commits_before_a_fault_are_not_touched(db) {
        let store = empty_log(&db).await;
        store.fault.fail_not_persisted(2);
        append(&store, &[notes(stream("a"), 0, 1)]).await.unwrap();
        append(&store, &[notes(stream("a"), 1, 1)]).await.unwrap();
        assert!(!store.fault.is_spent());
        append(&store, &[notes(stream("a"), 2, 1)]).await.unwrap_err();
        append(&store, &[notes(stream("a"), 2, 1)]).await.unwrap();
        assert_eq!(event_count(&store).await, 3);
    }
}
