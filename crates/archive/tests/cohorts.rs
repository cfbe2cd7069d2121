//! Which rows a log is kept in is nobody's business but its database's: archives, states and proofs are the same.

#[path = "../../eventstore/tests/conformance/cohorts.rs"]
#[allow(dead_code)]
mod cohorts;
#[path = "../../eventstore/tests/conformance/common.rs"]
#[allow(dead_code)]
mod common;

use std::path::Path;
use std::time::Duration;

use bpc_archive::{Archive, ArchiveSource, CacheKey, archive};
use bpc_core::{EventRecord, Version};
use bpc_eventstore::seal::{KeyState, LogSecret, SealOptions, Sealer};
use bpc_eventstore::{
    Store, StoreOptions, StoredEvent, add_log_key, add_tenant, insert_log_key, insert_tenant, log_keys,
    tenants, write_events,
};
use bpc_projections::replay::{DatabaseSource, ReplaySource, Until, rebuild};
use bpc_projections::{JobFilter, JobLine, list_jobs};
use bpc_testkit::TestDatabase;
use cohorts::{Rows, Together, write_life};
use common::{NOW, all_events, append, empty_log, notes, stream};
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_shared_rows_is_the_log_of_single_rows() {
    let (db, other) = (TestDatabase::postgres().await, TestDatabase::postgres().await);
    let store = empty_log(&db).await;
    add_tenant(&store, "acme", "Acme", "user:ops").await.unwrap();
    add_log_key(&store, "example.com/log", secret().public_hex(), "user:ops").await.unwrap();
    let mut states = Vec::new();
    for count in [64, 3, 1] {
        write_life(&store, &mut Together::new(count), Rows::Shared).await;
        let later = NOW.plus(Duration::from_secs(count as u64));
        write_life(&store, &mut Together::at(later, count), Rows::Shared).await;
        append(&store, &[notes(stream(&count.to_string()), 0, 2)]).await.unwrap();
    }
    let copy = copied(&store, &other).await;
    let mut archives = Vec::new();
    for store in [&store, &copy] {
        let scratch = TempDir::new().unwrap();
        let size = sealed(store).await;
        archive(store, scratch.path(), &mut |_| {}).await.unwrap();
        for until in [Until::Newest, Until::Size(size / 3), Until::Size(70), Until::Moment(NOW)] {
            let mut tx = store.begin_read().await.unwrap();
            let mut conn = tx.conn();
            let from_database = state(&mut DatabaseSource::new(&mut conn), until).await;
            let mut source = ArchiveSource::open(scratch.path(), CacheKey::random()).unwrap();
            assert_eq!(state(&mut source, until).await, from_database, "{until:?}");
            states.push(from_database);
        }
        archives.push(scratch);
    }
    let (shared, single) = states.split_at(states.len() / 2);
    assert_eq!(shared, single);
    let [shared, single] = [&archives[0], &archives[1]].map(|scratch| segments(scratch.path()));
    assert!(!shared.is_empty() && shared == single, "byte for byte");
}

/// The same events in the same order, a row for each.
async fn copied(store: &Store, db: &TestDatabase) -> Store {
    let copy = empty_log(db).await;
    let mut events = all_events(store).await;
    events.sort_by_key(|event| event.id);
    let records: Vec<EventRecord> = events.into_iter().map(record).collect();
    let mut tx = copy.begin().await.unwrap();
    write_events(&mut tx.conn(), &records).await.unwrap();
    for key in log_keys(store).await.unwrap() {
        insert_log_key(&mut tx.conn(), &key).await.unwrap();
    }
    for tenant in tenants(store).await.unwrap() {
        insert_tenant(&mut tx.conn(), &tenant).await.unwrap();
    }
    tx.commit().await.unwrap();
    copy
}

fn record(event: StoredEvent) -> EventRecord {
    EventRecord {
        tenant_id: event.tenant_id,
        stream_type: event.stream_type.as_str().into(),
        stream_id: event.stream_id,
        version: Version(event.version as u32),
        event_type: event.event_type.clone().into(),
        occurred_at: event.at(),
        event_hash: event.hash().unwrap(),
        event_bytes: event.event_bytes,
    }
}

fn secret() -> LogSecret {
    LogSecret::new([7; 32])
}

/// Seal everything; returns how much that is.
async fn sealed(store: &Store) -> u64 {
    let mut sealer = Sealer::new(store.clone(), secret(), KeyState::memory(), SealOptions::default());
    sealer.seal_all().await.unwrap().head.unwrap().size
}

async fn state(source: &mut dyn ReplaySource, until: Until) -> (u64, Vec<JobLine>) {
    let file = TestDatabase::sqlite();
    let target = Store::connect(file.url(), StoreOptions::default()).await.unwrap();
    target.migrate().await.unwrap();
    let report = rebuild(source, &target, &[], until, &mut |_| {}).await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.drift);
    let all = JobFilter { limit: 10_000, ..JobFilter::default() };
    let jobs = list_jobs(&mut target.begin_read().await.unwrap().conn(), &all).await.unwrap();
    (report.events, jobs)
}

/// The files that the manifest names, with what is in them.
fn segments(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let archive = Archive::open(directory).unwrap();
    let files = archive.manifest().segments.iter().map(|entry| entry.file.clone());
    files.map(|file| (file.clone(), std::fs::read(directory.join(file)).unwrap())).collect()
}
