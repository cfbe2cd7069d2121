//! The gate: which packages may be used, and what is said about the others.

use bpc_passport::rules::test::{Goldens, Run, Scope, run, run_with};
use bpc_passport::rules::{Checked, Sources, check, parse};

/// A small package. Two rules, a table and an attribute, with tests at every threshold.
const PACKAGE: &str = include_str!("data/rules/small.rules");

fn checked(text: &str) -> Checked {
    let sources = Sources::single("small.rules", text);
    let package = parse(&sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    check(&package).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)))
}

fn run_of(text: &str) -> Run {
    run(&checked(text), 7)
}

fn changed(from: &str, to: &str) -> String {
    assert!(PACKAGE.contains(from), "{from} is in the package");
    PACKAGE.replacen(from, to, 1)
}

#[test]
fn a_tested_package_is_accepted_whatever_the_seed() {
    let checked = checked(PACKAGE);
    let (first, second) = (run(&checked, 1), run(&checked, -2));
    for run in [&first, &second] {
        assert!(
            run.is_accepted(),
            "{:#?}",
            (&run.gate, &run.branches.missed, &run.verdicts.missed, &run.mutation)
        );
        assert!(run.passed >= 500 && run.distinct >= 500, "{} {}", run.passed, run.distinct);
        assert_eq!((run.failed, run.mutation.survivors.len()), (0, 0), "{:#?}", run.mutation.survivors);
    }
    assert_ne!(first.inputs_hash, second.inputs_hash, "other seeds make other cases");
    assert_eq!(first, run(&checked, 1), "the same seed gives the same run");
}

#[test]
fn a_wrong_constant_is_refused_and_the_report_says_where() {
    let run = run_of(&changed("ev => 10;", "ev => 11;"));
    assert!(!run.is_accepted());
    assert_eq!(run.failures, ["masses#1", "weights#1"]);
    let suspect = &run.suspects[0];
    assert_eq!((suspect.spot.file.as_str(), suspect.spot.line), ("small.rules", 5), "{:#?}", run.suspects);
    assert!(
        suspect.spot.what.contains("`11 kg` made `10 kg` would make 2 failing tests pass"),
        "{suspect:?}"
    );
}

#[test]
fn a_constant_that_is_far_off_is_found_by_what_it_decides() {
    let run = run_of(&changed("ev => 10;", "ev => 61;"));
    assert!(run.suspects.iter().any(|suspect| suspect.spot.line == 5), "{:#?}", run.suspects);
}

#[test]
fn a_constant_that_no_test_pins_is_a_surviving_mistake() {
    let untested = changed("[lmt, 1], ", "");
    let run = run_of(&untested);
    let lmt: Vec<_> =
        run.mutation.survivors.iter().filter(|survivor| survivor.spot.text.starts_with('1')).collect();
    assert_eq!(lmt.len(), 2, "{:#?}", run.mutation);
    assert_eq!(lmt[0].spot.line, 6);
    assert!(lmt.iter().all(|survivor| survivor.spot.what.contains("`1 kg` made")), "{lmt:?}");
}

#[test]
fn few_tests_are_refused_by_the_mutation_score() {
    let tests = PACKAGE.find("table masses").expect("tests begin there");
    let keep = PACKAGE.find("property volts").expect("the property");
    let run = run_of(&format!("{}{}", &PACKAGE[..tests], &PACKAGE[keep..]));
    assert_eq!(run.failed, 0);
    assert!(run.gate.iter().any(|reason| reason.contains("mistakes made on purpose")), "{:?}", run.gate);
    let told = run.mutation.survivors.iter().filter_map(|survivor| survivor.told_apart.as_ref());
    assert!(told.into_iter().any(|case| case.contains("MASS.LEAST")), "{:#?}", run.mutation.survivors);
}

#[test]
fn copies_of_one_case_are_not_many_cases() {
    let tests = PACKAGE.find("table masses").expect("tests begin there");
    let copies: String = (0..600)
        .map(|n| format!("example copy{n} using base {{ }} => expect VOLT.ORDER == PASS;\n"))
        .collect();
    let run = run_of(&format!("{}{copies}", &PACKAGE[..tests]));
    assert!(run.passed >= 600 && run.distinct < 200, "{} {}", run.passed, run.distinct);
    assert!(run.gate.iter().any(|reason| reason.contains("different inputs")), "{:?}", run.gate);
}

#[test]
fn a_branch_and_a_verdict_that_are_never_seen_are_named() {
    let unreachable = changed(
        "rule VOLT.ORDER should for b: Battery {",
        "rule VOLT.ORDER should for b: Battery where b.mass > 0 kg {",
    );
    let run = run_of(&unreachable);
    assert!(
        run.branches.missed.iter().any(|spot| spot.what.contains("`where` of VOLT.ORDER")),
        "{:#?}",
        run.branches
    );
    assert!(
        run.verdicts.missed.iter().any(|spot| spot.what.contains("NOT_APPLICABLE")),
        "{:#?}",
        run.verdicts
    );
    assert!(!run.is_accepted());
}

#[test]
fn the_first_failure_is_made_small() {
    let run = run_of(&changed("[3.1 V, 3 V, 4 V, WARN]", "[3.1 V, 3 V, 4 V, PASS]"));
    let failure = run.first_failure.expect("a test fails");
    assert_eq!(failure.test, "volts#2");
    assert_eq!(failure.message, "VOLT.ORDER: expected PASS, found WARN W_VOLT");
    assert_eq!((failure.facts_before, failure.facts), (2, 1));
    assert!(
        failure.input.contains("fact Battery \"battery:A\"") && !failure.input.contains("Operator"),
        "{}",
        failure.input
    );
    let line = PACKAGE.lines().position(|line| line.contains("[3.1 V, 3 V, 4 V, WARN]"));
    assert_eq!(failure.spot.map(|spot| spot.line - 1), line);
}

#[test]
fn a_golden_test_needs_a_compiler() {
    struct Compiler;
    impl Goldens for Compiler {
        fn hashes(&self, _: &Checked, file: &str) -> Result<(String, String), String> {
            Ok((format!("payload of {file}"), "root".to_owned()))
        }
    }
    let text =
        format!("{PACKAGE}golden g \"a.json\" => payload_hash \"payload of a.json\", proof_root \"root\";\n");
    let checked = checked(&text);
    assert_eq!(run(&checked, 1).failures, ["g"]);
    assert_eq!(run_with(&checked, 1, Scope::Own, Some(&Compiler)).failed, 0);
    let other = self::checked(&text.replace("proof_root \"root\"", "proof_root \"other\""));
    let run = run_with(&other, 1, Scope::Own, Some(&Compiler));
    assert_eq!(
        run.first_failure.map(|failure| failure.message),
        Some("proof_root: expected other, found root".to_owned())
    );
}

#[test]
fn rescaling_that_changes_nothing_is_no_test() {
    let run = run_of(&format!("{PACKAGE}metamorphic m: rescale(Wh, kWh) => same;\n"));
    let failure = run.first_failure.expect("it fails");
    assert!(failure.message.contains("no literal in `kWh`"), "{}", failure.message);
}
