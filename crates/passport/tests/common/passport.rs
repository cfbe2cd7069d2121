//! Passports of the public samples under a small rule package.

use bpc_core::{Hash, TenantId};
use bpc_passport::compile::{CompileError, Compiled, Input, Rules, compile};
use bpc_passport::disclosure::SignedReceipt;
use bpc_passport::facts::Fact;
use bpc_passport::import::{DocumentKind, Format, Request, import};
use bpc_passport::proof::SaltKey;
use bpc_passport::receipt::{SigningKey, TestRun, sign};
use bpc_passport::rules::{Checked, Sources, check, parse};
use bpc_passport::snapshot::SealedSnapshot;
use uuid::Uuid;

use super::data;

pub const EV: (&str, &str) = ("batterypass-ready/ev.gefeg.json", "09521234010012");
pub const INDUSTRIAL: (&str, &str) = ("batterypass-ready/other-industrial.gefeg.json", "09521002005004");

/// Enough of the law to show every part of a passport: attributes of all four points, one that is
/// held until a day, and rules that read public, restricted and internal values.
pub const RULES: &str = r#"
package sample version 1.0.0 effective 2027-02-18 datapoints 1..71;

emit /identity/unique_id: Text dp 1 point 1 = product.unique_id;
emit /identity/category: Category dp 6 point 1 = product.category;
emit /identity/mass: Qty[kg] dp 10 point 1 = product.mass;
emit /identity/capacity: Qty[Ah] dp 11 point 1 = product.rated_capacity;
emit /identity/chemistry: Chemistry dp 12 point 1 = product.chemistry;
emit /footprint/per_unit: Qty[kgCO2e/kWh] dp 17 point 1 from 2027-08-18 =
  match first(p in facts(PCF)) { some(p) => some(p.per_unit), none => none };
emit /voltage/nominal: Qty[V] dp 27 point 1 = product.v_nom;
emit /waste/links: List[Text] dp 43 point 1 =
  list(d in facts(Document) where d.kind in {waste_a, waste_b, waste_c} and present(d.url) : d.url);
emit /composition/electrodes: Text dp 45 point 2 = product.electrode_materials;
emit /tests/report: Text dp 50 point 3 =
  match first(d in facts(Document) where d.kind == test_report) { some(d) => d.url, none => none };
emit /state/status: Status dp 67 point 4 = product.status;

rule VOLT.ORDER must cite "Annex XIII 1(h)" for b: Battery { check b.v_min <= b.v_nom and b.v_nom <= b.v_max else E_VOLT "voltages out of order" }
rule PCF.STAGE_SUM should cite "Art. 7(1)(e)" for p: PCF {
  check abs(p.stage_raw + p.stage_production + p.stage_distribution + p.stage_eol - p.per_unit) <= 0.05 kgCO2e/kWh else E_STAGES "stages against total" }
rule LINK.SECOND_LIFE must cite "Art. 77(7)" for b: Battery where b.status in {repurposed, re-used, remanufactured} { check present(b.prior_passport) }
rule COMPOSITION.SAID should cite "Annex XIII 2(a)" for b: Battery { check present(b.electrode_materials) }
rule TURNOVER.KNOWN should for o: Operator { check present(o.net_turnover) else WARN "whether due diligence is owed is unknown" }
"#;

pub fn checked(text: &str) -> Checked {
    let sources = Sources::single("sample.rules", text);
    let package = parse(&sources).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)));
    check(&package).unwrap_or_else(|wrong| panic!("{}", wrong.render(&sources, false)))
}

/// All facts of a sample.
pub fn facts(file: &str) -> Vec<Fact> {
    let bytes = data(file);
    [DocumentKind::Bom, DocumentKind::Pcf, DocumentKind::DueDiligence]
        .into_iter()
        .flat_map(|kind| {
            let request = Request { bytes: &bytes, kind, format: Format::Auto, sku: None };
            import(request).unwrap_or_else(|error| panic!("{file}: {error}")).facts
        })
        .map(|found| found.fact)
        .collect()
}

pub fn seal(facts: Vec<Fact>) -> SealedSnapshot {
    let salt_key = SaltKey::new(std::array::from_fn(|index| index as u8));
    SealedSnapshot::seal(TenantId::from_slug("default"), Uuid::from_u128(3), facts, salt_key)
        .expect("no conflict")
}

pub fn key() -> SigningKey {
    SigningKey::from_seed(&[3; 32])
}

pub fn test_run() -> TestRun {
    TestRun { seed: 42, total: 612, distinct: 600, coverage: "100".parse().expect("a number") }
}

pub fn input<'a>(
    sku: &'a str,
    snapshot: &'a SealedSnapshot,
    checked: &'a Checked,
    test_run: &'a TestRun,
    key_id: &'a str,
) -> Input<'a> {
    Input {
        tenant_id: TenantId::from_slug("default"),
        passport_id: Uuid::from_u128(1),
        battery_product_id: Uuid::from_u128(2),
        sku,
        prior_version: None,
        snapshot,
        rules: Rules { version_id: Uuid::from_u128(4), checked, tests_sha256: Hash([7; 32]), test_run },
        as_of: "2027-02-18".parse().expect("a day"),
        issued_at: "2027-02-18T08:00:00.000000Z".parse().expect("a moment"),
        build_id: "bpc-0.1.0",
        signing_key_id: key_id,
    }
}

/// Compiles with these facts and rules, everything else as usual.
pub fn compile_with(sku: &str, facts: Vec<Fact>, rules: &str) -> Result<Compiled, CompileError> {
    compile(&input(sku, &seal(facts), &checked(rules), &test_run(), &key().id()))
}

pub fn passport((file, sku): (&str, &str)) -> Compiled {
    compile_with(sku, facts(file), RULES).unwrap_or_else(|error| panic!("{file}: {error}"))
}

pub fn signed(compiled: &Compiled) -> SignedReceipt {
    let signature = sign(&compiled.receipt_hash, &compiled.receipt.signing_key_id, &key()).expect("our key");
    SignedReceipt { receipt: compiled.receipt_bytes.clone(), signature, public_key: key().public_key() }
}
