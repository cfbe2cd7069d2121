//! Receipts, signatures, and bundles for each role.

mod common;

use bpc_passport::disclosure::{AttributeProof, Role, verify, verify_attribute};
use bpc_passport::json::Json;
use bpc_passport::proof::Point;
use bpc_passport::receipt::{Receipt, SigningKey, sign};
use common::small::{VERSION, bundle, key, receipt, signed, tree};
use uuid::Uuid;

#[test]
fn each_role_is_shown_its_sections_and_results() {
    use Point::{Four, One, Three, Two};
    for (role, shown, hidden, attributes, results) in [
        (Role::Public, vec![One], vec![Two, Three, Four], 3, 1),
        (Role::LegitimateInterest, vec![One, Two, Four], vec![Three], 5, 3),
        (Role::Authority, vec![One, Two, Three], vec![Four], 5, 2),
    ] {
        let verified = verify(bundle(role).as_bytes(), &key().public_key()).expect("a bundle");
        assert_eq!((verified.shown, verified.taken_as_hash), (shown, hidden), "{role}");
        assert_eq!((verified.attributes.len(), verified.results.len()), (attributes, results), "{role}");
        assert_eq!(verified.results_hidden, 3 - results);
        assert_eq!(verified.passport_version, VERSION);
        assert_eq!(verified.receipt_hash, receipt(&tree()).hash());
    }
}

#[test]
fn a_bundle_shows_nothing_that_its_role_may_not_see() {
    let public = bundle(Role::Public);
    for secret in
        ["LiNiMnCoO2", "example.com/report", "original", "/composition/cathode", "EU.B", "EU.C", "battery:A"]
    {
        assert!(!public.contains(secret), "{secret}");
    }
    assert!(!bundle(Role::Authority).contains("original"));
    assert!(!bundle(Role::LegitimateInterest).contains("example.com/report"));
}

#[test]
fn a_changed_bundle_is_not_believed() {
    let public = bundle(Role::Public);
    let salt = tree().sections[0][0].salt.to_string();
    for (from, to, code) in [
        ("\"450\"", "\"451\"", "SECTION_MISMATCH"),
        ("/battery/mass", "/battery/mess", "SECTION_MISMATCH"),
        (salt.as_str(), "00000000000000000000000000000000", "SECTION_MISMATCH"),
        ("\"PASS\"", "\"FAIL\"", "RESULTS_MISMATCH"),
        ("\"cost\":1234", "\"cost\":1235", "SIGNATURE_INVALID"),
        ("\"as_of\":\"2027-02-18\"", "\"as_of\":\"2027-02-19\"", "SIGNATURE_INVALID"),
        ("BPC-RECEIPT-2", "BPC-RECEIPT-3", "BUNDLE_MALFORMED"),
        ("BPC-DISCLOSURE-1", "BPC-DISCLOSURE-2", "BUNDLE_MALFORMED"),
        ("\"cost\":1234", "\"cost\":1234.0", "BUNDLE_MALFORMED"),
        ("\"signature\":\"", "\"signature\":\"00", "BUNDLE_MALFORMED"),
        ("\"signing_key_id\":\"ed25519-", "\"signing_key_id\":\"ed25519-0", "KEY_MISMATCH"),
    ] {
        let changed = public.replacen(from, to, 1);
        assert_ne!(changed, public, "{from}");
        let error = verify(changed.as_bytes(), &key().public_key()).expect_err(from);
        assert_eq!(error.code(), code, "{from}");
    }
    let left_out = public.replacen("{\"leaves\":[{", "{\"leaves\":[],\"x\":[{", 1);
    assert_eq!(
        verify(left_out.as_bytes(), &key().public_key()).expect_err("left out").code(),
        "SECTION_MISMATCH"
    );
    for noise in ["", "{}", "[]", "null", "{\"format\":\"BPC-DISCLOSURE-1\"}"] {
        assert_eq!(
            verify(noise.as_bytes(), &key().public_key()).expect_err(noise).code(),
            "BUNDLE_MALFORMED"
        );
    }
}

#[test]
fn a_bundle_of_another_key_is_not_believed() {
    let stranger = SigningKey::from_seed(&[4; 32]).public_key();
    assert_eq!(
        verify(bundle(Role::Public).as_bytes(), &stranger).expect_err("refused").code(),
        "KEY_MISMATCH"
    );
}

#[test]
fn one_attribute_is_proved_alone() {
    let tree = tree();
    for (point, leaves) in Point::ALL.into_iter().zip(&tree.sections) {
        for leaf in leaves {
            let object = Json::from_canonical(&leaf.object);
            let pointer =
                bpc_passport::json::Node::root(&object).at("/p").text().expect("a pointer").to_owned();
            let proof = AttributeProof::new(&pointer, &signed(&tree), &tree).expect("a proof");
            let text = proof.canonical().as_str();
            let verified = verify_attribute(text.as_bytes(), &key().public_key()).expect("believed");
            assert_eq!((verified.point, verified.pointer.as_str()), (point, pointer.as_str()));
            for (other, leaf) in tree.sections.iter().flatten().enumerate() {
                let shown = text.contains(&leaf.salt.to_string());
                assert_eq!(shown, leaf.object == Json::canonical(&object).expect("canonical"), "{other}");
            }
            let moved = text.replacen(
                &format!("\"point\":{}", point.number()),
                &format!("\"point\":{}", point.number() % 4 + 1),
                1,
            );
            assert_eq!(
                verify_attribute(moved.as_bytes(), &key().public_key()).expect_err("moved").code(),
                "SECTION_MISMATCH"
            );
            let grown = text.replacen(
                "\"path\":[",
                &format!(
                    "\"path\":[\"{}\"{}",
                    tree.roots.proof,
                    if text.contains("\"path\":[]") { "" } else { "," }
                ),
                1,
            );
            assert_eq!(
                verify_attribute(grown.as_bytes(), &key().public_key()).expect_err("grown").code(),
                "SECTION_MISMATCH"
            );
        }
    }
    assert_eq!(AttributeProof::new("/no/such", &signed(&tree), &tree), None);
}

#[test]
fn only_the_key_that_the_receipt_names_signs_it() {
    let receipt = receipt(&tree());
    let error = sign(&receipt.hash(), &receipt.signing_key_id, &SigningKey::from_seed(&[4; 32]))
        .expect_err("refused");
    assert_eq!(error.code(), "INVALID_SIGNING_KEY");
}

#[test]
fn a_signing_key_is_32_bytes_in_base64() {
    let seed = "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=";
    assert_eq!(SigningKey::from_base64(&format!(" {seed}\n")).expect("a key").id(), key().id());
    for text in ["", "not base64!", "AwMD", &format!("{seed}{seed}")] {
        let error = SigningKey::from_base64(text).expect_err(text);
        assert_eq!(error.code(), "INVALID_SIGNING_KEY");
        assert!(text.is_empty() || !error.to_string().contains(text), "an error that shows the key");
    }
    assert!(!format!("{:?}", key()).contains("030303"));
}

#[test]
fn a_receipt_has_one_spelling() {
    let receipt = receipt(&tree());
    let text = receipt.canonical();
    assert!(text.as_str().starts_with(r#"{"as_of":"2027-02-18","battery_product_id":"#));
    assert!(text.as_str().contains(
        r#""test_run":{"coverage":"100","distinct":600,"seed":"-9223372036854775808","total":612}"#
    ));
    assert!(!text.as_str().contains("prior_version"));
    let later = Receipt { prior_version: Some(Uuid::from_u128(9)), ..receipt.clone() };
    assert!(later.canonical().as_str().contains(r#""prior_version":"00000000-0000-0000-0000-000000000009""#));
    assert_ne!(later.hash(), receipt.hash());
}
