//! One compilation, from inputs to receipt.

use std::collections::BTreeSet;
use std::fmt;

use bpc_core::canonical::write_string;
use bpc_core::{CanonicalJson, Hash};
use uuid::Uuid;

use super::error::{BlockedRule, CompileError};
use super::input::Input;
use super::leaves::SnapshotLeaves;
use super::reads::Reads;
use super::{MAX_PAYLOAD_BYTES, MAX_PROOF_BYTES, MAX_RECEIPT_BYTES, payload, proof_document};
use crate::facts::Access;
use crate::hash::sha256;
use crate::json::Json;
use crate::proof::{Attribute, Point, ProofTree, RuleResult};
use crate::receipt::{Receipt, VerdictCounts, passport_version_id};
use crate::rules::{Context, Results, Verdict, evaluate};

/// A passport version, not yet signed.
#[derive(Clone)]
pub struct Compiled {
    /// Its id.
    pub passport_version_id: Uuid,
    /// What the passport says: the bytes to store.
    pub payload: CanonicalJson,
    /// SHA-256 of the payload.
    pub payload_hash: Hash,
    /// What proves it: the bytes to store.
    pub proof: CanonicalJson,
    /// The receipt.
    pub receipt: Receipt,
    /// The receipt's bytes to store.
    pub receipt_bytes: CanonicalJson,
    /// What is signed.
    pub receipt_hash: Hash,
    /// The tree, to make bundles from.
    pub tree: ProofTree,
    /// What each result's rule read, in the order of the tree.
    pub reads: Vec<BTreeSet<Access>>,
    /// Verdicts, attributes and how they were found.
    pub results: Results,
}

/// Compiles a passport version.
///
/// # Errors
///
/// If a `must` rule fails or cannot be judged, if the rules cannot be evaluated over these facts, or
/// if one of the documents would be too large.
pub fn compile(input: &Input<'_>) -> Result<Compiled, CompileError> {
    let snapshot = input.snapshot;
    let leaves = SnapshotLeaves::new(snapshot);
    let context = Context::new(input.sku, input.as_of, input.build_id, &leaves);
    let results = evaluate(input.rules.checked, snapshot.facts(), context)?;
    let blocking: Vec<BlockedRule> = results.blocking().map(blocked).collect();
    if !blocking.is_empty() {
        return Err(CompileError::Blocked { rules: blocking, results: Box::new(results) });
    }

    let rules_hash = input.rules.checked.rules_hash();
    let version = passport_version_id(
        input.passport_id,
        snapshot.hash(),
        rules_hash,
        input.build_id,
        input.issued_at,
        input.as_of,
    );
    let attributes = attributes(&results);
    let payload = within(payload_bytes(input, version, &attributes)?, MAX_PAYLOAD_BYTES)
        .map_err(|found| CompileError::PayloadTooLarge { found })?;
    let payload_hash = sha256(&[payload.as_bytes()]);

    let facts = leaves.facts_by_hash();
    let reads = Reads::new(&results.trace, &facts);
    let reads: Vec<BTreeSet<Access>> = results.rules.iter().map(|rule| reads.of(rule.trace)).collect();
    let proved: Vec<RuleResult> = results
        .rules
        .iter()
        .map(|rule| RuleResult { rule: rule.rule.clone(), object: rule.object() })
        .collect();
    let name = version.to_string();
    let tree = ProofTree::over(snapshot.salt_key(), &name, leaves.into_leaves(), &proved, &attributes);
    let proof = within(proof_document::write(&name, &tree, &reads, &results), MAX_PROOF_BYTES)
        .map_err(|found| CompileError::ProofTooLarge { found })?;

    let receipt = Receipt {
        issued_at: input.issued_at,
        as_of: input.as_of,
        tenant_id: input.tenant_id,
        passport_id: input.passport_id,
        passport_version_id: version,
        battery_product_id: input.battery_product_id,
        prior_version: input.prior_version,
        snapshot_id: snapshot.id(),
        snapshot_hash: snapshot.hash(),
        salt_commit: snapshot.salt_key().commitment(),
        rule_package_version_id: input.rules.version_id,
        rules_hash,
        tests_sha256: input.rules.tests_sha256,
        test_run: input.rules.test_run.clone(),
        compiler_build_id: input.build_id.to_owned(),
        payload_hash,
        roots: tree.roots,
        verdict_counts: counts(&results),
        cost: results.cost,
        signing_key_id: input.signing_key_id.to_owned(),
    };
    let receipt_bytes = within(receipt.canonical(), MAX_RECEIPT_BYTES)
        .map_err(|found| CompileError::ReceiptTooLarge { found })?;
    let receipt_hash = sha256(&[receipt_bytes.as_bytes()]);
    Ok(Compiled {
        passport_version_id: version,
        payload,
        payload_hash,
        proof,
        receipt,
        receipt_bytes,
        receipt_hash,
        tree,
        reads,
        results,
    })
}

impl Compiled {
    /// The attributes that everybody may see, each at its pointer.
    ///
    /// # Panics
    ///
    /// Never: all attributes fitted into one payload, so some of them do.
    #[must_use]
    pub fn public_attributes(&self) -> Json {
        let attributes = attributes(&self.results);
        let public = attributes.iter().filter(|attribute| attribute.point == Point::One);
        let mut bytes = Vec::new();
        payload::write_nested(public, &mut bytes).expect("a part of a payload");
        Json::from_canonical(&CanonicalJson::from_trusted(bytes))
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compiled({}, receipt {})", self.passport_version_id, self.receipt_hash)
    }
}

/// What is displayed, sorted by pointer.
fn attributes(results: &Results) -> Vec<Attribute> {
    let shown = results.emissions.iter().filter_map(|emission| {
        let point = Point::from_number(emission.point.into())?;
        let value = emission.shown()?.clone();
        Some(Attribute { pointer: emission.pointer.clone(), point, value })
    });
    shown.collect()
}

fn payload_bytes(
    input: &Input<'_>,
    version: Uuid,
    attributes: &[Attribute],
) -> Result<CanonicalJson, CompileError> {
    let mut out = Vec::with_capacity(8 * 1024);
    let texts = |out: &mut Vec<u8>, members: &[(&str, String)]| {
        for (name, text) in members {
            out.extend_from_slice(name.as_bytes());
            write_string(text, out);
        }
    };
    let product = input.battery_product_id.to_string();
    texts(&mut out, &[("{\"as_of\":", input.as_of.to_string()), (",\"battery_product_id\":", product)]);
    out.extend_from_slice(b",\"data\":");
    payload::write_nested(attributes, &mut out)?;
    texts(
        &mut out,
        &[
            (",\"format\":", "BPC-PASSPORT-1".to_owned()),
            (",\"issued_at\":", input.issued_at.to_string()),
            (",\"passport_id\":", input.passport_id.to_string()),
            (",\"passport_version_id\":", version.to_string()),
        ],
    );
    out.push(b'}');
    Ok(CanonicalJson::from_trusted(out))
}

fn within(bytes: CanonicalJson, limit: usize) -> Result<CanonicalJson, usize> {
    if bytes.len() <= limit { Ok(bytes) } else { Err(bytes.len()) }
}

fn counts(results: &Results) -> VerdictCounts {
    let mut counts = VerdictCounts::default();
    for (verdict, count) in results.verdict_counts() {
        let count = count as u64;
        match verdict {
            Verdict::Pass => counts.pass = count,
            Verdict::NotApplicable => counts.not_applicable = count,
            Verdict::NotYet => counts.not_yet = count,
            Verdict::Warn => counts.warn = count,
            Verdict::Unknown => counts.unknown = count,
            Verdict::Fail => counts.fail = count,
        }
    }
    counts
}

fn blocked(rule: &crate::rules::RuleResult) -> BlockedRule {
    BlockedRule {
        rule: rule.rule.clone(),
        verdict: rule.outcome.verdict,
        code: rule.outcome.code.clone(),
        message: rule.outcome.message.clone(),
        missing: rule.outcome.missing.clone(),
        cites: rule.cites.clone(),
    }
}
