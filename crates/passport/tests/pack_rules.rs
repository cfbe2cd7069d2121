//! Rule packages through the engine: added, tested by a job, published; on both databases.

mod house;

use bpc_passport::pack::{
    RuleStatus, RunRuleTests, add_rules, explain_rule, publish_rules, rule_version, test_rules,
};
use bpc_passport::rules::Sources;
use bpc_testkit::on_both_databases;
use bpc_worker::Status;
use house::desk::{RULES, pack, settings};
use house::{ACTOR, House, Twice};

fn sources(text: &str) -> Sources {
    Sources::single("small.rules", text)
}

on_both_databases! {
    async fn a_package_is_tested_by_a_job_with_any_seed_and_published(db) {
        let mut registry = pack(&settings(3));
        registry.replace_job(Twice(RunRuleTests::default()));
        let house = House::with(&db, registry).await;
        let (engine, store, tenant) = (&house.engine, &house.engine.store, house.tenant);
        let added = add_rules(engine, tenant, ACTOR, &sources(RULES), 1).await.expect("added");
        let again = add_rules(engine, tenant, ACTOR, &sources(RULES), 1).await.expect("added");
        assert!(added.created && !again.created && added.id == again.id);
        let second = test_rules(engine, tenant, ACTOR, added.id, -2).await.expect("ordered");
        // Both runs want the next place in the version's stream: one of them is tried again.
        house.work().await;
        house.engine.store.clock.advance(std::time::Duration::from_secs(100));
        house.work().await;
        let version = rule_version(store, tenant, added.id).await.expect("a version");
        assert_eq!(version.status, RuleStatus::Validated, "{:?}", version.runs);
        let mut seeds: Vec<&str> = version.runs.iter().map(|run| run.seed.as_str()).collect();
        seeds.sort_unstable();
        assert_eq!(seeds, ["-2", "1"]);
        assert!(version.runs.iter().all(|run| run.passed && run.distinct >= 500 && run.failed == 0));
        assert_eq!(house.history(second).await.job.status(), Status::Succeeded);
        publish_rules(engine, tenant, ACTOR, added.id).await.expect("published");
        publish_rules(engine, tenant, ACTOR, added.id).await.expect("published already");
        let late = test_rules(engine, tenant, ACTOR, added.id, 3).await.expect("ordered");
        house.work().await;
        assert_eq!(house.error_code(late).await, "VALIDATION_ERROR");
        house.assert_sound().await;
    }

    async fn a_package_with_one_wrong_constant_is_refused_by_the_gate(db) {
        let house = House::with(&db, pack(&settings(3))).await;
        let (engine, store, tenant) = (&house.engine, &house.engine.store, house.tenant);
        let wrong = RULES.replacen("ev => 10;", "ev => 11;", 1);
        let added = add_rules(engine, tenant, ACTOR, &sources(&wrong), 1).await.expect("added");
        house.work().await;
        let version = rule_version(store, tenant, added.id).await.expect("a version");
        assert_eq!(version.status, RuleStatus::Draft);
        let run = version.runs.last().expect("a run");
        assert!(!run.passed && run.failed > 0 && !run.missing.is_empty(), "{run:?}");
        let report = bpc_passport::pack::stored_bytes(store, run.report).await.expect("a report");
        let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["suspects"][0]["spot"]["line"], 5, "{}", report["suspects"]);
        let refused = publish_rules(engine, tenant, ACTOR, added.id).await.expect_err("refused");
        assert_eq!(refused.code(), "RULE_TESTS_FAILED");
        house.assert_sound().await;
    }

    async fn text_with_errors_is_refused_with_its_source(db) {
        let house = House::with(&db, pack(&settings(3))).await;
        let (engine, tenant) = (&house.engine, house.tenant);
        for (from, to, code) in [
            ("check b.mass >=", "check b.mass >=>", "RULE_PARSE_ERROR"),
            ("b.mass >= least(b.category)", "b.mass >= 3 V", "UNIT_MISMATCH"),
        ] {
            let text = RULES.replacen(from, to, 1);
            let refused = add_rules(engine, tenant, ACTOR, &sources(&text), 1).await.expect_err("refused");
            assert_eq!(refused.code(), code, "{refused}");
            assert!(refused.to_string().contains("small.rules:"), "{refused}");
        }
        let added = add_rules(engine, tenant, ACTOR, &sources(RULES), 1).await.expect("added");
        let rule = explain_rule(&engine.store, tenant, added.id, "VOLT.ORDER").await.expect("a rule");
        assert!(rule.text.starts_with("rule VOLT.ORDER"), "{}", rule.text);
        let unknown = explain_rule(&engine.store, tenant, added.id, "NO.SUCH").await.expect_err("unknown");
        assert_eq!(unknown.code(), "VALIDATION_ERROR");
    }
}
