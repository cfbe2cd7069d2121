//! What rules say: verdicts, missing values, faults, days, lists, cost, traces.

use bpc_core::Hash;
use bpc_passport::facts::Fact;
use bpc_passport::rules::eval::{NodeKind, Trace, TraceValue};
use bpc_passport::rules::{
    Checked, Context, EmissionState, EvalError, Leaves, Results, Sources, Verdict, check, evaluate, parse,
};
use sha2::{Digest, Sha256};

const HEADER: &str = r#"package test version 1.0.0 effective 2027-02-18;
datapoints 1..9;
fixture base {
  product "A"; as_of 2027-03-01;
  fact Battery "battery:A" { category: ev, chemistry: "Li-ion NMC", manufactured: 2027-01, mass: 100 kg, model_id: "M", operator_id: "O",
    power_80soc: 1 W, power_limit: 1 W, rated_capacity: 10 Ah, serial: "S", status: original, temp_idle_max: 60 degC, temp_idle_min: -20 degC,
    v_max: 4 V, v_min: 2 V, v_nom: 3 V };
  fact Operator "operator:O" { country: "DE", name: "Maker", postal_address: "Street 1", role: manufacturer, net_turnover: 7 EUR };
  fact Material "material:A/cell/7439-93-2" { cas: "7439-93-2", mass: 3 kg, role: cathode };
  fact Material "material:A/cell/7440-48-4" { cas: "7440-48-4", mass: 5 kg, role: cathode };
  fact Material "material:A/cell/96-49-1" { cas: "96-49-1", role: electrolyte };
  fact Material "material:OTHER/cell/96-49-1" { cas: "96-49-1", mass: 900 kg, role: electrolyte };
}
"#;

struct TestLeaves;

impl Leaves for TestLeaves {
    fn fact(&self, fact: &Fact) -> Hash {
        Hash(Sha256::digest([b"fact", fact.key().as_bytes()].concat()).into())
    }

    fn value(&self, fact: &Fact, field: &str, json: &str) -> Hash {
        Hash(Sha256::digest([fact.key().as_bytes(), field.as_bytes(), json.as_bytes()].concat()).into())
    }
}

fn checked(text: &str) -> Checked {
    let sources = Sources::single("test.rules", &format!("{HEADER}{text}"));
    let package = parse(&sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    check(&package).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)))
}

fn base(checked: &Checked) -> Vec<Fact> {
    checked.tests().fixtures[0].1.case().expect("the fixture is allowed").facts
}

fn results_on(checked: &Checked, facts: &[Fact], day: &str) -> Results {
    let context = Context::new("A", day.parse().expect("a day"), "build", &TestLeaves);
    evaluate(checked, facts, context).expect("it can be evaluated")
}

/// What a rule over the battery and its materials says.
fn says(rule: &str) -> (Verdict, Option<String>, Vec<String>) {
    let checked = checked(&format!("rule A.B should for b: Battery, ms: List[Material] {rule}"));
    let outcome = results_on(&checked, &base(&checked), "2027-03-01").rules[0].outcome.clone();
    (outcome.verdict, outcome.code, outcome.missing)
}

fn verdict(rule: &str) -> Verdict {
    says(rule).0
}

#[test]
fn a_check_passes_fails_or_warns() {
    assert_eq!(says("{ check b.v_min <= b.v_nom }"), (Verdict::Pass, None, vec![]));
    assert_eq!(says("{ check b.v_min > b.v_nom }"), (Verdict::Fail, Some("E_A_B".to_owned()), vec![]));
    assert_eq!(says("{ check false else W_X \"x\" }"), (Verdict::Warn, Some("W_X".to_owned()), vec![]));
    assert_eq!(verdict("{ check false else NOT_APPLICABLE \"x\" }"), Verdict::NotApplicable);
    assert_eq!(verdict("where b.v_min > b.v_nom { check false }"), Verdict::NotApplicable);
    assert_eq!(verdict("unless b.v_min < b.v_nom { check false }"), Verdict::NotApplicable);
}

#[test]
fn arithmetic_is_exact_and_units_meet() {
    for check in [
        "b.rated_capacity * b.v_nom == 30 Wh",
        "b.rated_capacity * b.v_nom == 0.03 kWh",
        "b.mass == 100000 g",
        "sum(m in ms where present(m.mass) : m.mass) == 8 kg",
        "0.1 + 0.2 == 0.3",
        "5 pct of b.mass == 5 kg",
        "ratio(1 kg, 3 kg) > 33.333333333333333 pct and ratio(1 kg, 3 kg) < 33.333333333333334 pct",
        "div(1, 8, 2, HALF_EVEN) == 0.12",
        "div(3, 8, 2, HALF_EVEN) == 0.38",
        "div(-1, 8, 2, HALF_EVEN) == -0.12",
        "div(b.mass, 3, 1, HALF_EVEN) == 33.3 kg",
        "div(90 kgCO2e, 2 kWh, 3, HALF_EVEN) == 45 kgCO2e/kWh",
        "abs(-3 V) == 3000 mV",
        "convert(b.mass, g) == 100 kg",
        "2 * 3 - 7 == -1",
    ] {
        assert_eq!(verdict(&format!("{{ check {check} }}")), Verdict::Pass, "{check}");
    }
}

#[test]
fn calculations_without_a_result_are_outcomes() {
    let fault = |code: &str| (Verdict::Fail, Some(code.to_owned()), vec![]);
    assert_eq!(says("{ check ratio(b.mass, b.mass - b.mass) > 1 pct }"), fault("DIVISION_BY_ZERO"));
    assert_eq!(says("{ check div(1, 0, 2, HALF_EVEN) == 1 }"), fault("DIVISION_BY_ZERO"));
    let large = "9999999999999999999999999999.0";
    assert_eq!(says(&format!("{{ check {large} + 1.5 > 0 }}")), fault("EVAL_OVERFLOW"));
    assert_eq!(says("{ check 0.000000001 * 0.0000000001 > 0 }"), fault("EVAL_OVERFLOW"));
    assert_eq!(says("{ check 9007199254740991 + 1 > 0 }"), fault("EVAL_OVERFLOW"));
    assert_eq!(verdict(&format!("{{ check {large} > {large} - 1.0 }}")), Verdict::Pass);
    // What decides, decides: the fault behind it is never reached.
    assert_eq!(verdict("{ check true or div(1, 0, 2, HALF_EVEN) == 1 }"), Verdict::Pass);
}

#[test]
fn everything_that_is_missing_is_named_at_once() {
    let (verdict, _, missing) = says("{ check (need b.rated_energy) > 1 kWh and (need b.gtin) == \"x\" }");
    assert_eq!(verdict, Verdict::Unknown);
    assert_eq!(missing, ["battery:A#gtin", "battery:A#rated_energy"]);
    assert_eq!(says("{ check sum(m in ms : need m.mass) > 1 kg }").2, ["material:A/cell/96-49-1#mass"]);
    assert_eq!(says("{ check (need fact(Facility, b.model_id)).country == \"DE\" }").2, ["facility:M"]);
}

#[test]
fn what_decides_weighs_more_than_what_is_missing() {
    assert_eq!(verdict("{ check (need b.rated_energy) > 1 kWh and b.v_min > b.v_nom }"), Verdict::Fail);
    assert_eq!(verdict("{ check b.v_min > b.v_nom and (need b.rated_energy) > 1 kWh }"), Verdict::Fail);
    assert_eq!(verdict("{ check (need b.rated_energy) > 1 kWh or b.v_min < b.v_nom }"), Verdict::Pass);
    assert_eq!(verdict("{ check (need b.rated_energy) > 1 kWh implies b.v_min < b.v_nom }"), Verdict::Pass);
    assert_eq!(verdict("{ check all(m in ms : (need m.mass) > 4 kg) }"), Verdict::Fail);
    assert_eq!(verdict("{ check all(m in ms : (need m.mass) > 1 kg) }"), Verdict::Unknown);
    assert_eq!(verdict("{ check any(m in ms : (need m.mass) > 4 kg) }"), Verdict::Pass);
    assert_eq!(verdict("{ check any(m in ms : (need m.mass) > 9 kg) }"), Verdict::Unknown);
    assert_eq!(verdict("{ check not ((need b.rated_energy) > 1 kWh) }"), Verdict::Unknown);
}

#[test]
fn a_failing_check_names_what_it_found_absent() {
    let (verdict, _, missing) = says("{ check present(b.rated_energy) }");
    assert_eq!((verdict, missing), (Verdict::Fail, vec!["battery:A#rated_energy".to_owned()]));
    assert_eq!(says("{ check present(b.rated_energy) or true }").2, Vec::<String>::new());
}

#[test]
fn a_rule_sees_only_its_product() {
    assert_eq!(verdict("{ check count(m in ms) == 3 and count(m in facts(Material)) == 3 }"), Verdict::Pass);
    assert_eq!(
        verdict("{ check all(m in ms : sku(m) == \"A\") and key(b) == \"battery:A\" }"),
        Verdict::Pass
    );
}

#[test]
fn before_its_day_a_rule_is_not_yet_unless_it_will_never_apply() {
    let package = |rule: &str| checked(&format!("rule A.B should for b: Battery from 2027-06-01 {rule}"));
    let on = |rule: &str, day: &str| {
        let checked = package(rule);
        results_on(&checked, &base(&checked), day).rules[0].outcome.clone()
    };
    let outcome = on("{ check false }", "2027-05-31");
    assert_eq!(
        (outcome.verdict, outcome.from.map(|day| day.to_string())),
        (Verdict::NotYet, Some("2027-06-01".to_owned()))
    );
    assert_eq!(on("{ check false }", "2027-06-01").verdict, Verdict::Fail);
    assert_eq!(on("where false { check false }", "2027-05-31").verdict, Verdict::NotApplicable);
    assert_eq!(
        on("where (need b.rated_energy) > 1 kWh { check false }", "2027-05-31").verdict,
        Verdict::NotYet
    );
    assert_eq!(
        on("where (need b.rated_energy) > 1 kWh { check false }", "2027-06-01").verdict,
        Verdict::Unknown
    );
}

#[test]
fn facts_that_are_not_there_decide_by_how_they_are_asked_for() {
    let checked = checked(
        "rule A.EACH should for p: PCF { check false }\n\
         rule A.BY should for b: Battery, o: Operator by (b.model_id) { check false }\n\
         rule A.OPT should for d: Opt[DueDiligence] { check present(d) }\n\
         rule A.NEED should for d: Opt[DueDiligence] { let x = need d; check x.risk_plan }\n\
         rule A.LIST should for ps: List[PCF] { check count(p in ps) == 0 }\n\
         rule B.BATTERY should for b: Battery { check true }",
    );
    let results = results_on(&checked, &base(&checked), "2027-03-01");
    let said: Vec<_> = results.rules.iter().map(|rule| (rule.rule.as_str(), rule.outcome.verdict)).collect();
    assert_eq!(
        said,
        [
            ("A.BY", Verdict::Unknown),
            ("A.EACH", Verdict::NotApplicable),
            ("A.LIST", Verdict::Pass),
            ("A.NEED", Verdict::Unknown),
            ("A.OPT", Verdict::Fail),
            ("B.BATTERY", Verdict::Pass),
        ]
    );
    assert_eq!(results.rules[0].outcome.missing, ["operator:M"]);
    assert_eq!(results.rules[3].outcome.missing, ["DueDiligence"]);
    let nothing = results_on(&checked, &[], "2027-03-01");
    assert_eq!(
        nothing.rule("B.BATTERY").map(|rule| rule.outcome.missing.clone()),
        Some(vec!["Battery".to_owned()])
    );
}

#[test]
fn the_weightiest_verdict_of_several_facts_counts() {
    let checked = checked("rule A.B should for m: Material { check (need m.mass) > 4 kg }");
    let outcome = results_on(&checked, &base(&checked), "2027-03-01").rules[0].outcome.clone();
    assert_eq!(outcome.verdict, Verdict::Fail);
    let checked = self::checked("rule A.B should for m: Material { check (need m.mass) > 1 kg }");
    let outcome = results_on(&checked, &base(&checked), "2027-03-01").rules[0].outcome.clone();
    assert_eq!((outcome.verdict, outcome.missing.len()), (Verdict::Unknown, 1));
}

#[test]
fn attributes_are_shown_held_or_absent() {
    let checked = checked(
        "emit /a: Qty[kg] dp 1 point 1 = product.mass;\n\
         emit /b: Rec{cas: List[Text], mass: Opt[Qty[kg]]} dp 2 point 2 from 2027-03-02 = {cas: list(m in facts(Material) : need m.cas)};\n\
         emit /c: Category dp 3 point 1 from undated = product.category;\n\
         emit /d: Qty[kWh] dp 4 point 1 = product.rated_energy;\n\
         emit /e: Qty[kWh] dp 5 point 1 = need product.rated_energy;\n\
         emit /f: Dec dp 6 point 1 = div(1, 0, 2, HALF_EVEN);\n\
         rule A.B should for b: Battery { check present(2) and not emitted(2) and emitted(1) and not present(4) and not present(payload(/b)) }",
    );
    let results = results_on(&checked, &base(&checked), "2027-03-01");
    let shown = |pointer: &str| {
        results.emission(pointer).and_then(|emission| emission.shown()).map(|json| json.as_str().to_owned())
    };
    assert_eq!(shown("/a").as_deref(), Some(r#"{"u":"kg","v":"100"}"#));
    assert!(
        matches!(&results.emission("/b").expect("it is there").state, EmissionState::Held { value, from: Some(_) }
        if value.as_str() == r#"{"cas":["7439-93-2","7440-48-4","96-49-1"]}"#)
    );
    assert!(matches!(
        results.emission("/c").expect("it is there").state,
        EmissionState::Held { from: None, .. }
    ));
    let absent = |pointer: &str| match &results.emission(pointer).expect("it is there").state {
        EmissionState::Absent { missing, fault } => (missing.clone(), *fault),
        other => panic!("{other:?}"),
    };
    assert_eq!(absent("/d"), (vec![], None));
    assert_eq!(absent("/e"), (vec!["battery:A#rated_energy".to_owned()], None));
    assert_eq!(absent("/f"), (vec![], Some("DIVISION_BY_ZERO")));
    assert_eq!(results.rules[0].outcome.verdict, Verdict::Pass);
    assert_eq!(results.rules[0].emits, ["/a", "/b", "/d"]);
}

#[test]
fn the_order_of_facts_does_not_matter() {
    let checked = checked(
        "emit /a: List[Text] dp 1 point 1 = list(m in facts(Material) : need m.cas);\n\
         rule A.B should for m: Material { check present(m.mass) }",
    );
    let facts = base(&checked);
    let straight = results_on(&checked, &facts, "2027-03-01");
    let reversed: Vec<Fact> = facts.into_iter().rev().collect();
    let backward = results_on(&checked, &reversed, "2027-03-01");
    assert_eq!(straight.rules, backward.rules);
    assert_eq!(straight.emissions, backward.emissions);
    assert_eq!(straight.cost, backward.cost);
}

#[test]
fn inputs_are_the_facts_that_were_looked_at() {
    let checked = checked(
        "rule A.BATTERY should for b: Battery { check b.mass > 1 kg }\n\
         rule A.MATERIALS should for ms: List[Material] { check count(m in ms) > 0 }\n\
         rule A.OPERATOR should for b: Battery, o: Operator by (b.operator_id) { check o.country == \"DE\" }",
    );
    // Sorted by type and key: the battery, four materials, of which one is another product's, the operator.
    let results = results_on(&checked, &base(&checked), "2027-03-01");
    let inputs: Vec<_> = results.rules.iter().map(|rule| rule.inputs.clone()).collect();
    assert_eq!(inputs, [vec![0], vec![1, 2, 3], vec![0, 5]]);
}

#[test]
fn too_much_is_refused_and_not_endless() {
    let checked =
        checked("rule A.B should for ms: List[Material] { check all(m in ms : all(n in ms : true)) }");
    let facts = base(&checked);
    let context =
        Context { fuel: 12, ..Context::new("A", "2027-03-01".parse().expect("a day"), "b", &TestLeaves) };
    let refused = evaluate(&checked, &facts, context).expect_err("too little fuel");
    assert_eq!((refused.code(), &refused), ("EVAL_FUEL_EXHAUSTED", &EvalError::Fuel { fuel: 12 }));
    let cost = results_on(&checked, &facts, "2027-03-01").cost;
    let exact = Context { fuel: cost, ..context };
    assert!(evaluate(&checked, &facts, exact).is_ok());
    assert!(evaluate(&checked, &facts, Context { fuel: cost - 1, ..context }).is_err());
    let twice = [facts.clone(), facts].concat();
    let context = Context::new("A", "2027-03-01".parse().expect("a day"), "b", &TestLeaves);
    assert_eq!(evaluate(&checked, &twice, context).expect_err("two of one name").code(), "SNAPSHOT_CONFLICT");
}

#[test]
fn every_trace_hash_follows_from_the_steps_under_it() {
    let checked = checked(
        "table t(c: Category) -> Int { ev => 1; otherwise => 2; }\n\
         rule A.B should for b: Battery, ms: List[Material] {\n\
           check t(b.category) == 1 and sum(m in ms where present(m.mass) : m.mass) > 7 kg and div(1, 0, 1, HALF_EVEN) == 1 }\n\
         rule A.C should for o: Operator { check need o.net_turnover > 8 EUR and present(o.web) }",
    );
    let results = results_on(&checked, &base(&checked), "2027-03-01");
    for index in 0..results.trace.len() as u32 {
        assert_eq!(results.trace.node(index).hash, recomputed(&results.trace, index), "step {index}");
    }
    let root = results.trace.node(results.rules[0].trace);
    assert_eq!((root.kind, root.hash), (NodeKind::Assert, results.rules[0].trace_hash));
    assert_eq!(root.name, "A.B\u{1f}FAIL\u{1f}DIVISION_BY_ZERO");
    let names: Vec<_> = results
        .trace
        .under(results.rules[0].trace)
        .into_iter()
        .map(|at| results.trace.node(at).name)
        .collect();
    assert!(names.contains(&"t#0") && names.contains(&"mass") && names.contains(&"div:1"), "{names:?}");
}

#[test]
fn traces_do_not_show_what_not_everybody_may_see() {
    let checked = checked(
        "rule A.B should for ms: List[Material] { check sum(m in ms where present(m.mass) : m.mass) > 7 kg }\n\
         rule A.C should for o: Operator { check (need o.net_turnover) > 8 EUR }\n\
         rule A.D should for b: Battery { check b.mass > 1 kg }",
    );
    let results = results_on(&checked, &base(&checked), "2027-03-01");
    let said: Vec<&str> = results
        .trace
        .nodes()
        .filter_map(|node| match node.value {
            TraceValue::Shown(json) => Some(json),
            _ => None,
        })
        .collect();
    // The masses of materials, their sum and the turnover are for others; the battery's mass is public.
    for hidden in ["\"3\"", "\"5\"", "\"EUR\",\"v\":\"7\""] {
        assert!(!said.iter().any(|json| json.contains(hidden)), "{hidden} in {said:?}");
    }
    assert!(said.contains(&r#"{"u":"kg","v":"100"}"#), "{said:?}");
    assert!(
        results.trace.nodes().any(|node| node.name == "mass" && matches!(node.value, TraceValue::Hidden(_)))
    );
}

#[test]
fn a_result_has_the_form_that_is_proved() {
    let checked =
        checked("rule A.B must cite \"Art. 1\" for b: Battery { check present(b.gtin) else E_X \"x\" }");
    let result = &results_on(&checked, &base(&checked), "2027-03-01").rules[0];
    assert_eq!(
        result.object().as_str(),
        format!(
            r#"{{"cite":["Art. 1"],"code":"E_X","cost":{},"emits":[],"inputs":[0],"missing":["battery:A#gtin"],"rule":"A.B","sev":"must","trace_hash":"{}","ver":"1.0.0","verdict":"FAIL"}}"#,
            result.cost, result.trace_hash
        )
    );
}

#[test]
fn equal_programs_have_equal_hashes_and_others_do_not() {
    let hash = |text: &str| checked(text).rules_hash();
    let rule = "rule A.B should for b: Battery { check b.mass > 1 kg }";
    assert_eq!(hash(rule), hash("# a comment\nrule A.B should for b: Battery\n{ check b.mass > 1.0 kg }"));
    assert_ne!(hash(rule), hash("rule A.B should for b: Battery { check b.mass > 2 kg }"));
    assert_ne!(hash(rule), hash("rule A.B should for b: Battery { check b.mass >= 1 kg }"));
    assert_ne!(hash(rule), hash("rule A.B info for b: Battery { check b.mass > 1 kg }"));
}

/// The hash of a step, spelled out from its description.
fn recomputed(trace: &Trace, index: u32) -> Hash {
    let node = trace.node(index);
    let kind = match node.kind {
        NodeKind::Const => 1,
        NodeKind::Fact => 2,
        NodeKind::Field => 3,
        NodeKind::Op => 4,
        NodeKind::Table => 5,
        NodeKind::Assert => 6,
    };
    let mut bytes = vec![3, kind];
    bytes.extend((node.name.len() as u16).to_be_bytes());
    bytes.extend(node.name.bytes());
    bytes.extend((node.children.len() as u16).to_be_bytes());
    for child in node.children {
        assert!(*child < index, "a step rests on earlier ones");
        bytes.extend(trace.node(*child).hash.0);
    }
    match node.value {
        TraceValue::Unsaid => bytes.push(0),
        TraceValue::Shown(json) => bytes.extend([&[1], json.as_bytes()].concat()),
        TraceValue::Hidden(hash) => bytes.extend([&[2][..], &hash.0].concat()),
        TraceValue::Unknown => bytes.push(3),
        TraceValue::Fault(code) => bytes.extend([&[4], code.as_bytes()].concat()),
    }
    Hash(Sha256::digest(&bytes).into())
}
