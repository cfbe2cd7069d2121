//! Archive, export, and views rebuilt from either.

use bpc_testkit::on_both_databases;
use serde_json::Value;
use sqlx::sqlite::SqlitePoolOptions;

use crate::harness::{assert_sound, enqueue, error, show, text};
use crate::log::Log;

use super::common::sealed;

on_both_databases! {
    async fn state_is_rebuilt_from_an_archive_alone_as_of_any_position(db) {
        let (bpc, job) = sealed(&db);
        let finished = text(&show(&bpc, &job), "finished_at");
        let later = enqueue(&bpc, "DRILL_FAIL", "{}", &[]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        bpc.run(["seal", "--once"]).expect_success();
        let archived = bpc.run(["archive", "--to", "archive", "--json"]).expect_success().json();
        assert_eq!(archived["size"], archived["events_added"], "{archived}");
        let again = bpc.run(["archive", "--to", "archive", "--json"]).expect_success().json();
        assert_eq!((&again["size"], &again["events_added"]), (&archived["size"], &0.into()), "{again}");

        for source in [&["--archive", "archive"][..], &[]] {
            let into = |name: &str, more: &[&str]| {
                let file = format!("{name}{}.sqlite", source.len());
                let arguments = [&["replay", "--into", &file, "--json"], source, more].concat();
                (bpc.directory().join(&file), bpc.run(arguments).expect_success().json())
            };
            let (file, told) = into("newest", &[]);
            assert_eq!(told["events"], archived["size"], "{told}");
            assert_eq!(statuses(&file).await, [(job.clone(), "SUCCEEDED".into()), (later.clone(), "FAILED".into())]);
            // After its first three events, the job was only enqueued.
            let (file, told) = into("early", &["--to", "3"]);
            assert_eq!((&told["events"], statuses(&file).await.len()), (&3.into(), 0), "{told}");
            let (file, _) = into("then", &["--as-of", &finished]);
            assert_eq!(statuses(&file).await, [(job.clone(), "SUCCEEDED".into())]);
        }
        let taken = bpc.run(["replay", "--into", "newest0.sqlite", "--json"]).expect_code(2);
        assert_eq!(error(&taken).0, "REPLAY_TARGET_EXISTS");
        let beyond = bpc.run(["replay", "--into", "x.sqlite", "--to", "999", "--json"]).expect_code(1);
        assert_eq!(error(&beyond).0, "POSITION_NOT_SEALED");
        let nowhere = bpc.run(["replay", "--into", "x.sqlite", "--archive", "nowhere", "--json"]).expect_code(2);
        assert_eq!(error(&nowhere).0, "ARCHIVE_MISSING");
        let nothing = bpc.run(["replay", "--json"]).expect_code(2);
        assert_eq!(error(&nothing).0, "USAGE");
    }

    async fn the_log_is_exported_as_parquet_from_store_and_archive(db) {
        let (bpc, _) = sealed(&db);
        bpc.run(["archive", "--to", "archive"]).expect_success();
        for more in [&["--to", "one"][..], &["--to", "two", "--archive", "archive"]] {
            let told = bpc.run([&["export", "parquet", "--json"], more].concat()).expect_success().json();
            assert_eq!((&told["events"], &told["files"]), (&5.into(), &1.into()), "{told}");
            let files: Vec<_> = std::fs::read_dir(bpc.directory().join(more[1])).unwrap().flatten().collect();
            let bytes = std::fs::read(files[0].path()).unwrap();
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        }
    }

    async fn drift_is_repaired_and_named(db) {
        let (bpc, job) = sealed(&db);
        let log = Log::open(&db).await;
        let id = log.id(&job);
        log.execute(&format!("UPDATE finished_jobs SET attempts = 7 WHERE job_id = {id}")).await;
        let told = bpc.run(["verify", "--projections", "--json"]).expect_code(1).json();
        assert_eq!(told["projections"]["drift"][0]["found"], "7", "{told}");
        let repaired = bpc.run(["replay", "--repair", "--json"]).expect_success().json();
        assert_eq!(repaired["repaired"]["finished_jobs"], 1, "{repaired}");
        assert_sound(&bpc);
        let again = bpc.run(["replay", "--repair", "--json"]).expect_success().json();
        assert_eq!(again["repaired"], Value::Object(serde_json::Map::new()));
    }
}

/// Finished jobs of a rebuilt file, by the time of their creation.
async fn statuses(file: &std::path::Path) -> Vec<(String, String)> {
    let url = format!("sqlite://{}", file.display());
    let pool = SqlitePoolOptions::new().connect(&url).await.expect("any tool opens it");
    let sql = "SELECT lower(hex(job_id)), status FROM ended_jobs ORDER BY created_at";
    let rows: Vec<(String, String)> = sqlx::query_as(sql).fetch_all(&pool).await.expect("the view");
    let dashed = |hex: &str| [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    rows.into_iter().map(|(id, status)| (dashed(&id), status)).collect()
}
