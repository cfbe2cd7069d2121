//! `bpc verify` at its levels.

use bpc_testkit::{DatabaseKind, on_both_databases};
use serde_json::json;

use crate::harness::{enqueue, error, text};
use crate::log::Log;

use super::common::{file, sealed, vkey};

on_both_databases! {
    async fn a_sound_log_holds_at_the_level_asked_for_and_says_up_to_where(db) {
        let (bpc, _) = sealed(&db);
        let told = bpc.run(["verify", "--json"]).expect_success().json();
        assert_eq!((&told["level"], &told["held"]), (&"L1".into(), &"L1".into()), "{told}");
        assert_eq!((&told["up_to_position"], &told["unsealed"]), (&5.into(), &0.into()), "{told}");
        assert_eq!(told["anchor"], json!(null));

        file(&bpc, "kept.txt", bpc.run(["checkpoint"]).expect_success().stdout);
        enqueue(&bpc, "DRILL_NOOP", "{}", &["--delay", "1h"]);
        let key = vkey(&bpc);
        let told = bpc.run(["verify", "--checkpoint", "kept.txt", "--key", &key, "--blobs", "--projections", "--json"]);
        let told = told.expect_success().json();
        assert_eq!((&told["level"], &told["held"]), (&"L2".into(), &"L2".into()), "{told}");
        assert_eq!((&told["anchor"]["size"], &told["unsealed"]), (&5.into(), &1.into()), "{told}");
        assert!(told["unsealed_age_ms"].is_u64() && told["anchor"]["age_ms"].is_u64(), "{told}");
        assert_eq!(told["projections"]["drift_total"], 0);
        assert_eq!(told["blobs"]["findings_total"], 0);

        let said = bpc.run(["verify", "--checkpoint", "kept.txt"]).expect_success().stdout;
        for part in ["L2 held", "rules out", "leaves open", "up to", "1 events that no checkpoint covers", "anchor"] {
            assert!(said.contains(part), "{part} in:\n{said}");
        }
    }

    async fn an_archive_is_verified_without_its_database(db) {
        let (bpc, _) = sealed(&db);
        file(&bpc, "kept.txt", bpc.run(["checkpoint"]).expect_success().stdout);
        bpc.run(["archive", "--to", "archive"]).expect_success();
        let nowhere = "sqlite://there/is/no/such.db";
        let verify = ["verify", "--archive", "archive", "--checkpoint", "kept.txt", "--blobs", "--database", nowhere];
        let told = bpc.run([&verify[..], &["--json", "--report", "archive.html"]].concat()).expect_success().json();
        assert_eq!((&told["level"], &told["held"]), (&"L2".into(), &"L2".into()), "{told}");
        assert_eq!((&told["events"], &told["up_to_position"]), (&5.into(), &5.into()), "{told}");
        assert!(bpc.run(verify).expect_success().stdout.contains("L2 held"));

        // One bit of the first segment, and then no segment at all.
        let segments = bpc.directory().join("archive/segments");
        let segment = std::fs::read_dir(&segments).unwrap().next().unwrap().unwrap().path();
        let mut bytes = std::fs::read(&segment).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&segment, bytes).unwrap();
        let told = bpc.run([&verify[..], &["--json"]].concat()).expect_code(1).json();
        let is_sealed = ["L1", "L2"].iter().any(|level| told["held"] == *level);
        assert!(told["findings_total"].as_u64() > Some(0) && !is_sealed, "{told}");
        let output = bpc.run(["verify", "--archive", "nothing", "--json"]).expect_code(2);
        assert!(!error(&output).0.is_empty());
    }

    async fn a_stream_that_was_written_anew_holds_at_no_level(db) {
        let (bpc, job) = sealed(&db);
        let log = Log::open(&db).await;
        log.lift_guard().await;
        log.execute(&format!("DELETE FROM events WHERE stream_id = {}", log.id(&job))).await;
        let told = bpc.run(["verify", "--json"]).expect_code(1).json();
        assert_eq!(told["level"], "L1");
        assert!(told["held"] != "L1" && told["findings_total"].as_u64() > Some(0), "{told}");
    }

    async fn an_older_copy_is_seen_with_a_checkpoint_that_was_kept(db) {
        if db.kind() != DatabaseKind::Sqlite {
            return;
        }
        let (bpc, _) = sealed(&db);
        let path = db.path().unwrap();
        let backup = std::fs::read(path).unwrap();
        bpc.run(["enqueue", "DRILL_NOOP", "--count", "3"]).expect_success();
        bpc.run(["seal", "--once"]).expect_success();
        file(&bpc, "kept.txt", bpc.run(["checkpoint"]).expect_success().stdout);
        std::fs::write(path, backup).unwrap();
        for extra in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{extra}", path.display()));
        }
        let told = bpc.run(["verify", "--json"]).expect_success().json();
        assert_eq!(told["held"], "L1", "nothing inside the copy is wrong");
        let told = bpc.run(["verify", "--checkpoint", "kept.txt", "--json"]).expect_code(1).json();
        assert_eq!((&told["level"], &told["held"]), (&"L2".into(), &"L1".into()), "{told}");
        assert_eq!(told["findings"][0]["code"], "LOG_TRUNCATED");
        // Neither the sealer nor a proof goes on from there.
        let refused = bpc.run(["seal", "--once", "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "LOG_ROLLED_BACK");
        let refused = bpc.run(["checkpoint", "--since", "kept.txt", "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "LOG_ROLLED_BACK");
    }

    async fn a_damaged_blob_is_found_when_blobs_are_asked_for(db) {
        let (bpc, _) = sealed(&db);
        let log = Log::open(&db).await;
        let (key, bytes) = ("11".repeat(32), "6869");
        let literal = |hex: &str| match db.kind() {
            DatabaseKind::Postgres => format!("'\\x{hex}'"),
            DatabaseKind::Sqlite => format!("x'{hex}'"),
        };
        let insert =
            format!("INSERT INTO blobs (sha256, length, bytes) VALUES ({}, 3, {})", literal(&key), literal(bytes));
        log.execute(&insert).await;
        bpc.run(["verify"]).expect_success();
        let told = bpc.run(["verify", "--blobs", "--json"]).expect_code(1).json();
        assert_eq!(told["findings_total"], 0, "the log itself is sound");
        let codes: Vec<&str> =
            told["blobs"]["findings"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["BLOB_HASH_MISMATCH", "BLOB_LENGTH_MISMATCH"]);
        assert_eq!(text(&told["blobs"]["findings"][0], "blob"), key);
    }

    async fn the_report_is_one_page_that_loads_nothing(db) {
        let (bpc, job) = sealed(&db);
        bpc.run(["verify", "--projections", "--blobs", "--report", "sound.html"]).expect_success();
        let sound = std::fs::read_to_string(bpc.directory().join("sound.html")).unwrap();
        assert!(sound.contains("L1 held. No findings."), "{sound}");
        let log = Log::open(&db).await;
        log.lift_guard().await;
        let edit = format!("UPDATE events SET event_type = '<b>X</b>' WHERE stream_id = {} AND version = 3", log.id(&job));
        log.execute(&edit).await;
        bpc.run(["verify", "--report", "damaged.html"]).expect_code(1);
        let damaged = std::fs::read_to_string(bpc.directory().join("damaged.html")).unwrap();
        for part in ["COLUMN_MISMATCH", &job, "&lt;b&gt;X&lt;/b&gt;", "did not hold"] {
            assert!(damaged.contains(part), "{part} in:\n{damaged}");
        }
        for page in [sound, damaged] {
            for foreign in ["<b>X", "src=", "href=", "<script", "{{", "http:", "https:"] {
                assert!(!page.contains(foreign), "{foreign}");
            }
        }
    }

    async fn what_is_no_checkpoint_or_the_wrong_kind_of_key_is_said(db) {
        let (bpc, _) = sealed(&db);
        file(&bpc, "letter.txt", "dear auditor\n");
        let refused = bpc.run(["verify", "--checkpoint", "letter.txt", "--json"]).expect_code(2);
        assert_eq!(error(&refused).0, "NOTE_MALFORMED");
        let refused = bpc.run(["verify", "--checkpoint", "nowhere.txt", "--json"]).expect_code(2);
        assert_eq!(error(&refused).0, "FILE_UNREADABLE");
        let refused = bpc.run(["verify", "--witness", &vkey(&bpc), "--json"]).expect_code(2);
        assert_eq!(error(&refused).0, "USAGE");
        // A key that never spoke for this log.
        let other = "bpc.example/log+da5eb70c+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
        bpc.run(["verify", "--key", other, "--json"]).expect_code(1);
    }
}
