//! Events of many jobs in one row are checked as if each had its own.

use bpc_core::canonical::canonicalize;
use bpc_core::{BlobFields, CanonicalJson, EventRecord, TenantId};
use bpc_eventstore::verify::{VerifyOptions, VerifyReport, check_blobs, event_count_estimate, verify};
use bpc_eventstore::{Blob, Store, put_blob};
use bpc_testkit::TestDatabase;

use crate::common::{acme, append, notes, run_sql, stream};

use super::alike::{Alike, alike, write_cohorts};
use super::log::{SMALL, append_job, codes, only, report, small_log};

/// Some events that may be written as one.
enum Written {
    Together(Vec<EventRecord>),
    Apart(Vec<EventRecord>),
}

/// So many cohorts from beginning to end, their events in the order of writing. Of each, one job fails and goes its own
/// way, and half of the others succeed together.
fn histories(cohorts: u8, jobs: u8, payload: &CanonicalJson) -> Vec<Written> {
    let mut all: Vec<Alike> = (0..cohorts).map(|cohort| Alike::new(cohort, jobs)).collect();
    let (jobs, mut written) = (usize::from(jobs), Vec::new());
    written.extend(all.iter_mut().map(|alike| Written::Together(alike.enqueue(payload))));
    for alike in &mut all {
        written.push(Written::Together(alike.lease(0..jobs)));
        written.push(Written::Apart(alike.fail(0)));
        written.push(Written::Together(alike.succeed(1..jobs / 2)));
        written.push(Written::Apart(alike.succeed(jobs / 2..jobs)));
    }
    written
}

fn plain() -> CanonicalJson {
    CanonicalJson::empty_object()
}

async fn write(store: &Store, written: &[Written], has_cohorts: bool) {
    for some in written {
        match some {
            Written::Together(records) if has_cohorts => write_cohorts(store, &[records]).await,
            Written::Together(records) | Written::Apart(records) => append_job(store, records.clone()).await,
        }
    }
}

/// A small log and then a single cohort of four, of which all succeed.
async fn log_of_four(db: &TestDatabase) -> (Store, Vec<Vec<EventRecord>>) {
    let store = small_log(db).await;
    let mut four = Alike::new(1, 4);
    let records = vec![four.enqueue(&plain()), four.lease(0..4), four.succeed(0..4)];
    for events in &records {
        write_cohorts(&store, &[events]).await;
    }
    let sound = report(&store).await;
    assert!(sound.is_sound(), "{:#?}", sound.findings);
    assert_eq!((sound.events, sound.jobs), (SMALL + 12, 5));
    run_sql(&store, "DROP TRIGGER cohort_events_append_only ON cohort_events").await.unwrap();
    (store, records)
}

fn of_json(report: VerifyReport) -> serde_json::Value {
    let mut json = serde_json::to_value(report).unwrap();
    json.as_object_mut().unwrap().remove("elapsed_ms");
    json
}

#[tokio::test]
async fn a_log_in_both_tables_is_the_log_in_one() {
    let written = histories(40, 64, &plain());
    let mut reports = Vec::new();
    for has_cohorts in [true, false] {
        let db = TestDatabase::postgres().await;
        let store = small_log(&db).await;
        write(&store, &written, has_cohorts).await;
        append(&store, &[notes(stream("notes"), 3, 1)]).await.unwrap();
        let sound = report(&store).await;
        assert!(sound.is_sound(), "{:#?}", sound.findings);
        assert_eq!((sound.events, sound.jobs), (SMALL + 1 + 40 * (64 * 3 + 1), 1 + 40 * 64));
        assert!(event_count_estimate(&store).await.unwrap() >= sound.events);
        let tight = VerifyOptions { live_bytes_max: Some(50 << 10), ..VerifyOptions::default() };
        let tight = verify(&store, &tight, |_| {}).await.unwrap();
        let of_tenant = VerifyOptions { tenant: Some(acme()), ..VerifyOptions::default() };
        let of_tenant = verify(&store, &of_tenant, |_| {}).await.unwrap();
        reports.push([sound, tight, of_tenant].map(of_json));
    }
    assert_eq!(reports[0][0], reports[0][1], "however little memory there is");
    assert_eq!(reports[0], reports[1]);
}

#[tokio::test]
async fn a_version_in_both_tables_is_found() {
    for version in 1..=3 {
        let db = TestDatabase::postgres().await;
        let (store, records) = log_of_four(&db).await;
        append_job(&store, vec![records[version - 1][2].clone()]).await;
        let doubled = report(&store).await;
        assert_eq!(codes(&doubled), ["VERSION_DUPLICATE"]);
        let finding = only(&doubled, "VERSION_DUPLICATE");
        assert_eq!((finding.stream, finding.version), (alike(1, 2).into(), Some(version as i64)));
    }
}

#[tokio::test]
async fn a_job_with_a_key_has_no_place_in_a_cohort() {
    let db = TestDatabase::postgres().await;
    let store = small_log(&db).await;
    // Nobody who looks for it would find it there, and its key could be used again.
    write_cohorts(&store, &[&Alike::keyed("k").enqueue(&plain())]).await;
    assert_eq!(codes(&report(&store).await), ["COHORT_DAMAGED"]);
}

#[tokio::test]
async fn one_edit_in_a_row_of_many_is_one_finding() {
    let edits = [
        (
            "event_lines = overlay(event_lines PLACING 'f'::bytea FROM position('w1'::bytea IN event_lines))",
            "HASH_MISMATCH",
            1,
        ),
        ("event_hashes = set_byte(event_hashes, 40, get_byte(event_hashes, 40) # 1)", "HASH_MISMATCH", 1),
        ("event_type = 'RENEWED'", "COLUMN_MISMATCH", 4),
        ("occurred_at = occurred_at + 1", "COLUMN_MISMATCH", 4),
        ("tenant_id = '00000000-0000-0000-0000-000000000001'", "COLUMN_MISMATCH", 4),
    ];
    for (edit, code, count) in edits {
        let db = TestDatabase::postgres().await;
        let (store, _) = log_of_four(&db).await;
        run_sql(&store, &format!("UPDATE cohort_events SET {edit} WHERE version = 2")).await.unwrap();
        let edited = report(&store).await;
        assert_eq!(codes(&edited), vec![code; count], "{edit}: {:#?}", edited.findings);
        assert!(edited.findings.iter().all(|finding| finding.version == Some(2)), "{edit}");
    }
}

#[tokio::test]
async fn a_row_that_is_no_cohort_is_found_and_so_are_the_events_behind_it() {
    let broken = [
        ("id = id + 1", "id"),
        ("stream_ids = ''", "stream_ids"),
        ("stream_ids = stream_ids || stream_ids", "event_hashes"),
        ("stream_ids = substr(stream_ids, 1, 63)", "stream_ids"),
        ("event_hashes = substr(event_hashes, 33)", "event_hashes"),
        ("event_lines = event_lines || '\\x0a'", "event_lines"),
        ("event_lines = ''", "event_lines"),
        ("first_stream_id = last_stream_id", "first_stream_id"),
        ("last_stream_id = first_stream_id", "last_stream_id"),
        (
            "stream_ids = substr(stream_ids, 1, 16) || substr(stream_ids, 33, 16) || substr(stream_ids, 17, 16) || \
             substr(stream_ids, 49)",
            "stream_ids",
        ),
    ];
    for (change, column) in broken {
        let db = TestDatabase::postgres().await;
        let (store, _) = log_of_four(&db).await;
        run_sql(&store, &format!("UPDATE cohort_events SET {change} WHERE version = 2")).await.unwrap();
        let broken = report(&store).await;
        assert_eq!(codes(&broken)[0], "COHORT_DAMAGED", "{change}: {:#?}", broken.findings);
        let finding = only(&broken, "COHORT_DAMAGED");
        assert_eq!((finding.column, finding.version), (Some(column), Some(2)), "{change}");
        assert_eq!(codes(&broken)[1..], ["VERSION_GAP"; 4], "{change}");
        assert_eq!(broken.events, SMALL + 8, "{change}");
        let of_tenant = async |tenant| {
            let options = VerifyOptions { tenant: Some(tenant), ..VerifyOptions::default() };
            verify(&store, &options, |_| {}).await.unwrap().findings_total
        };
        assert_eq!((of_tenant(acme()).await, of_tenant(TenantId::SYSTEM).await), (5, 0), "{change}");
    }
}

#[tokio::test]
async fn an_event_with_the_id_of_one_in_a_cohort_is_found() {
    let db = TestDatabase::postgres().await;
    let (store, _) = log_of_four(&db).await;
    let columns =
        "tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes";
    let moved = |place: u8| {
        format!(
            "DROP TRIGGER IF EXISTS events_append_only ON events; \
             WITH gone AS (DELETE FROM events WHERE stream_type = 'Note' AND version = 3 RETURNING {columns}) \
             INSERT INTO events (id, {columns}) OVERRIDING SYSTEM VALUE \
             SELECT (SELECT min(id) + {place} FROM cohort_events), {columns} FROM gone"
        )
    };
    for place in [0, 3] {
        run_sql(&store, &moved(place)).await.unwrap();
        let shared = report(&store).await;
        assert_eq!(codes(&shared), ["COHORT_DAMAGED"], "{place}");
        assert_eq!(only(&shared, "COHORT_DAMAGED").column, Some("id"));
    }
    run_sql(&store, &moved(4)).await.unwrap();
    assert!(report(&store).await.is_sound(), "there is room behind those of a cohort");
}

#[tokio::test]
async fn a_cohort_that_no_index_leads_to_is_found() {
    for hidden_from in ["indrelid = 'cohort_events'::regclass", "indexrelid = 'cohort_events_pkey'::regclass"]
    {
        let db = TestDatabase::postgres().await;
        let store = small_log(&db).await;
        let ready = format!("UPDATE pg_index SET indisready = true WHERE {hidden_from}");
        run_sql(&store, &ready.replace("true", "false")).await.unwrap();
        write_cohorts(&store, &[&Alike::new(1, 4).enqueue(&plain())]).await;
        run_sql(&store, &ready).await.unwrap();
        let hidden = report(&store).await;
        assert_eq!((codes(&hidden), hidden.events), (vec!["ROWS_HIDDEN"], SMALL + 4), "{hidden_from}");
        let finding = only(&hidden, "ROWS_HIDDEN");
        assert_eq!((finding.expected.as_deref(), finding.found.as_deref()), (Some("12"), Some("11")));
        run_sql(&store, "REINDEX TABLE cohort_events").await.unwrap();
        assert!(report(&store).await.is_sound());
    }
}

#[tokio::test]
async fn a_blob_that_an_event_in_a_cohort_names_must_be_there() {
    let db = TestDatabase::postgres().await;
    let store = small_log(&db).await;
    let blob = Blob::new(b"a page".to_vec());
    let payload = format!("{{\"page\":{{\"length\":6,\"sha256\":\"{}\"}}}}", blob.sha256);
    let payload = canonicalize(payload.as_bytes()).unwrap();
    for cohort in 0..40 {
        write_cohorts(&store, &[&Alike::new(cohort, 3).enqueue(&payload)]).await;
        append(&store, &[notes(stream(&cohort.to_string()), 0, 1)]).await.unwrap();
    }
    let missing = check_blobs(&store, &BlobFields::default(), |_| {}).await.unwrap();
    assert_eq!((missing.named, missing.findings_total), (120, 120));
    let order: Vec<_> = missing.findings.iter().map(|finding| finding.stream.unwrap()).collect();
    assert!(order.is_sorted() && order[0] == alike(0, 0).into(), "in the order of writing");
    let mut tx = store.begin().await.unwrap();
    put_blob(&mut tx.conn(), &blob).await.unwrap();
    tx.commit().await.unwrap();
    let there = check_blobs(&store, &BlobFields::default(), |_| {}).await.unwrap();
    assert_eq!((there.named, there.findings_total), (120, 0));
}

/// Rows of 300 KB each, so that a few are more than verify has in sight at once.
#[tokio::test]
async fn a_table_of_cohorts_in_any_order_is_sound_and_says_what_was_changed() {
    let db = TestDatabase::postgres().await;
    let store = small_log(&db).await;
    let payload = format!("{{\"text\":\"{}\"}}", "x".repeat(4400));
    let written = histories(30, 64, &canonicalize(payload.as_bytes()).unwrap());
    write(&store, &written, true).await;
    run_sql(&store, "DROP TRIGGER cohort_events_append_only ON cohort_events").await.unwrap();
    for is_changed in [false, true] {
        if is_changed {
            let change = "UPDATE cohort_events SET occurred_at = occurred_at + 1 WHERE id = (SELECT min(id) FROM cohort_events)";
            run_sql(&store, change).await.unwrap();
        }
        for order in ["id", "-id", "md5(id::text)"] {
            let lie = format!(
                "CREATE INDEX lie_by ON cohort_events (({order})); CLUSTER cohort_events USING lie_by; DROP INDEX lie_by"
            );
            run_sql(&store, &lie).await.unwrap();
            let report = report(&store).await;
            assert_eq!(report.events, SMALL + 30 * (64 * 3 + 1), "{order}");
            let expected = if is_changed { vec!["COLUMN_MISMATCH"; 64] } else { vec![] };
            assert_eq!(codes(&report), expected, "{order}");
        }
    }
}
