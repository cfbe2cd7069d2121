//! From text to a tree, and what is said when the text is wrong.

use bpc_passport::rules::syntax::ast::{ExprKind, Op};
use bpc_passport::rules::{Code, Sources, parse};
use proptest::prelude::*;

const HEADER: &str = "package test version 1.0.0 effective 2027-02-18\n";

const RULES: &str = r#"
rule SCOPE.77_1 must cite "Art. 77(1)" for b: Battery from 2027-02-18 where placed(b) >= 2027-02-18 {
  check b.category in {ev, lmt} or (b.category == industrial and energy(b) > 2 kWh) else NOT_APPLICABLE "no passport owed" }
rule CONTENT.MANDATORY must cite "Guidance v2.0" for b: Battery {            # table obligation(dp, category)
  check all(d in datapoints where obligation(d, b.category) == M : present(d)) else E_MISSING "mandatory data point absent" }
rule VOLT.ORDER must cite "Annex XIII 1(h)" for b: Battery { check b.v_min <= b.v_nom and b.v_nom <= b.v_max }
rule ENERGY.PLAUSIBLE should for b: Battery where present(b.rated_energy) {
  let e = b.rated_capacity * b.v_nom;  check abs(e - b.rated_energy) <= 5 pct of b.rated_energy else W_ENERGY "Ah x V vs kWh" }
rule PCF.STAGE_SUM should cite "Art. 7(1)(e)" for p: PCF {
  check abs(p.stage_raw + p.stage_production + p.stage_distribution + p.stage_eol - p.per_unit) <= 0.05 kgCO2e/kWh }
table min_share(metal: Metal, phase: Int[1..2]) -> Qty[pct] { cobalt,1=>16; lead,1=>85; lithium,1=>6; nickel,1=>6; cobalt,2=>26; lead,2=>85; lithium,2=>12; nickel,2=>15; }
rule RECYCLED.MIN must cite "Art. 8(2)-(3)" for b: Battery, r: List[RecycledShare] by (sku(b))
  where art8_phase(b.category, energy(b), b.storage, placed(b)) > 0 unless second_life_exempt(b) cite "Art. 8(4)" {
  check all(m in metals_present(b) : (need share(r, m)).recovered >= min_share(m, 1)) else E_RECYCLED "below minimum" }
rule RECYCLED.SPLIT must cite "DIN 6.6.2" for r: RecycledShare {
  check r.pre_consumer + r.post_consumer == r.recovered and r.recovered <= 100 pct
    and r.basis == (if r.metal == lead then battery else active_material) }
rule DD.REPORT must cite "Art. 48(1), 52(3)" for o: Operator, d: Opt[DueDiligence] from 2027-08-18
  unless o.net_turnover < 40000000 EUR { let x = need d; check contains_all(x.materials, annex_x_in_bom) and present(x.verifier) }
rule LINK.SECOND_LIFE must cite "Art. 77(7)" for b: Battery where b.status in {repurposed, re-used, remanufactured} { check present(b.prior_passport) }
emit /battery/mass: Qty[kg] dp 10 point 1 from 2027-02-18 = product.mass;
"#;

fn sources(text: &str) -> Sources {
    Sources::single("test.rules", &format!("{HEADER}{text}"))
}

fn complaints(text: &str) -> String {
    let sources = sources(text);
    match parse(&sources) {
        Ok(_) => String::new(),
        Err(wrong) => wrong.render(&sources, false),
    }
}

#[test]
fn the_rules_of_the_design_are_in_the_language() {
    let sources = sources(RULES);
    let package = parse(&sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    assert_eq!(package.rules.len(), 9);
    assert_eq!(package.tables[0].rows.len(), 8);
    assert_eq!(package.emits[0].pointer.text, "/battery/mass");
    assert_eq!(
        package.rules[5].unless.as_ref().map(|(_, cites)| cites.clone()),
        Some(vec!["Art. 8(4)".to_owned()])
    );
    assert_eq!(package.rules[0].from.as_ref().map(|date| date.text.as_str()), Some("2027-02-18"));
}

#[test]
fn or_binds_weaker_than_implies_and_that_weaker_than_and() {
    let text = "def f(a: Bool) -> Bool = a and a implies a or a;";
    let package = parse(&sources(text)).expect("it is in the language");
    let ExprKind::Binary(Op::Or, left, _) = &package.defs[0].body.kind else { panic!("or is outermost") };
    let ExprKind::Binary(Op::Implies, inner, _) = &left.kind else { panic!("then implies") };
    assert!(matches!(inner.kind, ExprKind::Binary(Op::And, ..)));
}

#[test]
fn every_broken_item_is_reported_in_one_run() {
    let text = complaints(
        "rule VOLT.ORDER must for b Battery { check true }\n\
         const x Int = 1;\n\
         rul A.B must\n\
         table t(a: Bool) -> Int { true => ; false => 1 2; }\n\
         def f() -> Int = 1 + ;\n",
    );
    for part in [
        "expected `:`, found `Battery`",
        "expected `:`, found `Int`",
        "did you mean `rule`?",
        "expected a value, found `;`",
        "6 errors in the rule package",
        "test.rules:2:28",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn what_other_languages_write_is_answered_with_what_to_write_here() {
    for (wrong, help) in [
        ("def f(a: Int) -> Bool = a % 2;", "5 pct of x"),
        ("def f(a: Int) -> Int = a / 2;", "div(a, b, scale, HALF_EVEN)"),
        ("def f(a: Bool) -> Bool = a && a;", "write `and`"),
        ("def f(a: Bool) -> Bool = !a;", "write `not`"),
        ("def f(a: Int) -> Bool = 1 < a < 3;", "a <= b and b <= c"),
        ("def f() -> Qty[kg] = 5kg;", "2 kWh"),
        ("const a: Text = \"open;\n", "must end"),
    ] {
        let text = complaints(wrong);
        assert!(text.contains(help), "{help} is not in\n{text}");
    }
}

#[test]
fn a_package_without_header_is_refused() {
    let sources = Sources::single("a.rules", "const x: Int = 1;");
    let wrong = parse(&sources).expect_err("no header");
    assert_eq!(wrong.0[0].code, Code::RuleParseError);
}

#[test]
fn deep_nesting_and_long_chains_are_refused_and_not_a_crash() {
    let deep = format!("def f() -> Int = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
    assert!(complaints(&deep).contains("nested more than"));
    let minus = format!("def f() -> Int = {}1;", "- ".repeat(100_000));
    assert!(complaints(&minus).contains("nested more than"));
    let long = format!("def f() -> Int = 1{};", " + 1".repeat(100_000));
    assert!(complaints(&long).contains("operands in a row"));
    let types = format!("def f() -> {}Int{} = 1;", "Opt[".repeat(100_000), "]".repeat(100_000));
    assert!(complaints(&types).contains("nested more than"));
}

#[test]
fn tests_are_part_of_the_language() {
    let text = r#"
fixture base { product "SKU-1"; as_of 2027-03-01; fact Battery "battery:SKU-1" { category: ev, mass: 450 kg }; }
example volts using base { set Battery.v_min = 3 V; drop Battery.serial; remove Material; } =>
  expect VOLT.ORDER == FAIL E_VOLT missing "a", expect /battery/mass == 450 kg, expect /battery/x absent;
table rows from VOLT.ORDER using base columns(Battery.v_min, as_of, expect, code) rows [
  [3 V, 2027-01-01, PASS, none],
  [missing, 2027-01-01, FAIL, E_X],
];
property p cases(40) using base gen { v: Qty[V] in 1 V .. 9 V; c: Category; set Battery.v_min = v; } =>
  verdict(VOLT.ORDER) == PASS implies v <= 5 V;
metamorphic m: rescale(g, kg) => same;
golden g "ev.json" => payload_hash "00", proof_root "11";
"#;
    let sources = sources(text);
    let package = parse(&sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    let tests = package.tests;
    assert_eq!(tests.examples[0].expects.len(), 3);
    assert_eq!(tests.tables[0].rows.len(), 2);
    assert_eq!(tests.properties[0].vars.len(), 2);
    assert_eq!(tests.goldens[0].proof_root.as_deref(), Some("11"));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,200}") {
        let sources = sources(&text);
        if let Err(wrong) = parse(&sources) {
            wrong.render(&sources, false);
        }
    }

    #[test]
    fn no_change_of_a_good_text_makes_the_parser_panic(at in 0..RULES.len(), length in 0usize..40, with in "[a-z{}()\\[\\];:=<> 0-9.\"-]{0,6}") {
        let start = (0..=at).rev().find(|at| RULES.is_char_boundary(*at)).unwrap_or(0);
        let end = (start + length..=RULES.len()).find(|at| RULES.is_char_boundary(*at)).unwrap_or(RULES.len());
        let sources = sources(&format!("{}{with}{}", &RULES[..start], &RULES[end..]));
        if let Err(wrong) = parse(&sources) {
            let text = wrong.render(&sources, false);
            prop_assert!(text.contains("RULE_"));
        }
    }
}
