//! What the passport commands refuse, with code and exit.

use bpc_testkit::on_both_databases;

use crate::harness::{error, text};

use super::{desk, documents, told};

const NOBODY: &str = "00000000-0000-8000-8000-000000000001";

on_both_databases! {
    async fn unknown_things_are_refused_by_name(db) {
        let bpc = desk(&db);
        for (words, code) in [
            (vec!["document", "show", NOBODY], "DOCUMENT_NOT_FOUND"),
            (vec!["snapshot", "show", NOBODY], "SNAPSHOT_NOT_FOUND"),
            (vec!["snapshot", "seal", NOBODY], "SNAPSHOT_NOT_FOUND"),
            (vec!["rules", "show", NOBODY], "RULE_PKG_NOT_FOUND"),
            (vec!["rules", "publish", NOBODY], "RULE_PKG_NOT_FOUND"),
            (vec!["passport", "create", "--product", "NO-SUCH"], "PRODUCT_NOT_FOUND"),
            (vec!["passport", "show", NOBODY], "PASSPORT_VERSION_NOT_FOUND"),
            (vec!["passport", "activate", NOBODY], "PASSPORT_VERSION_NOT_FOUND"),
            (vec!["passport", "replay", NOBODY], "PASSPORT_VERSION_NOT_FOUND"),
            (vec!["facts", "list", "--document", NOBODY], "DOCUMENT_NOT_FOUND"),
            (vec!["facts", "show", "battery:NOBODY"], "FACT_NOT_FOUND"),
            (vec!["passport", "disclose", NOBODY, "--role", "public"], "PASSPORT_VERSION_NOT_FOUND"),
            (vec!["webhook", "subscribe", NOBODY, "--event", "*"], "WEBHOOK_ENDPOINT_NOT_FOUND"),
        ] {
            let refused = bpc.run([&words[..], &["--json"]].concat()).expect_code(1);
            assert_eq!(error(&refused).0, code, "{words:?}");
        }
    }

    async fn what_cannot_be_taken_in_is_refused_with_what_to_do(db) {
        let bpc = desk(&db);
        let file = |name: &str, length: u64| {
            let file = std::fs::File::create(bpc.directory().join(name)).expect("a file");
            file.set_len(length).expect("a length");
        };
        file("large.json", 16 * 1024 * 1024 + 1);
        file("empty.json", 0);
        for (words, exit, code, part) in [
            (vec!["document", "add", "large.json", "--kind", "bom"], 1, "DOCUMENT_TOO_LARGE", "16777216"),
            (vec!["document", "add", "empty.json", "--kind", "bom"], 1, "VALIDATION_ERROR", "empty"),
            (vec!["document", "add", "empty.json", "--kind", "bill"], 2, "USAGE", "due-diligence"),
            (vec!["rules", "add", "no-such-folder"], 2, "INPUT_UNREADABLE", "no-such-folder"),
            (vec!["facts", "list", "--type", "Bttery"], 2, "USAGE", "Battery"),
        ] {
            let refused = bpc.run([&words[..], &["--json"]].concat()).expect_code(exit);
            let (said, message) = error(&refused);
            assert!(said == code && message.contains(part), "{words:?}: {said} {message}");
        }
    }

    async fn a_step_too_early_is_refused_with_the_step_before_it(db) {
        let bpc = desk(&db);
        let document = text(&told(&bpc, &["document", "add", super::EV, "--kind", "bom"]), "document_id");
        let refusal = |words: &[&str]| error(&bpc.run([words, &["--json"]].concat()).expect_code(1));
        let (code, message) = refusal(&["snapshot", "create", "--document", &document]);
        assert!(code == "VALIDATION_ERROR" && message.contains("bpc worker"), "{message}");
        super::work(&bpc);
        let snapshot = text(&told(&bpc, &["snapshot", "create", "--document", &document]), "snapshot_id");
        let (code, message) = refusal(&["snapshot", "seal", &snapshot]);
        assert!(code == "SNAPSHOT_NOT_READY" && message.contains("bpc snapshot build"), "{message}");
        told(&bpc, &["snapshot", "build", &snapshot]);
        let rules = super::draft(&bpc, "small", super::RULES);
        let (code, message) = refusal(&["rules", "publish", &rules]);
        assert!(code == "RULE_TESTS_FAILED" && message.contains("bpc worker"), "{message}");
        let passport = super::passport(&bpc);
        super::work(&bpc);
        told(&bpc, &["snapshot", "seal", &snapshot]);
        let compile = ["passport", "compile", &passport, "--snapshot", &snapshot, "--rules", &rules];
        let (code, message) = refusal(&compile);
        assert!(code == "RULE_PKG_NOT_PUBLISHED" && message.contains("bpc rules publish"), "{message}");
        told(&bpc, &["rules", "publish", &rules]);
        assert!(told(&bpc, &compile)["job_id"].is_string());
    }

    async fn a_rejected_document_says_what_was_expected_where(db) {
        let bpc = desk(&db);
        std::fs::write(bpc.directory().join("bad.json"), r#"{"facts":[{"type":"Battery","key":"battery:X"}]}"#)
            .expect("written");
        let id = told(&bpc, &["document", "add", "bad.json", "--kind", "bom"])["document_id"].clone();
        super::work(&bpc);
        let shown = told(&bpc, &["document", "show", id.as_str().expect("an id")]);
        assert_eq!(shown["status"], "REJECTED");
        let problems = shown["problems"].as_array().expect("problems");
        for name in ["code", "pointer", "expected", "found"] {
            assert!(problems[0][name].is_string(), "{name} in {}", problems[0]);
        }
        let refused = bpc.run(["snapshot", "create", "--document", id.as_str().expect("an id"), "--json"]);
        assert_eq!(error(&refused.expect_code(1)).0, "DOCUMENT_REJECTED");
        let missing = bpc.run(["document", "add", "no-such.json", "--kind", "bom", "--json"]).expect_code(2);
        assert_eq!(error(&missing).0, "INPUT_UNREADABLE");
    }

    async fn rules_with_a_mistake_are_shown_with_their_source(db) {
        let bpc = desk(&db);
        let folder = bpc.directory().join("wrong");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("package.rules"), super::RULES.replace("b.v_min <= b.v_nom", "b.v_min <= b.mass"))
            .expect("written");
        let refused = bpc.run(["rules", "add", "wrong", "--json"]).expect_code(1);
        let (code, message) = error(&refused);
        assert_eq!(code, "UNIT_MISMATCH", "{message}");
        assert!(message.contains("package.rules:") && message.contains("b.v_min <= b.mass"), "{message}");
        let said = bpc.run(["rules", "add", "wrong"]).expect_code(1).stderr;
        assert_eq!(said.matches("UNIT_MISMATCH").count(), 1, "{said}");
        // Facts of the sample, and no rules to judge them by.
        let documents = documents(&bpc);
        let listed = bpc.run(["document", "list", "--json"]).expect_success().json_lines();
        assert_eq!(listed.len(), documents.len());
    }
}
