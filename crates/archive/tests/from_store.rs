//! Logs of both databases archived, and everything had back from the archive alone.

#[path = "../../projections/tests/common/mod.rs"]
mod views;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bpc_archive::{
    Archive, ArchiveError, ArchiveReport, ArchiveSource, ArchiveVerifyReport, CacheKey, archive,
    verify_archive,
};
use bpc_core::{BlobFields, Timestamp};
use bpc_eventstore::verify::VerifyOptions;
use bpc_eventstore::{Blob, Conn, Store, StoreOptions, portable, put_blob};
use bpc_projections::replay::{DatabaseSource, ReplayError, Until, into_file, rebuild, view_tables};
use bpc_projections::{JobFilter, JobLine, list_jobs};
use bpc_testkit::TestDatabase;
use sqlx::AssertSqlSafe;
use tempfile::TempDir;
use views::{Crowd, House, projections};

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
    async fn state_as_of_any_size_and_moment_follows_from_the_archive_alone(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 41).await);
        let scratch = TempDir::new().unwrap();
        let mut recorded: Vec<(u64, Timestamp, Vec<JobLine>)> = Vec::new();
        for round in 0..5 {
            crowd.work(40).await;
            crowd.house.count(crowd.house.acme, &format!("counter {round}"), &[1, round]).await;
            let size = crowd.house.seal().await;
            recorded.push((size, crowd.house.now(), crowd.house.list(ALL).await));
            crowd.house.pass(Duration::from_secs(1));
            if round != 2 {
                let report = archived(&crowd.house.store, scratch.path()).await.unwrap();
                assert_eq!(report.size, size);
            }
        }
        crowd.work(10).await;
        for (size, at, listed) in recorded {
            let (events, jobs, tables) = replayed(scratch.path(), Until::Size(size)).await;
            assert_eq!((events, jobs), (size, listed.clone()), "behind {size} events");
            assert_eq!(tables, replayed_from(&crowd.house, Until::Size(size)).await.2);
            assert_eq!(replayed(scratch.path(), Until::Moment(at)).await.1, listed, "at {at}");
        }
    }

    async fn an_archive_of_everything_rebuilds_every_view(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 42).await);
        crowd.work(200).await;
        crowd.house.count(crowd.house.acme, "a", &[1, 2, 3]).await;
        let scratch = TempDir::new().unwrap();
        crowd.house.seal().await;
        archived(&crowd.house.store, scratch.path()).await.unwrap();
        let (_, jobs, tables) = replayed(scratch.path(), Until::Newest).await;
        assert_eq!(jobs, crowd.house.list(ALL).await);
        assert_eq!(tables, live_tables(&crowd.house.store).await);
        let report = verified(scratch.path());
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert_eq!((report.held, report.checkpoint_age.is_some()), (Some("L1"), true));
        // Nothing but the log is needed once the database is gone.
        let file = scratch.path().join("state.sqlite");
        let mut source = ArchiveSource::open(scratch.path(), CacheKey::random()).unwrap();
        into_file(&mut source, &file, &projections(), Until::Newest, &mut |_| {}).await.unwrap();
        assert!(file.is_file());
    }

    async fn more_than_is_archived_cannot_be_asked_for(db) {
        let house = House::open(&db).await;
        let scratch = TempDir::new().unwrap();
        let nothing = archived(&house.store, scratch.path()).await;
        assert!(matches!(nothing, Err(ArchiveError::NothingSealed)), "{nothing:?}");
        let size = house.seal().await;
        archived(&house.store, scratch.path()).await.unwrap();
        let file = TestDatabase::sqlite();
        let target = fresh(&file).await;
        let mut source = ArchiveSource::open(scratch.path(), CacheKey::random()).unwrap();
        let refused = rebuild(&mut source, &target, &[], Until::Size(size + 1), &mut |_| {}).await;
        assert!(matches!(refused, Err(ReplayError::NotSealed { .. })), "{refused:?}");
    }

    async fn blobs_are_archived_once_and_checked_by_sha256sum(db) {
        let house = House::open(&db).await;
        house.seal().await;
        let scratch = TempDir::new().unwrap();
        let blobs: Vec<Blob> = (0..5u8).map(|byte| Blob::new(vec![byte; 1000])).collect();
        store_blobs(&house.store, &blobs[..3]).await;
        let report = archived(&house.store, scratch.path()).await.unwrap();
        assert_eq!((report.blobs, report.blobs_added), (3, 3));
        store_blobs(&house.store, &blobs[3..]).await;
        let bad = blobs[4].sha256;
        let (open, close) = if db.path().is_some() { ("X'", "'") } else { ("'\\x", "'") };
        house.tamper(&format!("UPDATE blobs SET bytes = {open}00{close} WHERE sha256 = {open}{bad}{close}")).await;
        let report = archived(&house.store, scratch.path()).await.unwrap();
        assert_eq!((report.blobs, report.blobs_added), (4, 1));
        assert_eq!(report.blobs_damaged, [bad.to_string()]);

        let list = Archive::open(scratch.path()).unwrap().manifest().blobs.clone().unwrap();
        let mut check = Command::new("sha256sum");
        check.args(["-c", "--quiet", &list.file]).current_dir(scratch.path());
        assert!(check.status().unwrap().success());
        let path = |blob: &Blob| {
            let name = blob.sha256.to_string();
            scratch.path().join("blobs").join(&name[..2]).join(&name)
        };
        for blob in &blobs[..4] {
            assert_eq!(std::fs::read(path(blob)).unwrap(), blob.bytes);
        }
        let report = verified(scratch.path());
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert_eq!(report.blobs, Some(4));
        std::fs::write(path(&blobs[0]), b"something else").unwrap();
        std::fs::remove_file(path(&blobs[1])).unwrap();
        let mut found: Vec<_> = verified(scratch.path()).findings.into_iter().map(|it| it.code).collect();
        found.sort();
        assert_eq!(found, ["BLOB_MISMATCH", "BLOB_MISSING"]);
        std::fs::write(scratch.path().join(&list.file), b"").unwrap();
        assert_eq!(verified(scratch.path()).findings[0].code, "BLOB_LIST_MISMATCH");
    }

    async fn the_archive_of_a_log_that_went_back_or_was_changed_is_not_gone_on_with(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 43).await);
        crowd.work(30).await;
        crowd.house.seal().await;
        let scratch = TempDir::new().unwrap();
        archived(&crowd.house.store, scratch.path()).await.unwrap();

        // Another log of the same name, first shorter, then longer.
        let other = TestDatabase::sqlite();
        let other = House::seeded(&other, 44).await;
        other.seal().await;
        let refused = archived(&other.store, scratch.path()).await;
        assert!(matches!(&refused, Err(error) if error.code() == "ARCHIVE_AHEAD_OF_LOG"), "{refused:?}");
        let mut other = Crowd::new(other);
        other.work(200).await;
        other.house.seal().await;
        let refused = archived(&other.house.store, scratch.path()).await;
        assert!(matches!(&refused, Err(error) if error.code() == "ARCHIVE_OF_ANOTHER_LOG"), "{refused:?}");
    }

    async fn an_event_changed_in_the_store_is_not_archived(db) {
        let mut crowd = Crowd::new(House::seeded(&db, 45).await);
        crowd.work(30).await;
        crowd.house.seal().await;
        let lift = match crowd.house.store.begin().await.unwrap().conn() {
            Conn::Postgres(_) => "ALTER TABLE events DISABLE TRIGGER events_append_only",
            Conn::Sqlite(_) => "DROP TRIGGER events_refuse_update; DROP TRIGGER events_refuse_delete",
        };
        crowd.house.tamper(lift).await;
        let other = "(SELECT event_bytes FROM events WHERE id = (SELECT min(id) FROM events))";
        let newest = "(SELECT max(id) FROM events)";
        crowd.house.tamper(&format!("UPDATE events SET event_bytes = {other} WHERE id = {newest}")).await;
        let scratch = TempDir::new().unwrap();
        let refused = archived(&crowd.house.store, scratch.path()).await;
        assert!(matches!(&refused, Err(error) if error.code() == "ARCHIVE_EVENT_DAMAGED"), "{refused:?}");
        assert!(matches!(Archive::open(scratch.path()), Err(ArchiveError::Missing(_))));
    }
}

async fn archived(store: &Store, directory: &Path) -> Result<ArchiveReport, ArchiveError> {
    archive(store, directory, &mut |_| {}).await
}

fn verified(directory: &Path) -> ArchiveVerifyReport {
    verify_archive(
        &Archive::open(directory).unwrap(),
        &VerifyOptions::default(),
        Some(&BlobFields::default()),
        |_| {},
    )
    .unwrap()
}

async fn store_blobs(store: &Store, blobs: &[Blob]) {
    let mut tx = store.begin().await.unwrap();
    for blob in blobs {
        put_blob(&mut tx.conn(), blob).await.unwrap();
    }
    tx.commit().await.unwrap();
}

type State = (u64, Vec<JobLine>, BTreeMap<&'static str, Vec<String>>);

async fn replayed(directory: &Path, until: Until) -> State {
    let key = CacheKey::load_or_create(&directory.join("cache.key")).unwrap();
    let mut source = ArchiveSource::open(directory, key).unwrap();
    let file = TestDatabase::sqlite();
    let target = fresh(&file).await;
    let report = rebuild(&mut source, &target, &projections(), until, &mut |_| {}).await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.drift);
    (report.events, jobs(&target).await, live_tables(&target).await)
}

async fn replayed_from(house: &House, until: Until) -> State {
    let file = TestDatabase::sqlite();
    let target = fresh(&file).await;
    let mut log = house.read().await;
    let mut conn = log.conn();
    let mut source = DatabaseSource::new(&mut conn);
    let report = rebuild(&mut source, &target, &projections(), until, &mut |_| {}).await.unwrap();
    (report.events, jobs(&target).await, live_tables(&target).await)
}

async fn jobs(store: &Store) -> Vec<JobLine> {
    list_jobs(&mut store.begin_read().await.unwrap().conn(), &ALL).await.unwrap()
}

/// Every row of every view, as text that is the same on both databases.
async fn live_tables(store: &Store) -> BTreeMap<&'static str, Vec<String>> {
    let mut tables = BTreeMap::new();
    for view in view_tables(&projections()) {
        let mut tx = store.begin_read().await.unwrap();
        let column = |column: &&str| match (tx_is_postgres(store), *column) {
            (true, "tenant_id" | "job_id" | "stream_id" | "last_job_id") => {
                format!("replace({column}::text, '-', '')")
            }
            (true, "head_hash") => format!("COALESCE(encode({column}, 'hex'), '-')"),
            (true, "running" | "cancel_requested" | "resolved") => format!("({column}::int)::text"),
            (true, _) => format!("COALESCE({column}::text, '-')"),
            (false, "tenant_id" | "job_id" | "stream_id" | "last_job_id") => format!("lower(hex({column}))"),
            (false, "head_hash") => format!("COALESCE(NULLIF(lower(hex({column})), ''), '-')"),
            (false, _) => format!("COALESCE(CAST({column} AS TEXT), '-')"),
        };
        let columns: Vec<String> = view.columns.iter().map(column).collect();
        let sql = AssertSqlSafe(format!("SELECT {} FROM {}", columns.join(" || ' ' || "), view.name));
        let mut rows: Vec<String> =
            portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_all(c).await).unwrap();
        rows.sort();
        tables.insert(view.name, rows);
    }
    tables
}

fn tx_is_postgres(store: &Store) -> bool {
    store.kind() == "postgres"
}

async fn fresh(db: &TestDatabase) -> Store {
    let store = Store::connect(db.url(), StoreOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    store
}
