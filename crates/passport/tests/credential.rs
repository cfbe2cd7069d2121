//! Data Integrity proofs against the vector that W3C publishes.

mod common;

use bpc_passport::credential::{did_key, key_from_did, secure, verification_method, verify};
use bpc_passport::json::{Json, Node};
use bpc_passport::receipt::SigningKey;
use common::data;

fn vector() -> Json {
    Json::read(&data("vc-vectors/eddsa-jcs-2022.json")).expect("JSON")
}

fn text(vector: &Json, path: &str) -> String {
    Node::root(vector).at(path).text().unwrap_or_else(|| panic!("no {path}")).to_owned()
}

fn value(vector: &Json, path: &str) -> Json {
    Node::root(vector).at(path).value().unwrap_or_else(|| panic!("no {path}")).clone()
}

/// The published test key: multicodec `0x1300` and 32 bytes of seed.
fn key(vector: &Json) -> SigningKey {
    let multibase = text(vector, "/keyPair/privateKeyMultibase");
    let bytes = bs58::decode(&multibase[1..]).into_vec().expect("base58");
    SigningKey::from_seed(bytes.strip_prefix(&[0x80, 0x26]).expect("a seed").try_into().expect("32 bytes"))
}

#[test]
fn the_published_vector_is_reproduced() {
    let vector = vector();
    let key = key(&vector);
    let public = text(&vector, "/keyPair/publicKeyMultibase");
    assert_eq!(did_key(&key.public_key()), format!("did:key:{public}"));
    let method = text(&vector, "/proofConfig/verificationMethod");
    assert_eq!(verification_method(&key.public_key()), method);
    let secured = secure(&value(&vector, "/unsigned"), &text(&vector, "/proofConfig/created"), &method, &key);
    assert_eq!(secured.expect("a secured document"), value(&vector, "/signed"));
    assert_eq!(
        value(&vector, "/unsigned").canonical().expect("canonical").as_str(),
        text(&vector, "/canonDoc")
    );
    assert_eq!(verify(&value(&vector, "/signed")), Ok(key.public_key()));
}

#[test]
fn a_changed_document_or_proof_is_not_believed() {
    let signed = value(&vector(), "/signed").canonical().expect("canonical").as_str().to_owned();
    for (from, to, code) in [
        ("The School of Examples", "The School of Exampled", "SIGNATURE_INVALID"),
        ("2023-02-24T23:36:38Z", "2023-02-24T23:36:39Z", "SIGNATURE_INVALID"),
        (
            "\"proofPurpose\":\"assertionMethod\"",
            "\"proofPurpose\":\"authentication\"",
            "CREDENTIAL_MALFORMED",
        ),
        ("eddsa-jcs-2022", "eddsa-rdfc-2022", "CREDENTIAL_MALFORMED"),
        ("z2HnFSSPPBzR36", "z2HnFSSPPBzR37", "SIGNATURE_INVALID"),
        ("z2HnFSSPPBzR36", "z0HnFSSPPBzR36", "CREDENTIAL_MALFORMED"),
        ("did:key:z6Mkr", "did:web:z6Mkr", "CREDENTIAL_MALFORMED"),
        ("\"proofValue\"", "\"proofvalue\"", "CREDENTIAL_MALFORMED"),
        (
            "credentials/examples/v2\"],\"credentialSubject",
            "credentials/examples/v3\"],\"credentialSubject",
            "CREDENTIAL_MALFORMED",
        ),
    ] {
        let changed = signed.replacen(from, to, 1);
        assert_ne!(changed, signed, "{from}");
        let result = verify(&Json::read(changed.as_bytes()).expect("JSON"));
        assert_eq!(result.expect_err("not believed").code(), code, "{from}");
    }
}

#[test]
fn what_has_a_proof_is_not_secured_again() {
    let vector = vector();
    let again = secure(&value(&vector, "/signed"), "2023-02-24T23:36:38Z", "did:key:x", &key(&vector));
    assert_eq!(again.expect_err("refused").code(), "CREDENTIAL_MALFORMED");
    let fraction = Json::read(br#"{"a":1.5}"#).expect("JSON");
    assert!(secure(&fraction, "2023-02-24T23:36:38Z", "did:key:x", &key(&vector)).is_err());
}

#[test]
fn only_ed25519_keys_are_read_from_a_did() {
    let key = key(&vector()).public_key();
    assert_eq!(key_from_did(&verification_method(&key)), Some(key));
    assert_eq!(key_from_did(&did_key(&key)), Some(key));
    for did in ["", "did:key:", "did:key:z", "did:key:z6Mk", "did:web:example.com", "did:key:zUC7"] {
        assert_eq!(key_from_did(did), None, "{did}");
    }
    assert_eq!(key_from_did(&format!("{}#z6Mkother", did_key(&key))), None);
    assert_eq!(key_from_did(&format!("did:key:z{}", "1".repeat(1_000_000))), None);
}

#[test]
fn canonical_json_agrees_with_the_published_vectors() {
    let vectors = Json::read(&data("vc-vectors/jcs-rfc8785.json")).expect("JSON");
    let mut agreed = Vec::new();
    for (name, case) in Node::root(&vectors).at("/cases").members() {
        let input = case.at("/inputText").text().expect("an input");
        let expected = hex::decode(case.at("/outputHex").text().expect("an output").replace([' ', '\n'], ""))
            .expect("hex");
        match Json::read(input.as_bytes()).expect(name).canonical() {
            Ok(bytes) => {
                assert_eq!(bytes.as_bytes(), expected, "{name}");
                agreed.push(name);
            }
            // Two of the vectors are about fractions and exponents, which have no place here.
            Err(error) => assert!(error.kind.code().starts_with("JSON_"), "{name}: {error}"),
        }
    }
    assert_eq!(agreed, ["arrays", "french", "unicode", "weird"]);
}
