//! Views as they stood: at a position of the sealed order, at a moment, and in a file of their own.

mod common;

use std::time::Duration;

use bpc_eventstore::{Store, StoreOptions};
use bpc_projections::replay::{DatabaseSource, ReplayError, Until, into_file, rebuild};
use bpc_projections::{JobFilter, JobLine, list_jobs};
use bpc_testkit::TestDatabase;
use common::{Crowd, House};
use tempfile::TempDir;

const ALL: JobFilter = JobFilter {
    tenant: None,
    status: None,
    job_type: None,
    queue: None,
    from: None,
    to: None,
    limit: 10_000,
};

bpc_testkit::on_both_databases! {
    async fn the_state_behind_any_size_is_the_one_recorded_then(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 21).await);
        let mut recorded = Vec::new();
        for _ in 0..6 {
            crowd.work(40).await;
            let size = crowd.house.seal().await;
            recorded.push((size, crowd.house.now(), crowd.house.list(ALL).await));
            crowd.house.pass(Duration::from_secs(1));
        }
        crowd.work(20).await;
        for (size, at, expected) in recorded {
            assert_eq!(state(&crowd.house, Until::Size(size)).await, (size, expected.clone()));
            assert_eq!(state(&crowd.house, Until::Moment(at)).await.1, expected, "at {at}");
        }
        assert_eq!(state(&crowd.house, Until::Newest).await.1, crowd.house.list(ALL).await);
        assert_eq!(state(&crowd.house, Until::Size(0)).await, (0, Vec::new()));
    }

    async fn a_size_that_is_not_sealed_yet_is_refused(db) {
        let house = House::open(&db).await;
        let sealed = house.seal().await;
        house.count(house.acme, "a", &[1, 2, 3]).await;
        let file = TestDatabase::sqlite();
        let target = fresh(&file).await;
        let mut log = house.read().await;
        let mut conn = log.conn();
        let mut source = DatabaseSource::new(&mut conn);
        let refused = rebuild(&mut source, &target, &[], Until::Size(sealed + 1), &mut |_| {}).await;
        assert!(matches!(refused, Err(ReplayError::NotSealed { .. })), "{refused:?}");
    }

    async fn a_file_of_views_is_whole_and_replaces_nothing(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 22).await);
        crowd.work(60).await;
        let scratch = TempDir::new().unwrap();
        let path = scratch.path().join("state.sqlite");
        let mut log = crowd.house.read().await;
        let mut conn = log.conn();
        let mut source = DatabaseSource::new(&mut conn);
        into_file(&mut source, &path, &[], Until::Newest, &mut |_| {}).await.unwrap();
        let written = std::fs::read(&path).unwrap();
        let again = into_file(&mut source, &path, &[], Until::Newest, &mut |_| {}).await;
        assert!(matches!(&again, Err(error) if error.code() == "REPLAY_TARGET_EXISTS"), "{again:?}");
        assert_eq!(std::fs::read(&path).unwrap(), written);
        let names: Vec<_> = scratch.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["state.sqlite"], "no draft and no journal stays");

        let url = format!("sqlite://{}", path.display());
        let opened = Store::connect(&url, StoreOptions { create: false, ..StoreOptions::default() }).await.unwrap();
        let mut rows = opened.begin_read().await.unwrap();
        assert_eq!(list_jobs(&mut rows.conn(), &ALL).await.unwrap(), crowd.house.list(ALL).await);
    }
}

/// How many events count, and the jobs that follow from them.
async fn state(house: &House, until: Until) -> (u64, Vec<JobLine>) {
    let file = TestDatabase::sqlite();
    let target = fresh(&file).await;
    let mut log = house.read().await;
    let mut conn = log.conn();
    let mut source = DatabaseSource::new(&mut conn);
    let report = rebuild(&mut source, &target, &[], until, &mut |_| {}).await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.drift);
    let mut rebuilt = target.begin_read().await.unwrap();
    (report.events, list_jobs(&mut rebuilt.conn(), &ALL).await.unwrap())
}

async fn fresh(db: &TestDatabase) -> Store {
    let store = Store::connect(db.url(), StoreOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    store
}
