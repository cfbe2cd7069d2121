//! The shipped package: both versions, their tests, and what they say about real batteries.

#[path = "common/no_leaves.rs"]
mod no_leaves;

use bpc_passport::rules::diff::Change;
use bpc_passport::rules::shipped::{EU_2023_1542, eu_2023_1542};
use bpc_passport::rules::test::{Run, Scope, run, run_with};
use bpc_passport::rules::{
    Checked, Context, EmissionState, InEffect, Results, Sources, Verdict, check, diff, diff_outcomes,
    evaluate, explain, parse,
};

use no_leaves::NoLeaves;

fn checked_sources(sources: &Sources) -> Checked {
    let package = parse(sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(sources, false)));
    let checked = check(&package).unwrap_or_else(|wrong| panic!("{}", wrong.render(sources, false)));
    assert!(checked.warnings().0.is_empty(), "{}", checked.warnings().render(sources, false));
    checked
}

fn version(version: &str) -> Checked {
    checked_sources(&eu_2023_1542(version).expect("it comes with the program"))
}

fn results(checked: &Checked, fixture: &str, day: &str) -> Results {
    let (_, draft) = checked.tests().fixtures.iter().find(|(name, _)| name == fixture).expect("a fixture");
    let case = draft.case().expect("it is allowed");
    let context = Context::new(&case.product, day.parse().expect("a day"), "test", &NoLeaves);
    evaluate(checked, &case.facts, context).expect("it can be evaluated")
}

fn verdict(results: &Results, rule: &str) -> Verdict {
    results.rule(rule).expect("there is such a rule").outcome.verdict
}

/// Runs the tests of a version; with `BPC_TEST_LONG=1` both evaluators judge everything on every case.
fn gate(checked: &Checked, seed: i64) -> Run {
    let long = std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1");
    let run = run_with(checked, seed, if long { Scope::All } else { Scope::Own }, None);
    assert!(
        run.is_accepted(),
        "{:#?}",
        (
            &run.gate,
            &run.failures,
            &run.first_failure,
            &run.branches.missed,
            &run.verdicts.missed,
            &run.mutation.survivors
        )
    );
    assert!(run.kinds.generated >= 500 && run.distinct >= 500, "{:?} {}", run.kinds, run.distinct);
    run
}

#[test]
fn v2_passes_the_gate_with_two_seeds_and_other_cases() {
    let checked = version("v2.0");
    let (one, other) = (gate(&checked, 1), gate(&checked, 20_270_218));
    assert_ne!(one.inputs_hash, other.inputs_hash);
}

#[test]
fn v1_passes_the_gate() {
    gate(&version("v1.0"), 1);
}

#[test]
fn a_package_with_one_wrong_constant_is_refused_and_the_report_says_where() {
    let sources = eu_2023_1542("v2.0").expect("it comes with the program");
    let files = sources.files().iter().cloned().map(|mut file| {
        file.text = file.text.replace("cobalt, 1 => 16;", "cobalt, 1 => 61;");
        file
    });
    let run = run(&checked_sources(&Sources::new(files.collect())), 1);
    assert!(!run.is_accepted());
    assert!(run.failures.contains(&"minimal_shares#5".to_owned()), "{:?}", run.failures);
    let line = sources.files()[1]
        .text
        .lines()
        .position(|line| line.contains("cobalt, 1 => 16;"))
        .expect("it is there")
        + 1;
    let found = run
        .suspects
        .iter()
        .any(|suspect| (suspect.spot.file.as_str(), suspect.spot.line) == ("common/definitions.rules", line));
    assert!(found, "{:#?}", run.suspects);
}

#[test]
fn the_ev_sample_fails_the_sum_of_stages_and_the_other_passes_exactly() {
    let checked = version("v2.0");
    let ev = results(&checked, "ev", "2027-03-01");
    assert_eq!(verdict(&ev, "PCF.STAGE_SUM"), Verdict::Fail);
    assert_eq!(verdict(&results(&checked, "industrial", "2027-03-01"), "PCF.STAGE_SUM"), Verdict::Pass);
    assert_eq!(ev.blocking().count(), 0, "a should does not block");
}

#[test]
fn points_17_to_23_are_held_until_their_day() {
    let checked = version("v2.0");
    for fixture in ["ev", "industrial"] {
        let held = |day: &str| -> Vec<i64> {
            let results = results(&checked, fixture, day);
            let emissions = results.emissions.iter();
            let mut held: Vec<i64> = emissions
                .filter(|emission| matches!(emission.state, EmissionState::Held { .. }))
                .map(|emission| emission.dp)
                .collect();
            held.sort();
            held
        };
        assert_eq!(held("2027-02-18"), [17, 18, 19, 20, 21, 22, 23], "{fixture}");
        assert_eq!(held("2027-08-18"), [17, 18, 20, 21, 22, 23], "{fixture}");
        assert_eq!(held("2028-08-18"), [17, 18], "{fixture}");
    }
}

#[test]
fn both_versions_hold_what_the_commission_published() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ec-guidance/ec-guidance-datapoints-v1.0.json");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path).expect("the table")).expect("JSON");
    for version_name in EU_2023_1542 {
        let checked = version(version_name);
        let table =
            checked.program().tables.iter().find(|table| table.name == "guidance").expect("the table");
        let cells = |dp: u64, category: usize| {
            let row = table.cells[(dp as usize - 1) * 5 + category] as usize;
            let bpc_passport::rules::program::Lit::Tag(tag) = table.rows[row].value else { panic!("a tag") };
            ["M", "C", "O", "x", "N"][usize::from(tag)]
        };
        let points = json["dataPoints"].as_array().expect("data points");
        assert_eq!(points.len(), 71);
        for point in points {
            let number = point["nr"].as_u64().expect("a number");
            for (index, category) in ["ev", "lmt", "industrial"].into_iter().enumerate() {
                let published = match point["applicability"][category]["status"].as_str().expect("a status") {
                    _ if *version_name == "v2.0" && (matches!(number, 17..=23) || number == 44) => "N",
                    "mandatory" => "M",
                    "conditional" => "C",
                    "optional" => "O",
                    "notToBeFilled" => "x",
                    "pending" => "N",
                    other => panic!("{other}"),
                };
                assert_eq!(cells(number, index), published, "{version_name} data point {number} {category}");
            }
        }
    }
}

#[test]
fn the_versions_differ_in_what_the_second_holds_back() {
    let (old, new) = (version("v1.0"), version("v2.0"));
    let found = diff(&old, &new);
    let changed = |kind: &str, name: &str| {
        found
            .items
            .iter()
            .find(|item| item.kind == kind && item.name == name && item.change == Change::Changed)
    };
    let rows = &changed("table", "guidance").expect("the table changed").details;
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows[0].starts_with("20, ev | lmt | industrial: M to N"), "{rows:?}");
    assert!(
        changed("emit", "/recycled/cobalt")
            .is_some_and(|item| item.details[0] == "from: nothing to 2028-08-18"),
        "{found:#?}"
    );
    assert!(changed("rule", "CONTENT.MANDATORY").is_some(), "its citation changed");
    assert!(changed("rule", "VOLT.ORDER").is_none());
    let (_, draft) = old.tests().fixtures.iter().find(|(name, _)| name == "ev").expect("a fixture");
    let mut draft = draft.clone();
    draft.facts.retain(|(fact, _), _| *fact != bpc_passport::facts::FactType::RecycledShare);
    let case = draft.case().expect("it is allowed");
    let context = Context::new(&case.product, case.as_of, "test", &NoLeaves);
    let outcomes = diff_outcomes(&old, &new, &case.facts, context).expect("both can be evaluated");
    assert_eq!(outcomes.verdicts.len(), 1, "{outcomes:#?}");
    let (rule, before, after) = &outcomes.verdicts[0];
    assert_eq!((rule.as_str(), after.as_deref()), ("CONTENT.MANDATORY", Some("PASS")));
    assert!(
        before.as_ref().is_some_and(|before| before.starts_with("FAIL E_MISSING missing /recycled/cobalt")),
        "{before:?}"
    );
    assert!(diff(&new, &new).items.is_empty());
}

#[test]
fn a_rule_can_be_explained() {
    let checked = version("v2.0");
    let explained = explain(&checked, "RECYCLED.MIN").expect("there is such a rule");
    assert!(explained.uses.contains(&"table min_share".to_owned()), "{explained:?}");
    assert!(explained.fields.contains(&"RecycledShare.recovered".to_owned()), "{explained:?}");
    assert_eq!(explained.place.file, "common/rules.rules");
    let text = explained.to_string();
    assert!(text.contains("Art. 8(2)-(3)") && text.contains("rule RECYCLED.MIN must"), "{text}");
    assert_eq!(explain(&checked, "NO.RULE"), None);
}

#[test]
fn versions_say_for_which_days_they_are_meant() {
    let day = |text: &str| text.parse().expect("a day");
    assert_eq!(version("v1.0").in_effect(day("2026-08-15")), InEffect::Until(day("2026-08-14")));
    assert_eq!(version("v2.0").in_effect(day("2026-08-14")), InEffect::From(day("2026-08-15")));
    assert_eq!(version("v2.0").in_effect(day("2027-02-18")), InEffect::Yes);
    assert_ne!(version("v1.0").rules_hash(), version("v2.0").rules_hash());
}

#[test]
fn the_same_results_on_one_and_on_many_threads() {
    let checked = version("v2.0");
    let alone: Vec<_> =
        results(&checked, "ev", "2027-03-01").rules.iter().map(|rule| rule.trace_hash).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let here: Vec<_> =
                    results(&checked, "ev", "2027-03-01").rules.iter().map(|rule| rule.trace_hash).collect();
                assert_eq!(here, alone);
            });
        }
    });
}
