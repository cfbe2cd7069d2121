//! Trees of salted hashes, and the snapshots whose key salts them.

use bpc_core::{CanonicalJson, Hash, TenantId};
use bpc_passport::facts::{Fact, FactId, FactType, Fields, Value};
use bpc_passport::json::Json;
use bpc_passport::proof::{Attribute, Point, ProofTree, RuleResult, SaltKey};
use bpc_passport::snapshot::SealedSnapshot;
use bpc_passport::value::{Quantity, Unit};
use uuid::Uuid;

const VERSION: &str = "550e8400-e29b-41d4-a716-446655440000";

fn key() -> SaltKey {
    SaltKey::new(std::array::from_fn(|index| index as u8))
}

fn canonical(text: &str) -> CanonicalJson {
    Json::read(text.as_bytes()).expect("JSON").canonical().expect("canonical")
}

fn fact(fact_type: &'static str, name: &str, payload: &str) -> FactId {
    use sha2::{Digest, Sha256};
    let payload_hash = Hash(Sha256::digest(canonical(payload).as_bytes()).into());
    FactId { fact_type, key: name.to_owned(), schema_version: 1, payload_hash }
}

fn attribute(point: Point, pointer: &str, value: &str) -> Attribute {
    Attribute { pointer: pointer.to_owned(), point, value: canonical(value) }
}

fn result(rule: &str, verdict: &str) -> RuleResult {
    let object = canonical(&format!(r#"{{"rule":"{rule}","verdict":"{verdict}"}}"#));
    RuleResult { rule: rule.to_owned(), object }
}

/// The worked vector of the format.
fn worked() -> (Vec<FactId>, Vec<RuleResult>, Vec<Attribute>) {
    (
        vec![
            fact("Battery", "battery:SKU-1", r#"{"category":"ev","rated_capacity":{"u":"Ah","v":"190"}}"#),
            fact("PCF", "pcf:SKU-1/PLANT-A", r#"{"total":{"u":"kgCO2e/kWh","v":"65"}}"#),
        ],
        vec![result("EU.PCF.STAGE_SUM", "FAIL"), result("EU.SCOPE.77_1", "PASS")],
        vec![
            attribute(Point::One, "/battery/category", r#""ev""#),
            attribute(Point::One, "/battery/rated_capacity", r#"{"u":"Ah","v":"190"}"#),
            attribute(Point::Four, "/state/status", r#""original""#),
        ],
    )
}

#[test]
fn the_worked_vector_comes_out() {
    let (facts, results, attributes) = worked();
    let roots = ProofTree::new(&key(), VERSION, &facts, &results, &attributes).roots;
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(roots.facts.to_string(), "4d1f01e97c493d9c5b0fb43d2f5f3d20b9d11f9ed1c9c280d458d7bd7b88006d");
    assert_eq!(roots.results.to_string(), "5ff91d0a7f598f8f0412da40191dc5fd63d58f7967ade13426d88462aabcb30b");
    assert_eq!(
        roots.sections.map(|root| root.to_string()),
        [
            "1699db7ef8ddefcf67dec95cb0a45247d3a5eede5155b5fe743e6ff9dd5f7203",
            empty,
            empty,
            "01f54af8a30b2f3ab0db803cd071878af9b5cbf62a456b478fb504a72880e74f",
        ]
    );
    assert_eq!(roots.proof.to_string(), "1e97eee95a9c9bbde89bb30662923956119bff7ce5416dc376ab27e4cd311826");
}

#[test]
fn the_order_of_entries_does_not_matter() {
    let (mut facts, mut results, mut attributes) = worked();
    let one = ProofTree::new(&key(), VERSION, &facts, &results, &attributes);
    facts.reverse();
    results.reverse();
    attributes.reverse();
    assert_eq!(ProofTree::new(&key(), VERSION, &facts, &results, &attributes), one);
}

#[test]
fn every_change_changes_the_root() {
    let (facts, results, attributes) = worked();
    let root =
        |key: &SaltKey, version: &str, facts: &[FactId], results: &[RuleResult], attributes: &[Attribute]| {
            ProofTree::new(key, version, facts, results, attributes).roots.proof
        };
    let mut roots = vec![root(&key(), VERSION, &facts, &results, &attributes)];
    roots.push(root(&SaltKey::new([7; 32]), VERSION, &facts, &results, &attributes));
    roots.push(root(&key(), "550e8400-e29b-41d4-a716-446655440001", &facts, &results, &attributes));
    roots.push(root(&key(), VERSION, &facts[..1], &results, &attributes));
    roots.push(root(&key(), VERSION, &facts, &results[1..], &attributes));
    roots.push(root(&key(), VERSION, &facts, &results, &attributes[1..]));
    let mut moved = attributes.clone();
    moved[0].point = Point::Two;
    roots.push(root(&key(), VERSION, &facts, &results, &moved));
    roots.sort();
    roots.dedup();
    assert_eq!(roots.len(), 7);
}

fn renewable(sku: &str, share: i32) -> Fact {
    let share = Value::Qty(Quantity::new(share.into(), Unit::Percent));
    Fact::new(FactType::Renewable, format!("renewable:{sku}/P/2024"), Fields::from([("share", share)]))
        .expect("a fact")
}

fn seal(facts: Vec<Fact>) -> Result<SealedSnapshot, Vec<bpc_passport::snapshot::SnapshotConflict>> {
    SealedSnapshot::seal(TenantId::from_slug("default"), Uuid::from_u128(1), facts, key())
}

#[test]
fn a_snapshot_has_one_hash_whatever_the_order_of_its_facts() {
    let one = seal(vec![renewable("A", 1), renewable("B", 2), renewable("A", 1)]).expect("a snapshot");
    let other = seal(vec![renewable("B", 2), renewable("A", 1)]).expect("a snapshot");
    assert_eq!(one, other);
    assert_eq!(one.facts().len(), 2);
    assert_eq!(
        one.canonical().as_str(),
        format!(
            r#"{{"format":"BPC-SNAPSHOT-1","items":[{{"h":"{}","k":"renewable:A/P/2024","s":1,"t":"Renewable"}},{{"h":"{}","k":"renewable:B/P/2024","s":1,"t":"Renewable"}}],"salt_commit":"ad4d63e2f9206dcb4c82e6e047970eb4a59b9f1de7607c1b5bbb48d2d6c1a2d8","snapshot_id":"00000000-0000-0000-0000-000000000001","tenant_id":"a8980e3f-23a4-8e8b-b05c-8734a6337d35"}}"#,
            renewable("A", 1).payload_hash(),
            renewable("B", 2).payload_hash(),
        )
    );
}

#[test]
fn two_versions_of_a_fact_do_not_go_into_one_snapshot() {
    let conflicts = seal(vec![renewable("A", 1), renewable("A", 2), renewable("B", 1)]).expect_err("refused");
    assert_eq!(conflicts.len(), 1);
    assert_eq!(
        (conflicts[0].code(), conflicts[0].one.key.as_str()),
        ("SNAPSHOT_CONFLICT", "renewable:A/P/2024")
    );
}

#[test]
fn an_empty_snapshot_can_be_sealed() {
    assert!(seal(Vec::new()).expect("a snapshot").facts().is_empty());
}

#[test]
fn a_snapshot_reopens_only_as_what_it_was_sealed_as() {
    let sealed = seal(vec![renewable("A", 1)]).expect("a snapshot");
    let reopen = |facts: Vec<Fact>, key: SaltKey| {
        SealedSnapshot::reopen(TenantId::from_slug("default"), Uuid::from_u128(1), facts, key, sealed.hash())
    };
    assert_eq!(reopen(vec![renewable("A", 1)], key()).as_ref(), Ok(&sealed));
    for changed in [
        reopen(vec![renewable("A", 2)], key()),
        reopen(Vec::new(), key()),
        reopen(vec![renewable("A", 1)], SaltKey::new([0; 32])),
    ] {
        assert_eq!(changed.expect_err("refused").code(), "REPLAY_MISMATCH");
    }
}
