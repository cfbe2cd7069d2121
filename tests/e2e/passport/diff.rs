//! What other rules would change.

use bpc_testkit::on_both_databases;

use crate::harness::error;

use super::{RULES, SKU, desk, draft, passport, rules, snapshot, version};

on_both_databases! {
    /// A heavier least mass, a rule that is gone and one that is new; the sample weighs 450 kg.
    async fn changed_rules_are_listed_with_the_passports_they_change(db) {
        let bpc = desk(&db);
        let (snapshot, rules, passport) = (snapshot(&bpc), rules(&bpc), passport(&bpc));
        let id = version(&bpc, &passport, &snapshot, &rules, "2027-03-01");
        let other = RULES
            .replace("version 1.0.0", "version 1.1.0")
            .replace("  ev => 10;", "  ev => 500;")
            .replace("VOLT.ORDER", "VOLT.SORTED")
            .replace("cite \"Art. 1\"", "cite \"Art. 2\"");
        let other = draft(&bpc, "other", &other);

        let lines = bpc.run(["rules", "diff", &rules, &other, "--json"]).expect_success().json_lines();
        let item = |kind: &str, name: &str| {
            lines.iter().find(|it| it["kind"] == kind && it["name"] == name).unwrap_or_else(|| panic!("{name} in {lines:?}"))
        };
        assert_eq!(item("rule", "VOLT.ORDER")["change"], "removed");
        assert_eq!(item("rule", "VOLT.SORTED")["change"], "added");
        assert_eq!(item("rule", "MASS.LEAST")["change"], "changed");
        let rows = item("table", "least")["details"].to_string();
        assert!(rows.contains("10") && rows.contains("500"), "{rows}");
        let verdict = |rule: &str| {
            let it = lines.iter().find(|it| it["rule"] == rule && it["passport_version_id"] == id.as_str());
            it.map(|it| (it["a"].clone(), it["b"].clone())).unwrap_or_else(|| panic!("{rule} in {lines:?}"))
        };
        assert_eq!(verdict("MASS.LEAST"), ("PASS".into(), "FAIL E_LIGHT".into()));
        assert_eq!(verdict("VOLT.ORDER"), ("PASS".into(), serde_json::Value::Null));

        let said = bpc.run(["rules", "diff", &rules, &other]).expect_success().stdout;
        for part in ["only in A", "only in B", "MASS.LEAST", "FAIL E_LIGHT", SKU, "of 1 passport versions 1 change verdict"] {
            assert!(said.contains(part), "{part} in:\n{said}");
        }
        let said = bpc.run(["rules", "diff", &rules, &rules]).expect_success().stdout;
        assert_eq!(said, "0 items differ, 0 rules among them or using them; of 1 passport versions 0 change verdict, 0 show something else\n");
        let nobody = "00000000-0000-8000-8000-000000000001";
        let refused = bpc.run(["rules", "diff", &rules, nobody, "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "RULE_PKG_NOT_FOUND");
    }

    /// A rule that reads as before, over a table that does not.
    async fn a_rule_is_affected_by_what_it_uses(db) {
        let bpc = desk(&db);
        let before = draft(&bpc, "small", RULES);
        let after = draft(&bpc, "other", &RULES.replace("  ev => 10;", "  ev => 11;"));
        let lines = bpc.run(["rules", "diff", &before, &after, "--json"]).expect_success().json_lines();
        assert!(lines.iter().any(|it| it["name"] == "MASS.LEAST" && it["change"] == "affected"), "{lines:?}");
        assert!(lines.iter().all(|it| it["name"] != "VOLT.ORDER"), "{lines:?}");
    }
}
