//! A small passport, made by hand: what disclosure is tested on.

use std::collections::BTreeSet;

use bpc_core::{CanonicalJson, Hash, TenantId};
use bpc_passport::disclosure::{Bundle, Role, SignedReceipt};
use bpc_passport::facts::{Access, FactId};
use bpc_passport::json::Json;
use bpc_passport::proof::{Attribute, Point, ProofTree, RuleResult, SaltKey};
use bpc_passport::receipt::{Receipt, SigningKey, TestRun, VerdictCounts, sign};
use uuid::Uuid;

/// Its id.
pub const VERSION: &str = "550e8400-e29b-41d4-a716-446655440000";

fn canonical(text: &str) -> CanonicalJson {
    Json::read(text.as_bytes()).expect("JSON").canonical().expect("canonical")
}

pub fn tree() -> ProofTree {
    let fact = |key: &str| FactId {
        fact_type: "Battery",
        key: key.to_owned(),
        schema_version: 1,
        payload_hash: Hash([7; 32]),
    };
    let attribute = |point: Point, pointer: &str, value: &str| Attribute {
        pointer: pointer.to_owned(),
        point,
        value: canonical(value),
    };
    let result = |rule: &str, verdict: &str| RuleResult {
        rule: rule.to_owned(),
        object: canonical(&format!(r#"{{"rule":"{rule}","verdict":"{verdict}"}}"#)),
    };
    ProofTree::new(
        &SaltKey::new([9; 32]),
        VERSION,
        &[fact("battery:A"), fact("battery:B")],
        &[result("EU.A", "PASS"), result("EU.B", "WARN"), result("EU.C", "PASS")],
        &[
            attribute(Point::One, "/battery/category", r#""ev""#),
            attribute(Point::One, "/battery/mass", r#"{"u":"kg","v":"450"}"#),
            attribute(Point::One, "/battery/model", r#""VD-75""#),
            attribute(Point::Two, "/composition/cathode", r#""LiNiMnCoO2""#),
            attribute(Point::Three, "/tests/report", r#""https://example.com/report""#),
            attribute(Point::Four, "/state/status", r#""original""#),
        ],
    )
}

/// What the three rules read.
pub fn reads() -> Vec<BTreeSet<Access>> {
    vec![
        BTreeSet::from([Access::Public]),
        BTreeSet::from([Access::Public, Access::Restricted]),
        BTreeSet::from([Access::Interest]),
    ]
}

pub fn key() -> SigningKey {
    SigningKey::from_seed(&[3; 32])
}

pub fn receipt(tree: &ProofTree) -> Receipt {
    Receipt {
        issued_at: "2027-02-18T08:00:00.000000Z".parse().expect("a moment"),
        as_of: "2027-02-18".parse().expect("a day"),
        tenant_id: TenantId::from_slug("default"),
        passport_id: Uuid::from_u128(1),
        passport_version_id: VERSION.parse().expect("an id"),
        battery_product_id: Uuid::from_u128(2),
        prior_version: None,
        snapshot_id: Uuid::from_u128(3),
        snapshot_hash: Hash([4; 32]),
        salt_commit: SaltKey::new([9; 32]).commitment(),
        rule_package_version_id: Uuid::from_u128(5),
        rules_hash: Hash([6; 32]),
        tests_sha256: Hash([7; 32]),
        test_run: TestRun {
            seed: i64::MIN,
            total: 612,
            distinct: 600,
            coverage: "100".parse().expect("a number"),
        },
        compiler_build_id: "bpc-0.1.0".to_owned(),
        payload_hash: Hash([8; 32]),
        roots: tree.roots,
        verdict_counts: VerdictCounts { pass: 2, warn: 1, ..VerdictCounts::default() },
        cost: 1234,
        signing_key_id: key().id(),
    }
}

pub fn signed(tree: &ProofTree) -> SignedReceipt {
    let receipt = receipt(tree);
    let signature = sign(&receipt.hash(), &receipt.signing_key_id, &key()).expect("a signature");
    SignedReceipt { receipt: receipt.canonical(), signature, public_key: key().public_key() }
}

pub fn bundle(role: Role) -> String {
    let tree = tree();
    Bundle::new(role, &signed(&tree), &tree, &reads()).canonical().as_str().to_owned()
}
