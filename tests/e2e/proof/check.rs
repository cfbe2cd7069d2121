//! `bpc prove` and `bpc check`.

use bpc_testkit::on_both_databases;

use crate::harness::{enqueue, error, show, text};
use crate::log::Log;

use super::common::{check, file, sealed, vkey};

on_both_databases! {
    async fn a_proof_of_a_job_holds_elsewhere_and_says_what_it_shows(db) {
        let (bpc, job) = sealed(&db);
        let key = vkey(&bpc);
        let told = bpc.run(["prove", "job", &job, "-o", "job.proof", "--json"]).expect_success().json();
        assert_eq!((&told["uncovered"], &told["last_version"]), (&0.into(), &3.into()), "{told}");
        let proof = bpc.directory().join("job.proof");
        let held = check(&[proof.to_str().unwrap(), "--key", &key]).expect_success().json();
        assert_eq!((&held["holds"], &held["subject"]), (&true.into(), &"job".into()));
        assert_eq!((text(&held, "stream_id"), text(&held, "status")), (job.clone(), "SUCCEEDED".to_owned()));
        let events = show(&bpc, &job)["events"].clone();
        assert_eq!(held["receipt"], events[0]["event_hash"], "the receipt that enqueue gave");
        assert_eq!(held["last_hash"], events[2]["event_hash"]);
        assert!(held["signed_at"].is_string() && held["unchecked"] == serde_json::json!([]), "{held}");
        assert!(!held["proves"].as_array().unwrap().is_empty());
        assert!(!held["does_not_prove"].as_array().unwrap().is_empty());
        // For people: both halves, always.
        let told = bpc.run(["check", "job.proof", "--key", &key]).expect_success().stdout;
        for part in ["holds", "This shows:", "It does not show:", "hash of version 1"] {
            assert!(told.contains(part), "{part} in:\n{told}");
        }
        // Printed, it is the same file.
        let printed = bpc.run(["prove", "job", &job]).expect_success().stdout;
        assert_eq!(printed, std::fs::read_to_string(&proof).unwrap());
    }

    async fn an_archive_alone_makes_the_same_proofs(db) {
        let (bpc, job) = sealed(&db);
        bpc.run(["archive", "--to", "archive"]).expect_success();
        let nowhere = ["--archive", "archive", "--database", "sqlite://there/is/no/such.db"];
        let of = |command: &[&str]| bpc.run(command).expect_success().stdout;
        let keys = "30eacfdf-0f8d-8fd4-ab1e-613be940b51e";
        for command in [&["prove", "job", &job][..], &["prove", "event", &job, "2"], &["prove", "event", keys, "1"]] {
            let from_archive = of(&[command, &nowhere].concat());
            assert_eq!(from_archive, of(command));
            let proof = file(&bpc, "a.proof", from_archive);
            check(&[proof.to_str().unwrap(), "--key", &vkey(&bpc)]).expect_success();
        }
        let absent = "00000000-0000-7000-8000-000000000000";
        for command in [&["prove", "job", absent][..], &["prove", "event", &job, "9"]] {
            let refused = bpc.run([command, &nowhere, &["--json"]].concat()).expect_code(1);
            assert_eq!(error(&refused).0, "EVENT_NOT_FOUND");
        }
        // Another tenant's is nothing to be shown to this one.
        let refused = bpc.run([&["prove", "job", &job, "--tenant", "other", "--json"], &nowhere[..]].concat());
        assert_eq!(error(&refused.expect_code(1)).0, "EVENT_NOT_FOUND");
    }

    async fn a_changed_proof_or_another_key_does_not_hold(db) {
        let (bpc, job) = sealed(&db);
        let key = vkey(&bpc);
        let proof = bpc.run(["prove", "job", &job]).expect_success().stdout;
        let other = "bpc.example/log+da5eb70c+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
        let genuine = file(&bpc, "job.proof", &proof);
        let refused = check(&[genuine.to_str().unwrap(), "--key", other]).expect_code(1);
        assert_eq!(error(&refused).0, "NOTE_NOT_SIGNED");
        let changes = [
            (proof.replace("\\\"attempt\\\":1", "\\\"attempt\\\":2"), "PROOF_NOT_INCLUDED"),
            (proof.replacen("{", "{ ", 1), "PROOF_NOT_CANONICAL"),
            (proof.replace("BPC-PROOF-1", "BPC-PROOF-2"), "PROOF_FORMAT_UNKNOWN"),
            ("{}".to_owned(), "PROOF_MALFORMED"),
            ("hello\n".to_owned(), "NOTE_MALFORMED"),
        ];
        for (changed, code) in changes {
            assert_ne!(changed, proof);
            let changed = file(&bpc, "changed.proof", changed);
            let refused = check(&[changed.to_str().unwrap(), "--key", &key]).expect_code(1);
            assert_eq!(error(&refused).0, code);
        }
        // What cannot be checked is another matter than what does not hold.
        assert_eq!(error(&check(&["nowhere.proof", "--key", &key]).expect_code(2)).0, "FILE_UNREADABLE");
        let mistyped = check(&[genuine.to_str().unwrap(), "--key", &key.replace('A', "B")]).expect_code(2);
        assert_eq!(error(&mistyped).0, "USAGE");
    }

    async fn one_event_of_any_stream_can_be_proved(db) {
        let (bpc, job) = sealed(&db);
        let key = vkey(&bpc);
        let log_stream = "30eacfdf-0f8d-8fd4-ab1e-613be940b51e";
        for (stream, version) in [(job.as_str(), "1"), (&job, "2"), (log_stream, "1")] {
            let proof = bpc.run(["prove", "event", stream, version]).expect_success().stdout;
            let proof = file(&bpc, "event.proof", proof);
            let held = check(&[proof.to_str().unwrap(), "--key", &key]).expect_success().json();
            assert_eq!((text(&held, "stream_id").as_str(), held["subject"].as_str()), (stream, Some("event")));
            assert_eq!(held["last_version"].to_string(), version);
        }
        let missing = bpc.run(["prove", "event", &job, "4", "--json"]).expect_code(1);
        assert_eq!(error(&missing).0, "EVENT_NOT_FOUND");
        let nobody = bpc.run(["prove", "job", log_stream, "--json"]).expect_code(1);
        assert_eq!(error(&nobody).0, "JOB_NOT_FOUND");
    }

    async fn what_is_not_sealed_is_not_proved_and_that_is_said(db) {
        let (bpc, _) = sealed(&db);
        let key = vkey(&bpc);
        let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        let early = bpc.run(["prove", "job", &job, "--json"]).expect_code(1);
        assert_eq!(error(&early).0, "EVENT_NOT_SEALED");
        bpc.run(["seal", "--once"]).expect_success();
        bpc.run(["jobs", "cancel", &job]).expect_success();
        let partly = bpc.run(["prove", "job", &job, "-o", "partly.proof"]).expect_success();
        assert!(partly.stderr.contains("last 1 events"), "{}", partly.stderr);
        let proof = bpc.directory().join("partly.proof");
        let held = check(&[proof.to_str().unwrap(), "--key", &key]).expect_success().json();
        assert_eq!(text(&held, "status"), "QUEUED", "as of the last event in the file");
    }

    async fn a_tenants_job_is_not_proved_for_another(db) {
        let (bpc, job) = sealed(&db);
        bpc.run(["tenant", "add", "acme"]).expect_success();
        let refused = bpc.run(["prove", "job", &job, "--tenant", "acme", "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "JOB_NOT_FOUND");
    }

    async fn a_damaged_log_hands_out_no_proof(db) {
        let (bpc, job) = sealed(&db);
        let log = Log::open(&db).await;
        log.lift_guard().await;
        let text = String::from_utf8(log.bytes(&job, 2).await).unwrap();
        log.set_bytes(&job, 2, text.replace("\"attempt\":1", "\"attempt\":2").into_bytes()).await;
        let refused = bpc.run(["prove", "job", &job, "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "PROOF_NOT_INCLUDED");
        assert_eq!(refused.stdout, "");
    }
}
