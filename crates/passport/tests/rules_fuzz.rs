//! No text, however wrong, panics or hangs the parser, the checker or the evaluator: real packages,
//! mutated.
//!
//! A few hundred mutations by default; a minute of them with `BPC_TEST_LONG=1`. Mutations follow from a
//! seed that is printed with a failure; `BPC_TEST_SEED` sets it.

#[path = "common/no_leaves.rs"]
mod no_leaves;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use bpc_passport::rules::shipped::eu_2023_1542;
use bpc_passport::rules::{Checked, Context, Source, Sources, check, diff, evaluate, explain, parse, test};

use no_leaves::NoLeaves;

const SMALL: &str = include_str!("data/rules/small.rules");

/// Pieces that parsers and checkers may stumble over.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "=>",
    "..",
    "|",
    "_",
    "need ",
    "not ",
    "- ",
    "match ",
    "if ",
    "then ",
    "else ",
    "none",
    "some(",
    "all(",
    "first(",
    "present(",
    "payload(",
    "/a/b",
    "0",
    "1.5",
    "99999999999999999999999999999",
    "0.0000000000000000001",
    "9007199254740991",
    "2 kWh",
    "5 pct of ",
    "2027-02-30",
    "9999-12-31",
    "0000-00-00",
    "\"",
    "\"\\",
    "\u{feff}",
    "\u{10ffff}",
    "#",
    "div(1, 0, 18, HALF_EVEN)",
    "ratio(",
    "convert(",
    "facts(Material)",
    "product",
    "as_of",
    "Opt[",
    "List[",
    "Rec{",
    "Int[5..1]",
    "dp 1",
    "otherwise => 0;",
    "cite \"x\"",
    "from 2027-01-01",
    "by (",
    "rule A.A should for b: Battery { check true }\n",
    "def f() -> Bool = f();\n",
    "datapoints 1..99999999;",
];

#[test]
fn no_mutation_of_a_real_package_panics_or_hangs() {
    let seed = std::env::var("BPC_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let long = std::env::var("BPC_TEST_LONG").is_ok_and(|value| value == "1");
    let end = Instant::now() + Duration::from_secs(60);
    let bases = [vec![("small.rules".to_owned(), SMALL.to_owned())], shipped_without_tests()];
    let original = bases.each_ref().map(|base| accepted(base).expect("the package itself is fine"));
    let mut random = Random(seed);
    let (mut rounds, mut fine) = (0_u64, 0_u64);
    while if long { Instant::now() < end } else { rounds < 600 } {
        let which = usize::from(random.below(40) == 0);
        let mut files = bases[which].clone();
        for _ in 0..=random.below(3) / 2 {
            let at = random.below(files.len());
            mutate(&mut files[at].1, &mut random);
        }
        let started = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let Some(checked) = accepted(&files) else { return false };
            look_at(&checked, &original[which], fine % 20 == 19 && which == 0);
            true
        }));
        let place = format!("seed {seed}, round {rounds}");
        assert!(started.elapsed() < Duration::from_secs(60), "{place}: too slow");
        match result {
            Ok(accepted) => fine += u64::from(accepted),
            Err(_) => panic!(
                "{place}: panicked on\n{}",
                files.iter().map(|(_, text)| text.as_str()).collect::<String>()
            ),
        }
        rounds += 1;
    }
    assert!(
        fine > rounds / 20,
        "{fine} of {rounds} mutations are packages still, so evaluation is hardly tested"
    );
}

/// The package, if there is nothing wrong with it. What is wrong must be showable.
fn accepted(files: &[(String, String)]) -> Option<Checked> {
    let files = files.iter().map(|(name, text)| Source { name: name.clone(), text: text.clone() });
    let sources = Sources::new(files.collect());
    match parse(&sources).and_then(|package| check(&package)) {
        Ok(checked) => {
            checked.warnings().render(&sources, true);
            Some(checked)
        }
        Err(wrong) => {
            assert!(wrong.has_errors());
            assert!(wrong.render(&sources, false).contains("error["));
            None
        }
    }
}

fn look_at(checked: &Checked, original: &Checked, run: bool) {
    for (_, draft) in original.tests().fixtures.iter().chain(&checked.tests().fixtures) {
        let Ok(case) = draft.case() else { continue };
        for fuel in [5_000_000, 100] {
            let context = Context { fuel, ..Context::new(&case.product, case.as_of, "fuzz", &NoLeaves) };
            if let Ok(results) = evaluate(checked, &case.facts, context) {
                results.rules.iter().for_each(|rule| drop(rule.object()));
            }
        }
    }
    diff(original, checked);
    for rule in &checked.program().rules {
        assert!(explain(checked, &rule.id).is_some());
    }
    if run {
        test::run(checked, 1);
    }
}

/// Fixtures stay, to have something to evaluate.
fn shipped_without_tests() -> Vec<(String, String)> {
    let sources = eu_2023_1542("v2.0").expect("it comes with the program");
    let is_test = |name: &str| name.contains("tests") && !name.contains("fixtures");
    let kept = sources.files().iter().filter(|file| !is_test(&file.name));
    let lines = |text: &str| -> String {
        text.lines().filter(|line| !line.starts_with("include")).map(|line| format!("{line}\n")).collect()
    };
    kept.map(|file| (file.name.clone(), lines(&file.text))).collect()
}

/// A word or letter left out, doubled, exchanged for another of the text, or for one of the pieces.
fn mutate(text: &mut String, random: &mut Random) {
    let start = boundary(text, random.below(text.len().max(1)));
    let (first, last) = word_at(text, start);
    match random.below(16) {
        0 => text.replace_range(first..last, ""),
        1 => text.replace_range(start..boundary(text, start + random.below(60)).max(start), ""),
        2 => text.insert_str(first, PIECES[random.below(PIECES.len())]),
        3 => text.replace_range(first..last, PIECES[random.below(PIECES.len())]),
        4 => {
            let double = text[first..last].to_owned();
            text.insert_str(first, &format!("{double} "));
        }
        // Most often a word of the same kind, so that the package may still be one.
        _ => {
            for _ in 0..40 {
                let from = boundary(text, random.below(text.len().max(1)));
                let (other_first, other_last) = word_at(text, from);
                let (here, there) = (&text[first..last], text[other_first..other_last].to_owned());
                if kind(here) == kind(&there) && *here != there {
                    text.replace_range(first..last, &there);
                    break;
                }
            }
        }
    }
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The letters around a place that belong together.
fn word_at(text: &str, at: usize) -> (usize, usize) {
    let belongs = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
    let first = text[..at]
        .rfind(|letter: char| !belongs(letter))
        .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
    let last = text[at..].find(|letter: char| !belongs(letter)).map_or(text.len(), |found| at + found);
    if first < last { (first, last) } else { (at, boundary(text, (at + 1).min(text.len())).max(at)) }
}

fn kind(word: &str) -> u8 {
    match word.chars().next() {
        Some(letter) if letter.is_ascii_digit() => {
            if word.contains('-') {
                0
            } else {
                1
            }
        }
        Some(letter) if letter.is_alphabetic() => 2,
        _ => 3,
    }
}

/// A linear congruential generator: enough to be different every time and the same with a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound.max(1) as u64) as usize
    }
}
