//! The way from a file to a passport in force, and what can be asked about it then.

use bpc_testkit::{DatabaseKind, on_both_databases};

use crate::harness::{assert_sound, text};
use crate::log::Log;

use super::{desk, passport, rules, snapshot, told, version};

on_both_databases! {
    async fn a_document_becomes_a_passport_in_force(db) {
        let bpc = desk(&db);
        let (snapshot, rules, passport) = (snapshot(&bpc), rules(&bpc), passport(&bpc));
        let facts = bpc.run(["facts", "list", "--type", "Battery", "--json"]).expect_success().json_lines();
        assert_eq!(facts.len(), 1, "{facts:?}");
        let first = version(&bpc, &passport, &snapshot, &rules, "2027-02-18");
        told(&bpc, &["passport", "activate", &first]);
        let second = version(&bpc, &passport, &snapshot, &rules, "2027-03-01");
        let shown = told(&bpc, &["passport", "show", &second]);
        assert_eq!(text(&shown, "status"), "SIGNED");
        let verdicts = shown["rules"].as_array().expect("rules");
        assert!(verdicts.iter().any(|it| it["rule"] == "VOLT.ORDER" && it["verdict"] == "PASS"), "{shown}");
        assert_eq!(told(&bpc, &["passport", "activate", &second])["superseded"], first.as_str());

        // One value back to the bytes of its document.
        let why = told(&bpc, &["passport", "show", &second, "--why", "/battery/mass"]);
        let fact = &why["facts"][0];
        assert_eq!(fact["type"], "Battery");
        let hash = text(fact, "document_sha256");
        let bytes = std::fs::read(super::EV).expect("the sample");
        let place = text(&fact["from"], "mass");
        let document: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert!(document.pointer(&place).is_some(), "{place} is in the document");
        let sum = std::process::Command::new("sha256sum").arg(super::EV).output().expect("sha256sum");
        assert!(String::from_utf8_lossy(&sum.stdout).starts_with(&hash), "{hash}");
        let why = told(&bpc, &["passport", "show", &second, "--why", "VOLT.ORDER"]);
        assert_eq!(why["value"], "PASS");

        let replayed = told(&bpc, &["passport", "replay", &first]);
        assert_eq!(replayed["signed"], true);
        let before = bpc.run(["passport", "what-if", &first, "--as-of", "2027-03-01", "--json"]);
        let lines = before.expect_success().json_lines();
        assert!(lines.iter().any(|it| it["pointer"] == "/battery/mass"), "{lines:?}");
        let bundle = bpc.run(["passport", "disclose", &second, "--role", "public"]).expect_success().stdout;
        assert!(bundle.starts_with("{\"") && bundle.contains("BPC-DISCLOSURE-1"), "{bundle}");

        told(&bpc, &["passport", "revoke", &second, "--reason", "wrong cells"]);
        assert_eq!(text(&told(&bpc, &["passport", "show", &second]), "status"), "REVOKED");
        let verified = told(&bpc, &["verify", "--passports"]);
        assert_eq!((&verified["passports"]["passport_versions"], &verified["passports"]["signed"]), (&2.into(), &2.into()));
        assert_eq!(verified["passports"]["findings_total"], 0);
        assert_sound(&bpc);
    }

    async fn codes_are_written_as_pictures(db) {
        let bpc = desk(&db);
        let (snapshot, rules, passport) = (snapshot(&bpc), rules(&bpc), passport(&bpc));
        let id = version(&bpc, &passport, &snapshot, &rules, "2027-03-01");
        let files = bpc.run(["passport", "qr", &id, "--directory", "codes", "--json"]).expect_success();
        assert_eq!(files.json_lines().len(), 2);
        let shown = told(&bpc, &["passport", "show", &id]);
        for (name, said) in [("proof", &shown["qr"]["text"]), ("link", &shown["qr"]["link"])] {
            let picture = bpc.directory().join(format!("codes/{id}-{name}.png"));
            crate::demo::assert_scans(&picture, said.as_str().expect("a text"));
        }
    }

    /// Documents, facts, sealed facts, files of rules, reports, payload, proof, receipt, credential, codes: all bytes
    /// that a passport rests on are named by an event, and missed when they are gone.
    async fn every_byte_that_events_speak_of_is_looked_for(db) {
        let bpc = desk(&db);
        let (snapshot, rules, passport) = (snapshot(&bpc), rules(&bpc), passport(&bpc));
        let id = version(&bpc, &passport, &snapshot, &rules, "2027-03-01");
        bpc.run(["seal", "--once"]).expect_success();
        bpc.run(["archive", "--to", "archive"]).expect_success();
        let whole = told(&bpc, &["verify", "--blobs"]);
        // Three documents, three lists of facts, two of the snapshot, two of the rules, seven of the passport.
        assert_eq!((&whole["blobs"]["named"], &whole["blobs"]["findings_total"]), (&17.into(), &0.into()), "{whole}");

        let audit = || {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/audit.py");
            let mut python = std::process::Command::new("python3");
            python.current_dir(bpc.directory()).arg("-B").arg(script).args(["archive", "--blobs"]);
            python.output().expect("python3")
        };
        let output = audit();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let payload = text(&told(&bpc, &["passport", "show", &id]), "payload_hash");
        let file = bpc.directory().join(format!("archive/blobs/{}/{payload}", &payload[..2]));
        std::fs::remove_file(&file).expect("the payload as a file");
        let output = audit();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(1) && said.contains("BLOB_MISSING") && said.contains(&payload), "{said}");
        let found = bpc.run(["verify", "--archive", "archive", "--blobs", "--json"]).expect_code(1).json();
        let findings = found["findings"].as_array().expect("findings");
        assert!(findings.iter().any(|it| it["code"] == "BLOB_MISSING"), "{found}");

        Log::open(&db).await.execute("DELETE FROM blobs").await;
        let found = bpc.run(["verify", "--blobs", "--json"]).expect_code(1).json();
        let findings = found["blobs"]["findings"].as_array().expect("findings");
        assert!(findings.len() == 17 && findings.iter().all(|it| it["code"] == "BLOB_MISSING"), "{found}");
    }

    async fn a_version_whose_bytes_were_changed_is_found(db) {
        let bpc = desk(&db);
        let (snapshot, rules, passport) = (snapshot(&bpc), rules(&bpc), passport(&bpc));
        let id = version(&bpc, &passport, &snapshot, &rules, "2027-03-01");
        let payload = text(&told(&bpc, &["passport", "show", &id]), "payload_hash");
        let edit = match db.kind() {
            DatabaseKind::Postgres => format!("UPDATE blobs SET bytes = '\\x7b7d' WHERE sha256 = '\\x{payload}'"),
            DatabaseKind::Sqlite => format!("UPDATE blobs SET bytes = x'7b7d' WHERE sha256 = x'{payload}'"),
        };
        assert_eq!(Log::open(&db).await.execute(&edit).await, 1);
        let found = bpc.run(["verify", "--passports", "--json"]).expect_code(1).json();
        assert_eq!(found["passports"]["findings"][0]["passport_version_id"], id.as_str(), "{found}");
        assert_eq!(found["passports"]["findings"][0]["code"], "DATA_DAMAGED", "{found}");
    }
}
