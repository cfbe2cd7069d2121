//! From sealed facts and checked rules to a passport version.

mod common;

use bpc_passport::compile::{CompileError, Input, Stored, compile, rebuild, replay};
use bpc_passport::credential;
use bpc_passport::disclosure::{AttributeProof, Bundle, Role, verify, verify_attribute};
use bpc_passport::facts::{Fact, FactType, Fields, Value};
use bpc_passport::json::{Json, Node};
use bpc_passport::proof::{Point, SaltKey};
use bpc_passport::qr::{ProofCode, QrCode};
use bpc_passport::rules::{EmissionState, Verdict};
use common::passport::{
    EV, INDUSTRIAL, RULES, checked, compile_with, facts, input, key, passport, seal, signed, test_run,
};
use proptest::prelude::*;

fn verdict(compiled: &bpc_passport::compile::Compiled, rule: &str) -> Verdict {
    compiled.results.rule(rule).unwrap_or_else(|| panic!("no {rule}")).outcome.verdict
}

fn text_at(bytes: &[u8], path: &str) -> Option<String> {
    let json = Json::read(bytes).expect("JSON");
    Node::root(&json).at(path).value().map(Json::excerpt)
}

#[test]
fn the_ev_sample_fails_its_stage_sum_and_the_industrial_one_passes() {
    // 18.5 + 38 + 2.8 + 10 is 69.3, declared are 65.
    assert_eq!(verdict(&passport(EV), "PCF.STAGE_SUM"), Verdict::Fail);
    // 18.5 + 15.3 + 2.8 + 8.6 is 45.2 exactly.
    assert_eq!(verdict(&passport(INDUSTRIAL), "PCF.STAGE_SUM"), Verdict::Pass);
}

#[test]
fn an_attribute_is_held_until_its_day() {
    let now = passport(EV);
    let held = now.results.emission("/footprint/per_unit").expect("an emission");
    assert!(
        matches!(&held.state, EmissionState::Held { from: Some(day), .. } if day.to_string() == "2027-08-18")
    );
    assert_eq!(text_at(now.payload.as_bytes(), "/data/footprint"), None);
    assert_eq!(text_at(now.proof.as_bytes(), "/held/0/p").as_deref(), Some("\"/footprint/per_unit\""));
    assert!(!now.payload.as_str().contains("kgCO2e/kWh"));

    let (snapshot, rules, run, id) = (seal(facts(EV.0)), checked(RULES), test_run(), key().id());
    let later =
        Input { as_of: "2027-08-18".parse().expect("a day"), ..input(EV.1, &snapshot, &rules, &run, &id) };
    let later = compile(&later).expect("a passport");
    assert_eq!(text_at(later.payload.as_bytes(), "/data/footprint/per_unit/v").as_deref(), Some("\"65\""));
    assert_ne!(later.passport_version_id, now.passport_version_id);
}

#[test]
fn the_bytes_are_golden() {
    for (name, sample) in [("ev", EV), ("other-industrial", INDUSTRIAL)] {
        let compiled = passport(sample);
        for (document, bytes) in
            [("payload", &compiled.payload), ("proof", &compiled.proof), ("receipt", &compiled.receipt_bytes)]
        {
            common::golden(&format!("passports/{name}.{document}.json"), bytes.as_bytes());
        }
    }
}

#[test]
fn any_order_of_facts_on_any_thread_gives_the_same_bytes() {
    let expected = passport(EV);
    std::thread::scope(|scope| {
        for rotation in 0..8 {
            let expected = &expected;
            scope.spawn(move || {
                let mut facts = facts(EV.0);
                facts.rotate_left(rotation * 3);
                facts.reverse();
                let compiled = compile_with(EV.1, facts, RULES).expect("a passport");
                assert_eq!(compiled.payload, expected.payload);
                assert_eq!(compiled.proof, expected.proof);
                assert_eq!(compiled.receipt_bytes, expected.receipt_bytes);
            });
        }
    });
}

#[test]
fn every_input_has_its_say_in_the_receipt() {
    let (snapshot, rules, run, id) = (seal(facts(EV.0)), checked(RULES), test_run(), key().id());
    let usual = input(EV.1, &snapshot, &rules, &run, &id);
    let other_rules = checked(&RULES.replace("0.05 kgCO2e/kWh", "0.06 kgCO2e/kWh"));
    let mut fewer = facts(EV.0);
    fewer.retain(|fact| fact.fact_type() != FactType::Renewable);
    let fewer = seal(fewer);
    let changed = [
        usual,
        Input { tenant_id: bpc_core::TenantId::from_slug("other"), ..usual },
        Input { passport_id: uuid::Uuid::from_u128(9), ..usual },
        Input { battery_product_id: uuid::Uuid::from_u128(9), ..usual },
        Input { prior_version: Some(uuid::Uuid::from_u128(9)), ..usual },
        Input { snapshot: &fewer, ..usual },
        Input { rules: bpc_passport::compile::Rules { checked: &other_rules, ..usual.rules }, ..usual },
        Input { as_of: "2027-02-19".parse().expect("a day"), ..usual },
        Input { issued_at: "2027-02-18T08:00:00.000001Z".parse().expect("a moment"), ..usual },
        Input { build_id: "bpc-0.1.1", ..usual },
        Input { signing_key_id: "ed25519-0000000000000000", ..usual },
    ];
    let mut hashes: Vec<_> =
        changed.iter().map(|input| compile(input).expect("a passport").receipt_hash).collect();
    let count = hashes.len();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), count);
}

#[test]
fn a_must_rule_that_fails_or_cannot_be_judged_blocks() {
    let broken = RULES.replace("b.v_nom <= b.v_max", "b.v_nom > b.v_max");
    let error = compile_with(EV.1, facts(EV.0), &broken).expect_err("blocked");
    assert_eq!(error.code(), "COMPILE_BLOCKED");
    let CompileError::Blocked { rules, results } = error else { panic!("blocked") };
    assert_eq!((rules[0].rule.as_str(), rules[0].verdict), ("VOLT.ORDER", Verdict::Fail));
    assert_eq!(rules[0].cites, ["Annex XIII 1(h)"]);
    assert_eq!(results.rule("PCF.STAGE_SUM").map(|rule| rule.outcome.verdict), Some(Verdict::Fail));

    let needy = format!(
        "{RULES}\nrule SERVICE.KNOWN must cite \"x\" for b: Battery {{ check (need b.placed_on_market) >= 2027-02-18 }}"
    );
    let error = compile_with(EV.1, facts(EV.0), &needy).expect_err("blocked");
    let CompileError::Blocked { rules, .. } = error else { panic!("blocked") };
    assert_eq!((rules[0].rule.as_str(), rules[0].verdict), ("SERVICE.KNOWN", Verdict::Unknown));
    assert_eq!(rules[0].missing.len(), 1);

    let nothing = compile_with(EV.1, Vec::new(), RULES);
    assert_eq!(nothing.expect_err("blocked").code(), "COMPILE_BLOCKED");
}

fn statement(number: usize, text: String) -> Fact {
    let fields = Fields::from([
        ("kind", Value::Tag("waste_a")),
        ("title", Value::Text("A statement".into())),
        ("text", Value::Text(text)),
    ]);
    Fact::new(FactType::Document, format!("doc:{}/waste_a/{}", EV.1, number + 2), fields).expect("a fact")
}

#[test]
fn documents_beyond_their_limits_are_refused_by_name() {
    let loud = RULES.replace("present(d.url) : d.url", "present(d.text) : d.text");
    let with = |count: usize, length: usize| {
        let statements = (0..count).map(|number| statement(number, "x".repeat(length)));
        facts(EV.0).into_iter().chain(statements).collect::<Vec<_>>()
    };
    let error = compile_with(EV.1, with(40, 4000), &loud).expect_err("too large");
    assert_eq!(error.code(), "PAYLOAD_TOO_LARGE");
    // The facts of other batteries are in the proof, if not in the evaluation.
    let mut many = facts(EV.0);
    for number in 0..2200 {
        let share =
            Value::Qty(bpc_passport::value::Quantity::new(3.into(), bpc_passport::value::Unit::Percent));
        let key = format!("renewable:ANOTHER-BATTERY-{number}/A-PLANT-WITH-A-NAME/2027");
        many.push(Fact::new(FactType::Renewable, key, Fields::from([("share", share)])).expect("a fact"));
    }
    assert_eq!(compile_with(EV.1, many, RULES).expect_err("too large").code(), "PROOF_TOO_LARGE");
    let (snapshot, rules, run, id) = (seal(facts(EV.0)), checked(RULES), test_run(), key().id());
    let build = "b".repeat(17_000);
    let error = compile(&Input { build_id: &build, ..input(EV.1, &snapshot, &rules, &run, &id) });
    assert_eq!(error.expect_err("too large").code(), "RECEIPT_TOO_LARGE");
}

#[test]
fn the_tree_is_rebuilt_from_what_was_stored() {
    let compiled = passport(EV);
    let salt_key = SaltKey::new(std::array::from_fn(|index| index as u8));
    let rebuilt = rebuild(compiled.payload.as_bytes(), compiled.proof.as_bytes(), &salt_key).expect("a tree");
    assert_eq!((&rebuilt.tree, &rebuilt.reads), (&compiled.tree, &compiled.reads));
    let payload = compiled.payload.as_str().replace("\"450\"", "\"451\"");
    assert!(rebuild(payload.as_bytes(), compiled.proof.as_bytes(), &salt_key).is_err());
    let proof = compiled.proof.as_str().replace("\"verdict\":\"FAIL\"", "\"verdict\":\"PASS\"");
    assert_ne!(proof, compiled.proof.as_str());
    assert!(rebuild(compiled.payload.as_bytes(), proof.as_bytes(), &salt_key).is_err());
    assert!(rebuild(compiled.payload.as_bytes(), compiled.proof.as_bytes(), &SaltKey::new([0; 32])).is_err());
    assert_eq!(rebuild(b"{}", b"{}", &salt_key).expect_err("refused").code(), "REPLAY_MISMATCH");
}

#[test]
fn a_stored_passport_replays_byte_for_byte_and_a_changed_one_does_not() {
    let compiled = passport(EV);
    let signed = signed(&compiled);
    let (snapshot, rules, run, id) = (seal(facts(EV.0)), checked(RULES), test_run(), key().id());
    let input = input(EV.1, &snapshot, &rules, &run, &id);
    let stored = Stored {
        payload: compiled.payload.as_bytes(),
        proof: compiled.proof.as_bytes(),
        receipt: compiled.receipt_bytes.as_bytes(),
        signature: Some((&signed.signature, &signed.public_key)),
    };
    assert!(replay(&input, &stored).is_ok());
    let edited = compiled.payload.as_str().replace("\"450\"", "\"451\"");
    let error = replay(&input, &Stored { payload: edited.as_bytes(), ..stored }).expect_err("changed");
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("REPLAY_MISMATCH", "compiling again gives another payload")
    );
    let mut forged = signed.signature;
    forged[5] ^= 1;
    let error = replay(&input, &Stored { signature: Some((&forged, &signed.public_key)), ..stored });
    assert_eq!(error.expect_err("forged").code(), "SIGNATURE_INVALID");
    let other = checked(&RULES.replace("E_VOLT", "E_VOLTS"));
    let input = Input { rules: bpc_passport::compile::Rules { checked: &other, ..input.rules }, ..input };
    assert_eq!(replay(&input, &stored).expect_err("other rules").code(), "REPLAY_MISMATCH");
}

#[test]
fn each_role_sees_its_attributes_and_the_results_it_may() {
    let compiled = passport(EV);
    let signed = signed(&compiled);
    for (role, attributes, hidden) in [
        // LINK.SECOND_LIFE reads the status, COMPOSITION.SAID the electrodes, TURNOVER.KNOWN the turnover.
        (Role::Public, 7, vec!["COMPOSITION.SAID", "LINK.SECOND_LIFE"]),
        (Role::LegitimateInterest, 9, vec![]),
        (Role::Authority, 9, vec!["LINK.SECOND_LIFE"]),
    ] {
        let bundle = Bundle::new(role, &signed, &compiled.tree, &compiled.reads);
        let verified = verify(bundle.canonical().as_bytes(), &key().public_key()).expect("believed");
        assert_eq!(verified.attributes.len(), attributes, "{role}");
        let shown: Vec<_> = verified
            .results
            .iter()
            .map(|result| Node::root(result).at("/rule").text().expect("a rule").to_owned())
            .collect();
        for rule in hidden {
            assert!(!shown.contains(&rule.to_owned()), "{role} {rule}: {shown:?}");
        }
        // What nobody may see stays hidden, and so does what rests on it.
        assert!(!shown.contains(&"TURNOVER.KNOWN".to_owned()), "{role}");
        assert!(
            shown.contains(&"VOLT.ORDER".to_owned()) && shown.contains(&"PCF.STAGE_SUM".to_owned()),
            "{role}"
        );
        assert_eq!(verified.results.len() + verified.results_hidden, 5);
    }
}

#[test]
fn a_public_bundle_shows_no_restricted_value() {
    let compiled = passport(EV);
    let bundle = Bundle::new(Role::Public, &signed(&compiled), &compiled.tree, &compiled.reads);
    for secret in ["LiNiMnCoO2; Graphite", "test-report.pdf", "original"] {
        assert!(compiled.payload.as_str().contains(secret), "{secret}");
        assert!(!bundle.canonical().as_str().contains(secret), "{secret}");
    }
    // Nor does the trace, which auditors get with the proof.
    let json = Json::from_canonical(&compiled.proof);
    let trace = Node::root(&json).at("/trace").value().expect("a trace").canonical().expect("canonical");
    assert!(!trace.as_str().contains("LiNiMnCoO2; Graphite"));
}

#[test]
fn one_attribute_of_a_compiled_passport_is_proved_alone() {
    let compiled = passport(INDUSTRIAL);
    let proof = AttributeProof::new("/state/status", &signed(&compiled), &compiled.tree).expect("a proof");
    let verified = verify_attribute(proof.canonical().as_bytes(), &key().public_key()).expect("believed");
    assert_eq!((verified.point, verified.value), (Point::Four, Json::text("original")));
}

#[test]
fn a_compiled_passport_makes_a_credential_and_a_code() {
    let compiled = passport(EV);
    let key = key();
    let credential = credential::passport_credential(
        compiled.passport_version_id,
        &key.public_key(),
        &compiled.receipt_bytes,
        &compiled.receipt_hash,
        compiled.public_attributes(),
    );
    let method = credential::verification_method(&key.public_key());
    let secured = credential::secure(&credential, "2027-02-18T08:00:00Z", &method, &key).expect("secured");
    assert_eq!(credential::verify(&secured), Ok(key.public_key()));
    let text = secured.canonical().expect("canonical");
    assert!(text.as_str().contains("\"category\":\"ev\"") && !text.as_str().contains("LiNiMnCoO2; Graphite"));
    let code = ProofCode {
        passport_version: compiled.passport_version_id,
        payload_hash: compiled.payload_hash,
        proof_root: compiled.tree.roots.proof,
        receipt_hash: compiled.receipt_hash,
    };
    assert!(QrCode::new(&code.to_string()).expect("a code").modules() <= 61);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn leaving_out_any_fact_gives_a_passport_or_a_named_refusal(left_out in proptest::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let mut facts = facts(EV.0);
        for index in left_out {
            let at = index.index(facts.len());
            facts.remove(at);
        }
        match compile_with(EV.1, facts, RULES) {
            Ok(compiled) => {
                let bundle = Bundle::new(Role::Public, &signed(&compiled), &compiled.tree, &compiled.reads);
                prop_assert!(verify(bundle.canonical().as_bytes(), &key().public_key()).is_ok());
            }
            Err(error) => prop_assert_eq!(error.code(), "COMPILE_BLOCKED"),
        }
    }
}
