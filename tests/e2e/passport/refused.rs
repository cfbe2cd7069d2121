//! What the passport commands refuse, with code and exit.

use bpc_testkit::on_both_databases;

use crate::harness::error;

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
            (vec!["webhook", "subscribe", NOBODY, "--event", "*"], "WEBHOOK_ENDPOINT_NOT_FOUND"),
        ] {
            let refused = bpc.run([&words[..], &["--json"]].concat()).expect_code(1);
            assert_eq!(error(&refused).0, code, "{words:?}");
        }
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
        // Facts of the sample, and no rules to judge them by.
        let documents = documents(&bpc);
        let listed = bpc.run(["document", "list", "--json"]).expect_success().json_lines();
        assert_eq!(listed.len(), documents.len());
    }
}
