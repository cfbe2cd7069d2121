//! Parquet: what is exported is what the log says, from a store and from its archive alike.

#[path = "../../projections/tests/common/mod.rs"]
mod views;

use std::fs::File;
use std::path::Path;
use std::process::Command;

use bpc_archive::{Archive, archive, export_parquet, export_parquet_of_archive};
use bpc_eventstore::seal::{SealedEvent, read_sealed};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use tempfile::TempDir;
use views::{Crowd, House};

bpc_testkit::on_both_databases! {
    async fn every_sealed_event_is_a_row(db) {
        let (house, events) = sealed(&db, 120).await;
        let scratch = TempDir::new().unwrap();
        let (from_store, from_archive) = (scratch.path().join("store"), scratch.path().join("archive"));
        let report = export_parquet(&house.store, &from_store, &mut |_| {}).await.unwrap();
        assert_eq!((report.events, report.files), (events.len() as u64, 1));
        let rows = rows(&from_store.join("events-000000000000.parquet"));
        assert_eq!(rows.len(), events.len());
        for (row, sealed) in rows.iter().zip(&events) {
            assert_row(row, sealed);
        }

        let directory = scratch.path().join("a");
        archive(&house.store, &directory, &mut |_| {}).await.unwrap();
        let archive = Archive::open(&directory).unwrap();
        export_parquet_of_archive(&archive, &from_archive, &mut |_| {}).unwrap();
        let name = "events-000000000000.parquet";
        assert_eq!(
            std::fs::read(from_store.join(name)).unwrap(),
            std::fs::read(from_archive.join(name)).unwrap(),
            "the same bytes from both"
        );
        // Again, over what is there.
        export_parquet(&house.store, &from_store, &mut |_| {}).await.unwrap();
        assert_eq!(std::fs::read_dir(&from_store).unwrap().count(), 1);
    }
}

/// With Python and pyarrow or duckdb from PyPI; these are large, so only when long tests are asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pandas_and_duckdb_read_it() {
    if std::env::var_os("BPC_TEST_LONG").is_none() {
        return;
    }
    let (house, events) = sealed(&bpc_testkit::TestDatabase::sqlite(), 120).await;
    let scratch = TempDir::new().unwrap();
    export_parquet(&house.store, &scratch.path().join("out"), &mut |_| {}).await.unwrap();
    let venv = scratch.path().join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    run(Command::new(venv.join("bin/pip")).args(["install", "--quiet", "duckdb", "pandas", "pyarrow"]));
    let script = r#"
import sys, duckdb, pandas
frame = pandas.read_parquet(sys.argv[1])
assert str(frame.occurred_at.dtype) in ("datetime64[us, UTC]", "datetime64[ns, UTC]"), frame.occurred_at.dtype
assert list(frame.position) == list(range(len(frame)))
sql = f"SELECT count(*), count(DISTINCT stream_id), max(position), min(payload->>'$.slug') FROM '{sys.argv[1]}/*.parquet'"
print(len(frame), *duckdb.sql(sql).fetchall()[0])
"#;
    let output =
        Command::new(venv.join("bin/python")).args(["-c", script]).arg(scratch.path().join("out")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut streams: Vec<_> = events.iter().map(|sealed| sealed.event.stream_id).collect();
    streams.sort_unstable();
    streams.dedup();
    let expected = format!("{0} {0} {1} {2} acme\n", events.len(), streams.len(), events.len() - 1);
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

async fn sealed(db: &bpc_testkit::TestDatabase, steps: usize) -> (House, Vec<SealedEvent>) {
    let mut crowd = Crowd::new(House::seeded(db, 51).await);
    crowd.work(steps).await;
    let house = crowd.house;
    house.seal().await;
    let mut tx = house.read().await;
    let events = read_sealed(&mut tx.conn(), 0, usize::MAX).await.unwrap();
    drop(tx);
    (house, events)
}

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn assert_row(row: &Row, sealed: &SealedEvent) {
    let (event, envelope) = (&sealed.event, sealed.event.envelope().unwrap());
    let text = |text: &dyn ToString| Field::Str(text.to_string());
    let optional = |id: Option<String>| id.map_or(Field::Null, Field::Str);
    let expected = [
        ("position", Field::Long(sealed.position as i64)),
        ("tenant_id", text(&event.tenant_id)),
        ("stream_type", text(&event.stream_type)),
        ("stream_id", text(&event.stream_id)),
        ("version", Field::Int(event.version)),
        ("event_type", text(&event.event_type)),
        ("occurred_at", Field::TimestampMicros(event.occurred_at)),
        ("actor", text(&envelope.actor)),
        ("event_id", text(&envelope.event_id)),
        ("event_hash", text(&event.hash().unwrap())),
        ("schema", Field::Int(1)),
        ("payload", Field::Str(String::from_utf8(envelope.payload.to_vec()).unwrap())),
        ("correlation_id", optional(envelope.correlation_id.map(|id| id.to_string()))),
        ("causation_id", optional(envelope.causation_id.map(|id| id.to_string()))),
    ];
    let found: Vec<(&str, Field)> =
        row.get_column_iter().map(|(name, field)| (name.as_str(), field.clone())).collect();
    assert_eq!(found, expected);
}
