//! `bpc seal`, `bpc checkpoint`, `bpc keys`.

use bpc_testkit::process::Signal;
use bpc_testkit::{eventually, on_both_databases};

use crate::harness::{PATIENCE, assert_sound, enqueue, error, initialised, text};
use crate::log::Log;

use super::common::{check, file, sealed, vkey};

on_both_databases! {
    async fn sealing_once_covers_everything_and_is_safe_to_repeat(db) {
        let bpc = initialised(&db);
        enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        let first = bpc.run(["seal", "--once", "--json"]).expect_success().json();
        // The log's key, the default tenant, the job.
        assert_eq!((&first["events"], &first["size"], &first["unsealed"]), (&3.into(), &3.into(), &0.into()), "{first}");
        assert_eq!(first["checkpoint"]["size"], 3, "{first}");
        let again = bpc.run(["seal", "--once", "--json"]).expect_success().json();
        assert_eq!((&again["events"], &again["root"]), (&0.into(), &first["root"]), "{again}");
        assert_sound(&bpc);
    }

    /// Three processes seal at once and are killed: at once, when something was sealed, when something was signed.
    /// What was signed before is always the beginning of what is there.
    async fn sealers_killed_together_at_any_moment_leave_one_sound_log_that_goes_on(db) {
        let (bpc, _) = sealed(&db);
        let log = Log::open(&db).await;
        let mut kept = Vec::new();
        for round in 0..9 {
            let name = format!("kept-{round}.txt");
            file(&bpc, &name, bpc.run(["checkpoint"]).expect_success().stdout);
            kept.extend(["--checkpoint".to_owned(), name]);
            let watched = ["SELECT size FROM log_state", "SELECT max(size) FROM checkpoints"];
            let watched = watched.get(round % 3);
            let before = match watched {
                Some(sql) => log.number(sql).await,
                None => 0,
            };
            bpc.run(["enqueue", "DRILL_NOOP", "--count", "700"]).expect_success();
            let mut sealers: Vec<_> = (0..3).map(|_| bpc.spawn(["seal", "--once"])).collect();
            if let Some(sql) = watched {
                eventually(PATIENCE, || async { log.number(sql).await > before }).await;
            }
            sealers.iter_mut().for_each(|sealer| sealer.signal(Signal::Kill));
            sealers.iter_mut().for_each(|sealer| drop(sealer.wait(PATIENCE)));
            assert_sound(&bpc);
            let together: Vec<_> = (0..2).map(|_| bpc.spawn(["seal", "--once", "--json"])).collect();
            let ends: Vec<_> = together.into_iter().map(|mut it| it.wait(PATIENCE).expect_success().json()).collect();
            assert_eq!(ends[0]["root"], ends[1]["root"], "{ends:?}");
        }
        let verify = ["verify".to_owned(), "--json".to_owned()];
        let told = bpc.run(verify.into_iter().chain(kept)).expect_success().json();
        assert_eq!((&told["held"], &told["unsealed"]), (&"L2".into(), &0.into()), "{told}");
        assert_eq!(told["up_to_position"], 5 + 9 * 700);
    }

    async fn sealing_takes_the_key_of_the_log(db) {
        let (bpc, _) = sealed(&db);
        let key = match db.path() {
            Some(path) => path.with_extension("db.key"),
            None => bpc.directory().join("bpc-log.key"),
        };
        let right = std::fs::read_to_string(&key).unwrap();
        std::fs::remove_file(&key).unwrap();
        assert_eq!(error(&bpc.run(["seal", "--once", "--json"]).expect_code(2)).0, "KEY_FILE_MISSING");
        std::fs::write(&key, format!("bpc-log-key-ed25519:{}\n", "07".repeat(32))).unwrap();
        assert_eq!(error(&bpc.run(["seal", "--once", "--json"]).expect_code(1)).0, "LOG_KEY_UNKNOWN");
        std::fs::write(&key, right).unwrap();
        bpc.run(["seal", "--once"]).expect_success();
    }

    async fn a_checkpoint_can_be_kept_and_the_log_shown_to_continue_it(db) {
        let (bpc, _) = sealed(&db);
        let key = vkey(&bpc);
        let note = bpc.run(["checkpoint"]).expect_success().stdout;
        let kept = file(&bpc, "kept.txt", &note);
        let told = bpc.run(["checkpoint", "--json"]).expect_success().json();
        assert_eq!(text(&told, "note"), note);
        assert_eq!(note.lines().nth(1), Some(told["size"].to_string().as_str()));

        bpc.run(["enqueue", "DRILL_NOOP", "--count", "300"]).expect_success();
        bpc.run(["seal", "--once"]).expect_success();
        let document = bpc.run(["checkpoint", "--since", "kept.txt"]).expect_success().stdout;
        assert!(document.starts_with(&format!("old {}\n", told["size"])), "{document}");
        let document = file(&bpc, "since.txt", document);

        let (document, kept) = (document.to_str().unwrap(), kept.to_str().unwrap());
        let held = check(&[document, "--since", kept, "--key", &key]).expect_success().json();
        assert_eq!((&held["holds"], &held["kind"]), (&true.into(), &"consistency".into()));
        assert_eq!(held["newer"]["size"].as_u64(), told["size"].as_u64().map(|size| size + 300), "{held}");
        // A checkpoint alone says who signed and when; without the kept one a continuation says nothing.
        let alone = check(&[kept, "--key", &key]).expect_success().json();
        assert_eq!((&alone["kind"], &alone["checkpoint"]["size"]), (&"checkpoint".into(), &told["size"]));
        assert!(alone["signed_at"].is_string(), "{alone}");
        assert_eq!(error(&check(&[document, "--key", &key]).expect_code(2)).0, "USAGE");
    }

    async fn a_checkpoint_of_another_history_is_refused(db) {
        let (bpc, _) = sealed(&db);
        let newest = bpc.run(["checkpoint"]).expect_success().stdout;
        let forged = newest.replacen("\n", "\n9", 1);
        file(&bpc, "forged.txt", forged);
        let refused = bpc.run(["checkpoint", "--since", "forged.txt", "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "NOTE_SIGNATURE_INVALID");
        let missing = bpc.run(["checkpoint", "--since", "nowhere.txt", "--json"]).expect_code(2);
        assert_eq!(error(&missing).0, "FILE_UNREADABLE");
        let refused = bpc.run(["checkpoint", "--since", "../work", "--json"]).expect_code(2);
        assert_eq!(error(&refused).0, "FILE_UNREADABLE", "a directory is no checkpoint");
    }

    async fn nothing_is_handed_out_before_anything_is_signed(db) {
        let bpc = initialised(&db);
        let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        for command in [&["checkpoint", "--json"][..], &["prove", "job", &job, "--json"]] {
            assert_eq!(error(&bpc.run(command).expect_code(1)).0, "CHECKPOINT_MISSING", "{command:?}");
        }
    }

    async fn keys_are_listed_with_what_others_check_with(db) {
        let (bpc, _) = sealed(&db);
        let keys = bpc.run(["keys", "list", "--json"]).expect_success().json_lines();
        assert_eq!(keys.len(), 1, "{keys:?}");
        assert_eq!((&keys[0]["standing"], &keys[0]["in_use"]), (&"first".into(), &true.into()));
        let init = bpc.run(["init", "--json"]).expect_success().json();
        assert_eq!(keys[0]["public_key"], init["log_key"]["public_key"]);
        assert!(bpc.run(["keys", "list"]).expect_success().stdout.contains(&vkey(&bpc)));
    }
}
