//! Types, units, totality, order and cost: what a package must keep to before it runs.

use bpc_passport::rules::limits::FUEL;
use bpc_passport::rules::{Checked, Code, Program, Sources, check, parse};

const HEADER: &str = "package test version 1.0.0 effective 2027-02-18 datapoints 1..9;\n";

fn checked(text: &str) -> Result<Checked, String> {
    let sources = Sources::single("test.rules", &format!("{HEADER}{text}"));
    let package = parse(&sources).map_err(|wrong| wrong.render(&sources, false))?;
    check(&package).map_err(|wrong| wrong.render(&sources, false))
}

fn fine(text: &str) -> Program {
    checked(text).unwrap_or_else(|wrong| panic!("{wrong}")).program().clone()
}

#[track_caller]
fn refused(text: &str, code: Code, parts: &[&str]) {
    let wrong = checked(text).expect_err("it should be refused");
    assert!(wrong.contains(&format!("error[{}]", code.as_str())), "no {} in\n{wrong}", code.as_str());
    for part in parts {
        assert!(wrong.contains(part), "`{part}` is not in\n{wrong}");
    }
}

#[track_caller]
fn expr_refused(expr: &str, code: Code, parts: &[&str]) {
    refused(&format!("rule A.B should for b: Battery {{ check {expr} }}"), code, parts);
}

#[test]
fn unknown_names_get_the_nearest_known_one() {
    expr_refused(
        "b.v_mim <= b.v_nom",
        Code::RuleNameUnknown,
        &["Battery has no field `v_mim`", "did you mean `v_min`?"],
    );
    expr_refused(
        "b.category == evv",
        Code::RuleNameUnknown,
        &["did you mean `ev`?", "values of Category are ev, lmt"],
    );
    expr_refused("ratoi(b.mass, b.mass) > 1 pct", Code::RuleNameUnknown, &["did you mean `ratio`?"]);
    expr_refused("bb.mass > 1 kg", Code::RuleNameUnknown, &["did you mean `b`?"]);
    expr_refused("b.mass > 1 kgg", Code::RuleNameUnknown, &["did you mean `kg`?"]);
    expr_refused("b.mass-b.mass > 1 kg", Code::RuleNameUnknown, &["Battery has no field `mass-b`"]);
    expr_refused(
        "present(payload(/battery/x))",
        Code::RuleNameUnknown,
        &["nothing is emitted at `/battery/x`"],
    );
    refused(
        "rule A.B should for b: Batery { check true }",
        Code::RuleNameUnknown,
        &["did you mean `Battery`?"],
    );
    refused("def f(a: Datte) -> Int = 1;", Code::RuleNameUnknown, &["did you mean `Date`?"]);
}

#[test]
fn units_are_checked_before_anything_runs() {
    expr_refused("b.mass > 1 kWh", Code::UnitMismatch, &["Qty[kg] cannot be compared with Qty[kWh]"]);
    expr_refused("b.mass > 1", Code::UnitMismatch, &["Qty[kg] cannot be compared with Int"]);
    expr_refused("b.mass + b.v_min > 1 kg", Code::UnitMismatch, &["add or subtract Qty[kg] and Qty[V]"]);
    expr_refused("b.mass * b.v_min > 1 kg", Code::UnitMismatch, &["multiply Qty[kg] and Qty[V]"]);
    expr_refused("convert(b.mass, V) > 1 V", Code::UnitMismatch, &["cannot be converted"]);
    expr_refused("ratio(b.mass, b.v_min) > 1 pct", Code::UnitMismatch, &["divide"]);
    refused("const a: Qty[kg] = 2 V;", Code::UnitMismatch, &["`V` is no unit for Qty[kg]"]);
    fine("rule A.B should for b: Battery { check b.rated_capacity * b.v_nom > 2 kWh and b.mass > 2000 g }");
    fine(
        "rule A.B should for p: PCF where present(p.service_energy) { check p.per_unit * p.service_energy > 1 tCO2e }",
    );
    fine(
        "rule A.B should for b: Battery { check div(b.mass, 3, 2, HALF_EVEN) > 1 kg and div(b.mass, b.mass, 2, HALF_EVEN) == 1 }",
    );
}

#[test]
fn what_may_be_missing_must_be_dealt_with() {
    let help = "match it, ask `present(..)` before, or write `need` in front of it";
    expr_refused("b.rated_energy > 2 kWh", Code::RuleTypeError, &["may be missing", help]);
    expr_refused("abs(b.rated_energy) > 2 kWh", Code::RuleTypeError, &["found Opt[Qty[kWh]]"]);
    expr_refused(
        "b.rated_energy > 2 kWh and present(b.rated_energy)",
        Code::RuleTypeError,
        &["may be missing"],
    );
    expr_refused("present(b.mass)", Code::RuleTypeError, &["always there"]);
    expr_refused("(need b.mass) > 1 kg", Code::RuleTypeError, &["leave `need` out"]);
    expr_refused(
        "fact(Operator, \"x\").country == \"DE\"",
        Code::RuleTypeError,
        &["Operator may be missing"],
    );
    for expr in [
        "present(b.rated_energy) and b.rated_energy > 2 kWh",
        "present(b.rated_energy) implies b.rated_energy > 2 kWh",
        "not present(b.rated_energy) or b.rated_energy > 2 kWh",
        "(if present(b.rated_energy) then b.rated_energy > 2 kWh else false)",
        "(match b.rated_energy { some(e) => e > 2 kWh, none => false })",
        "(need b.rated_energy) > 2 kWh",
    ] {
        fine(&format!("rule A.B should for b: Battery {{ check {expr} }}"));
    }
    fine(
        "rule A.B should for b: Battery where present(b.rated_energy) { let e = b.rated_energy; check e > 2 kWh }",
    );
    fine(
        "rule A.B should for b: Battery unless not present(b.rated_energy) { check b.rated_energy > 2 kWh }",
    );
}

#[test]
fn matches_are_exhaustive() {
    let of = |arms: &str| format!("rule A.B should for b: Battery {{ check match b.category {{ {arms} }} }}");
    refused(
        &of("ev => true, lmt => false"),
        Code::RuleMatchNotExhaustive,
        &["not matched: industrial, sli, portable"],
    );
    refused(&of("ev => true, ev => false, _ => true"), Code::RuleMatchNotExhaustive, &["matched before"]);
    refused(&of("_ => true, ev => false"), Code::RuleMatchNotExhaustive, &["matched before"]);
    fine(&of("ev | lmt => true, _ => false"));
    expr_refused(
        "(match b.rated_energy { some(e) => true })",
        Code::RuleMatchNotExhaustive,
        &["`none` is not matched"],
    );
    expr_refused(
        "(match b.rated_energy { none => true })",
        Code::RuleMatchNotExhaustive,
        &["`some(..)` is not matched"],
    );
    expr_refused("(match b.mass { _ => true })", Code::RuleTypeError, &["only an `Opt` or an enumeration"]);
    fine(
        "rule A.B should for b: Battery { check match b.storage { some(s) => (match s { none => true, _ => false }), none => true } }",
    );
}

#[test]
fn tables_cover_everything_once() {
    let of = |rows: &str| format!("table t(c: Category, e: Qty[kWh]) -> Int {{ {rows} }}");
    refused(&of("ev, _ => 1; lmt, < 2 => 2;"), Code::RuleTableGap, &["no row for (lmt, 2 kWh)", "more"]);
    refused(
        &of("ev, <= 2 => 1; ev, >= 2 => 2; lmt | industrial | sli | portable, _ => 3;"),
        Code::RuleTableOverlap,
        &["two rows match (ev, 2 kWh)"],
    );
    fine(&of("ev, <= 2 => 1; ev, > 2 => 2; lmt | industrial | sli | portable, _ => 3;"));
    fine(&of("ev, 2 => 1; otherwise => 2;"));
    fine("table t(d: DataPoint) -> Text { 1..4 => \"a\"; 5 | 6 => \"b\"; 7..9 => \"c\"; }");
    refused("table t(d: DataPoint) -> Text { 1..4 => \"a\"; 6..9 => \"c\"; }", Code::RuleTableGap, &["(5)"]);
    refused("table t(d: DataPoint) -> Int { 1..10 => 1; }", Code::RuleTypeError, &["10 is not in 1..9"]);
    fine("table t(n: Int) -> Int { <= 5 => 1; >= 6 => 2; }");
    refused("table t(n: Dec) -> Int { <= 5 => 1; >= 6 => 2; }", Code::RuleTableGap, &["less than 6"]);
    fine("table t(d: Date) -> Int { < 2027-01-01 => 0; 2027-01-01..2027-12-31 => 1; >= 2028-01-01 => 2; }");
    refused("table t(d: Text) -> Int { \"a\" => 0; }", Code::RuleTableGap, &["any other text"]);
    refused(
        "table t(a: Int, b: Int) -> Int { 1 => 1; }",
        Code::RuleTypeError,
        &["1 cells in a table of 2 columns"],
    );
    refused(
        "table t(a: Opt[Int]) -> Int { 1 => 1; }",
        Code::RuleTypeError,
        &["a column cannot hold Opt[Int]"],
    );
}

#[test]
fn circles_are_found() {
    refused(
        "def f(a: Int) -> Int = g(a); def g(a: Int) -> Int = f(a);",
        Code::RuleCycleDetected,
        &["`f` needs itself: f needs g needs f"],
    );
    refused("def f(a: Int) -> Int = f(a);", Code::RuleCycleDetected, &["f needs f"]);
    refused(
        "emit /a: Bool dp 1 point 1 = present(payload(/b)); emit /b: Bool dp 2 point 1 = emitted(1);",
        Code::RuleCycleDetected,
        &["/a needs /b needs /a"],
    );
    refused(
        "rule A.A should for b: Battery { check verdict(A.B) == PASS }\n\
         rule A.B should for b: Battery { check verdict(A.A) == PASS }",
        Code::RuleCycleDetected,
        &["A.A needs A.B needs A.A"],
    );
    refused(
        "emit /a: Bool dp 1 point 1 = any(d in datapoints : present(d));",
        Code::RuleCycleDetected,
        &["/a needs /a"],
    );
}

#[test]
fn what_is_needed_comes_first_else_names_decide() {
    let program = fine(
        "rule Z.A should for b: Battery { check verdict(Z.C) == PASS }\n\
         rule Z.B should for b: Battery { check emitted(2) }\n\
         rule Z.C should for b: Battery { check true }\n\
         emit /z: Qty[kg] dp 1 point 1 = product.mass;\n\
         emit /y: Bool dp 2 point 1 = present(payload(/z));",
    );
    let names: Vec<_> = program
        .order
        .iter()
        .map(|step| match step {
            bpc_passport::rules::program::Step::Rule(rule) => program.rules[*rule].id.as_str(),
            bpc_passport::rules::program::Step::Emit(emit) => program.emits[*emit].pointer.as_str(),
        })
        .collect();
    assert_eq!(names, ["/z", "/y", "Z.B", "Z.C", "Z.A"]);
    assert_eq!(program.rules[1].reads, ["/y"]);
}

#[test]
fn an_attribute_has_one_pointer_one_point_and_one_data_point() {
    let emit = |pointer: &str, dp: u8| format!("emit {pointer}: Qty[kg] dp {dp} point 1 = product.mass;\n");
    refused(&(emit("/a/b", 1) + &emit("/a/b", 2)), Code::RuleDuplicate, &["`/a/b` is emitted twice"]);
    refused(&(emit("/a", 1) + &emit("/a/b", 2)), Code::RuleDuplicate, &["`/a/b` lies inside `/a`"]);
    refused(&(emit("/a", 1) + &emit("/b", 1)), Code::RuleDuplicate, &["data point 1 is emitted twice"]);
    refused(&emit("/a", 10), Code::RuleTypeError, &["there is no data point 10"]);
    refused(
        "emit /a: Battery dp 1 point 1 = product;",
        Code::RuleTypeError,
        &["Battery has no form in a passport"],
    );
    fine(&(emit("/a", 1) + &emit("/ab", 2)));
}

#[test]
fn a_must_names_its_law_and_codes_say_what_they_mean() {
    refused("rule A.B must for b: Battery { check true }", Code::RuleCiteMissing, &["names no law"]);
    refused(
        "rule A.B should for b: Battery { check true else X \"x\" }",
        Code::RuleTypeError,
        &["`E_` or `W_`"],
    );
    refused(
        "rule A.B should for b: Battery { check true else PASS \"x\" }",
        Code::RuleTypeError,
        &["can only end in"],
    );
    refused(
        "rule A.B should for b: Battery { check true }\nrule A.B should for b: Battery { check true }",
        Code::RuleDuplicate,
        &["`A.B` is defined twice"],
    );
    refused("const a: Int = 1; const a: Int = 2;", Code::RuleDuplicate, &["`a` is defined twice"]);
    refused("const abs: Int = 1;", Code::RuleDuplicate, &["`abs` is a name of the language"]);
}

#[test]
fn lists_inside_lists_over_facts_are_warned_about() {
    let rule = "rule A.B should for b: Battery, ms: List[Material] {
        check all(m in ms : all(n in ms : sum(o in ms : 1) > 0)) }";
    let checked = checked(rule).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(checked.warnings().0[0].code, Code::RuleCostHigh);
    assert!(checked.program().rules[0].cost_max > FUEL * 10);
    let linear =
        fine("rule A.B should for b: Battery, ms: List[Material] { check all(m in ms : m.role == cell) }");
    assert!(linear.rules[0].cost_max < 20_000, "{}", linear.rules[0].cost_max);
}

#[test]
fn several_mistakes_of_one_package_are_told_at_once() {
    let wrong = checked(
        "rule A.A should for b: Battery { check b.mas > 1 kg and b.mass > 1 V }\n\
         const c: Int = 1.5;\n\
         table t(a: Bool) -> Int { true => 1; }\n",
    )
    .expect_err("it is wrong");
    assert!(wrong.contains("4 errors in the rule package"), "{wrong}");
}

#[test]
fn records_lists_and_tags_take_their_type_from_where_they_stand() {
    fine(
        "enum Duty { M, x }\n\
         def duty(b: Battery) -> Duty = if b.category in {ev, lmt} then M else x;\n\
         def docs(k: DocumentKind) -> List[Text] = list(d in facts(Document) where d.kind == k : need d.url);\n\
         emit /a: Rec{name: Text, address: Text, web: Opt[Text]} dp 1 point 1 =\n\
           match fact(Operator, product.operator_id) { some(o) => some({name: o.name, address: o.postal_address, web: o.web}), none => none };\n\
         emit /b: List[Rec{n: Text}] dp 2 point 1 = list(d in docs(waste_a) : {n: d});\n\
         emit /c: Duty dp 3 point 1 = duty(product);\n\
         rule A.B should for b: Battery { check Duty.M == duty(b) and ev == b.category and b.chemistry == \"Li-ion LFP\" }",
    );
    expr_refused(
        "b.category == \"EV\"",
        Code::RuleNameUnknown,
        &["Category has no value `EV`", "did you mean `ev`?"],
    );
    expr_refused(
        "b.category == Status.waste",
        Code::RuleTypeError,
        &["Category cannot be compared with Status"],
    );
    expr_refused("b.mass in [1 kg, \"x\"]", Code::RuleTypeError, &["expected Qty[kg], found Text"]);
    expr_refused("present(first(s in facts(State) : s))", Code::RuleTypeError, &["nothing after its list"]);
}
