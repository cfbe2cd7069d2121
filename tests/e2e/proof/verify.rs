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

    /// What the table of tamperings with archives (crates/archive/tests/tamper/table.rs) says, as people and programs
    /// are told: exit code, level, code, place.
    async fn what_is_done_to_an_archive_is_told_with_its_place(db) {
        let (bpc, job) = sealed(&db);
        bpc.run(["archive", "--to", "archive"]).expect_success();
        let directory = bpc.directory().join("archive");
        let segment = "segments/00000000.partial-5.jsonl.zst";
        type Change = fn(&mut Vec<u8>);
        let bit: Change = |bytes| bytes[20] ^= 1;
        let cases: [(&str, Change, &str, Option<&str>); 7] = [
            (segment, bit, "SEGMENT_MALFORMED", Some("L0")),
            (segment, |bytes| bytes.truncate(100), "SEGMENT_MALFORMED", Some("L0")),
            ("tile/0/000.p/5", bit, "TILE_MISMATCH", Some("L0")),
            ("tile/0/000.p/5", |bytes| bytes.truncate(64), "TILE_MISSING", Some("L0")),
            ("checkpoints/5", |bytes| *bytes = b"to whom it may concern".to_vec(), "NOTE_MALFORMED", Some("L0")),
            ("checkpoint", |bytes| { let end = bytes.len() - 9; bytes[end] ^= 1 }, "NOTE_S", Some("L0")),
            ("manifest.json", |bytes| bytes.push(b' '), "", None),
        ];
        for (file, change, code, held) in cases {
            let path = directory.join(file);
            let sound = std::fs::read(&path).unwrap();
            let mut bytes = sound.clone();
            change(&mut bytes);
            std::fs::write(&path, bytes).unwrap();
            let output = bpc.run(["verify", "--archive", "archive", "--blobs", "--json"]);
            if held.is_none() {
                assert_eq!(error(&output.expect_code(1)).0, "ARCHIVE_MANIFEST_INVALID");
            } else {
                let told = output.expect_code(1).json();
                let findings = told["findings"].as_array().unwrap();
                let is_it = |it: &&serde_json::Value| text(it, "code").starts_with(code) && it["file"] == file;
                assert!(findings.iter().any(|it| is_it(&it)), "{code} {file} in {told}");
                assert!(told["held"] != "L1" && told["level"] == "L1", "{told}");
                let said = bpc.run(["verify", "--archive", "archive", "--report", "page.html"]).expect_code(1).stdout;
                assert!(said.contains(file) && said.contains("findings"), "{said}");
                assert!(std::fs::read_to_string(bpc.directory().join("page.html")).unwrap().contains(file));
            }
            std::fs::write(&path, sound).unwrap();
        }
        std::fs::rename(directory.join(segment), directory.join("elsewhere")).unwrap();
        let told = bpc.run(["verify", "--archive", "archive", "--json"]).expect_code(1).json();
        assert_eq!(told["findings"][0]["code"], "SEGMENT_UNREADABLE");
        assert!(bpc.run(["prove", "job", &job, "--archive", "archive", "--json"]).expect_code(1).stderr.contains("SEGMENT_UNREADABLE"));
        std::fs::rename(directory.join("elsewhere"), directory.join(segment)).unwrap();
        bpc.run(["verify", "--archive", "archive"]).expect_success();
    }

    async fn an_auditor_without_this_program_comes_to_the_same_end(db) {
        let (bpc, _) = sealed(&db);
        file(&bpc, "kept.txt", bpc.run(["checkpoint"]).expect_success().stdout);
        bpc.run(["archive", "--to", "archive"]).expect_success();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/audit.py");
        let (key, directory) = (vkey(&bpc), bpc.directory().to_owned());
        let audit = || {
            let mut python = std::process::Command::new("python3");
            python.current_dir(&directory).arg("-B").arg(script);
            python.args(["archive", "--key", &key, "--checkpoint", "kept.txt", "--blobs"]);
            python.output().unwrap()
        };
        let output = audit();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, "{\"sound\": true, \"events\": 5, \"streams\": 3, \"up_to_position\": 5}\n");
        assert_eq!(output.status.code(), Some(0));
        std::fs::remove_file(directory.join("archive/tile/0/000.p/5")).unwrap();
        assert_eq!(audit().status.code(), Some(1));
        bpc.run(["verify", "--archive", "archive"]).expect_code(1);
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

    async fn an_empty_log_and_one_with_a_single_event_are_told_of_plainly(db) {
        let bpc = crate::harness::initialised(&db);
        let told = bpc.run(["verify", "--json", "--blobs", "--projections", "--report", "page.html"]).expect_success().json();
        assert_eq!((&told["held"], &told["up_to_position"]), (&"L0".into(), &0.into()), "{told}");
        assert!(told["events"].as_u64() <= Some(2), "only its tenant and its key: {told}");
        let page = std::fs::read_to_string(bpc.directory().join("page.html")).unwrap();
        assert!(page.contains("nothing is signed yet"), "{page}");
        let said = bpc.run(["verify"]).expect_success().stdout;
        assert!(said.contains("nothing is signed yet"), "{said}");
        let refused = bpc.run(["archive", "--to", "archive", "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "NOTHING_SEALED");
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
