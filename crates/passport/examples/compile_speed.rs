//! How long compiling takes: `cargo run --release -p bpc-passport --example compile_speed [times]`.
//!
//! Compiles passports of the public EV and industrial samples under the shipped package, on one core:
//! everything from a sealed snapshot and checked rules to payload, proof and receipt.

use bpc_core::{Hash, TenantId};
use bpc_passport::compile::{Input, Rules, compile};
use bpc_passport::import::{DocumentKind, Format, Request, import};
use bpc_passport::proof::SaltKey;
use bpc_passport::receipt::{SigningKey, TestRun};
use bpc_passport::rules::shipped::eu_2023_1542;
use bpc_passport::rules::{check, parse};
use bpc_passport::snapshot::SealedSnapshot;
use bpc_testkit::used::spent;
use uuid::Uuid;

const SAMPLES: [(&str, &str, &str); 2] = [
    ("ev", "09521234010012", include_str!("../tests/data/batterypass-ready/ev.gefeg.json")),
    (
        "industrial",
        "09521002005004",
        include_str!("../tests/data/batterypass-ready/other-industrial.gefeg.json"),
    ),
];

fn main() {
    let times: u32 = std::env::args().nth(1).map_or(2000, |text| text.parse().expect("a number of times"));
    let sources = eu_2023_1542("v2.0").expect("it comes with the program");
    let package = parse(&sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    let checked = check(&package).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    let run = TestRun { seed: 1, total: 500, distinct: 500, coverage: "100".parse().expect("a number") };
    let signing_key_id = SigningKey::from_seed(&[1; 32]).id();
    for (name, sku, text) in SAMPLES {
        let facts = [DocumentKind::Bom, DocumentKind::Pcf, DocumentKind::DueDiligence].map(|kind| {
            let request = Request { bytes: text.as_bytes(), kind, format: Format::Auto, sku: None };
            import(request).expect("a public sample").facts
        });
        let facts = facts.into_iter().flatten().map(|found| found.fact);
        let tenant_id = TenantId::from_slug("speed");
        let snapshot = SealedSnapshot::seal(tenant_id, Uuid::from_u128(1), facts, SaltKey::new([7; 32]));
        let snapshot = snapshot.expect("no conflict");
        let input = Input {
            tenant_id,
            passport_id: Uuid::from_u128(2),
            battery_product_id: Uuid::from_u128(3),
            sku,
            prior_version: None,
            snapshot: &snapshot,
            rules: Rules {
                version_id: Uuid::from_u128(4),
                checked: &checked,
                tests_sha256: Hash([0; 32]),
                test_run: &run,
            },
            as_of: "2027-02-18".parse().expect("a day"),
            issued_at: "2027-02-18T08:00:00.000000Z".parse().expect("a moment"),
            build_id: "speed",
            signing_key_id: &signing_key_id,
        };
        let compiled = compile(&input).unwrap_or_else(|error| panic!("{name}: {error}"));
        let began = spent();
        for _ in 0..times {
            compile(&input).expect("as before");
        }
        let each = (spent() - began) / times;
        println!(
            "{name:<12} {:>3} facts, {:>2} attributes, {:>4} steps, proof {:>6} bytes: {each:>10.1?}, {:>5.0}/s, receipt {}",
            snapshot.facts().len(),
            compiled.results.emissions.iter().filter(|emission| emission.shown().is_some()).count(),
            compiled.results.trace.len(),
            compiled.proof.len(),
            1.0 / each.as_secs_f64(),
            compiled.receipt_hash,
        );
    }
}
