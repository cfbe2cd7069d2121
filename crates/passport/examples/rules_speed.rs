//! How long rules take: `cargo run --release -p bpc-passport --example rules_speed [gate]`.
//!
//! Evaluates the shipped package over its fixtures, which are made from public samples, on one core;
//! with `gate` also runs the package's tests once.

use std::time::Duration;

use bpc_core::Hash;
use bpc_passport::facts::Fact;
use bpc_passport::rules::shipped::eu_2023_1542;
use bpc_passport::rules::test::run;
use bpc_passport::rules::{Context, Leaves, check, evaluate, parse};
use bpc_testkit::used::spent;
use sha2::{Digest, Sha256};

/// Salted leaves cost one hash each, as they do when passports are compiled.
struct Salted;

impl Leaves for Salted {
    fn fact(&self, fact: &Fact) -> Hash {
        Hash(Sha256::digest([&[7; 16], fact.key().as_bytes()].concat()).into())
    }

    fn value(&self, fact: &Fact, field: &str, json: &str) -> Hash {
        Hash(Sha256::digest([fact.key().as_bytes(), field.as_bytes(), json.as_bytes()].concat()).into())
    }
}

fn main() {
    let began = spent();
    let sources = eu_2023_1542("v2.0").expect("it comes with the program");
    let package = parse(&sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    let checked = check(&package).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    println!("parse and check: {:?}", spent() - began);
    for (name, draft) in &checked.tests().fixtures {
        let case = draft.case().expect("fixtures are allowed");
        let context = Context::new(&case.product, case.as_of, "speed", &Salted);
        let results = evaluate(&checked, &case.facts, context).expect("it can be evaluated");
        let (began, mut times) = (spent(), 0u32);
        while spent() - began < Duration::from_millis(500) {
            for _ in 0..10 {
                evaluate(&checked, &case.facts, context).expect("it can be evaluated");
            }
            times += 10;
        }
        let each = (spent() - began) / times;
        println!(
            "{name:<12} {:>3} facts, {:>3} attributes, cost {:>6}, {:>5} steps: {each:>10.1?}, {:>6.0}/s",
            case.facts.len(),
            results.emissions.iter().filter(|emission| emission.shown().is_some()).count(),
            results.cost,
            results.trace.len(),
            1.0 / each.as_secs_f64(),
        );
    }
    if std::env::args().any(|arg| arg == "gate") {
        let began = spent();
        let run = run(&checked, 1);
        println!("gate: {:?}, accepted: {}", spent() - began, run.is_accepted());
        println!("{:?}, {} different inputs", run.kinds, run.distinct);
        println!("{} of {} mistakes noticed", run.mutation.killed, run.mutation.mutants);
        println!("{:#?}", run.gate);
    }
}
