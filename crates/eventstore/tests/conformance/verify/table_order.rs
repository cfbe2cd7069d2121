//! A table whose rows lie in another order than they were written is the same log: after a restore, after space was
//! used again, after somebody clustered it.

use bpc_eventstore::Store;
use bpc_testkit::TestDatabase;

use crate::common::{append, draft, notes, number, run_sql, stream};

use super::log::{only, report, small_log};

/// Events of 100 KB each, so that a few are more than verify has in sight at once.
const LARGE: u64 = 120;

async fn large_log(db: &TestDatabase) -> Store {
    let store = small_log(db).await;
    let text = "x".repeat(100_000);
    for number in 0..LARGE / 4 {
        let mut some = notes(stream(&format!("large {number}")), 0, 4);
        some.events = (0..4).map(|n| draft(&format!("{{\"n\":{n},\"text\":\"{text}\"}}"))).collect();
        append(&store, &[some]).await.unwrap();
    }
    store
}

/// Let the rows lie in this order.
async fn lie_by(store: &Store, order: &str) {
    let sql =
        format!("CREATE INDEX lie_by ON events (({order})); CLUSTER events USING lie_by; DROP INDEX lie_by");
    run_sql(store, &sql).await.unwrap();
}

#[tokio::test]
async fn a_table_in_any_order_is_sound_and_says_what_was_changed() {
    let db = TestDatabase::postgres().await;
    let store = large_log(&db).await;
    let rows = number(&store, "SELECT count(*) FROM events").await as u64;
    let highest = number(&store, "SELECT max(id) FROM events").await;
    let orders = [
        "id".to_owned(),
        // Backwards, at random, two that changed places, one far too early and one far too late.
        "-id".to_owned(),
        "md5(id::text)".to_owned(),
        format!(
            "CASE id WHEN {highest} - 9 * 64 THEN id + 65 WHEN {highest} - 8 * 64 THEN id - 65 ELSE id END"
        ),
        format!("CASE id WHEN {highest} THEN 1 ELSE id END"),
        format!("CASE id WHEN 3 * 64 THEN {highest} ELSE id END"),
    ];
    for order in orders {
        lie_by(&store, &order).await;
        let sound = report(&store).await;
        assert!(sound.is_sound(), "{order}: {:#?}", sound.findings);
        assert_eq!(sound.events, rows, "{order}");
    }
    let change = "ALTER TABLE events DISABLE TRIGGER ALL; UPDATE events SET occurred_at = occurred_at + 1 WHERE id = 20 * 64";
    run_sql(&store, change).await.unwrap();
    for order in ["id", "-id", "md5(id::text)"] {
        lie_by(&store, order).await;
        let changed = report(&store).await;
        assert_eq!(only(&changed, "COLUMN_MISMATCH").column, Some("occurred_at"), "{order}");
        assert_eq!(changed.findings_total, 1, "{order}");
    }
}
