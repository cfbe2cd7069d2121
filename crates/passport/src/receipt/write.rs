//! What a receipt says.

use bpc_core::{CanonicalJson, Hash, TenantId, Timestamp};
use uuid::Uuid;

use crate::hash::sha256;
use crate::json::Json;
use crate::proof::Roots;
use crate::value::{Date, Decimal};

/// The name of the format.
pub const RECEIPT_FORMAT: &str = "BPC-RECEIPT-2";

/// Everything a passport was made from and came to, by id or hash. There is no signature inside: it
/// is over the hash of this.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the format")]
pub struct Receipt {
    pub issued_at: Timestamp,
    pub as_of: Date,
    pub tenant_id: TenantId,
    pub passport_id: Uuid,
    pub passport_version_id: Uuid,
    pub battery_product_id: Uuid,
    /// The version that this one takes the place of; left out if it is the first.
    pub prior_version: Option<Uuid>,
    pub snapshot_id: Uuid,
    pub snapshot_hash: Hash,
    pub salt_commit: Hash,
    pub rule_package_version_id: Uuid,
    pub rules_hash: Hash,
    pub tests_sha256: Hash,
    pub test_run: TestRun,
    pub compiler_build_id: String,
    pub payload_hash: Hash,
    /// The proof root and the roots it is over.
    pub roots: Roots,
    pub verdict_counts: VerdictCounts,
    pub cost: u64,
    pub signing_key_id: String,
}

/// The run that let the rules be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    /// Its seed; written as text, because it may be beyond 2^53.
    pub seed: i64,
    /// How many cases passed.
    pub total: u64,
    /// How many of them were different.
    pub distinct: u64,
    /// Branches that were reached, in percent.
    pub coverage: Decimal,
}

/// How many rules came to which verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the verdicts by name")]
pub struct VerdictCounts {
    pub fail: u64,
    pub not_applicable: u64,
    pub not_yet: u64,
    pub pass: u64,
    pub unknown: u64,
    pub warn: u64,
}

impl Receipt {
    /// The bytes to store.
    #[must_use]
    pub fn canonical(&self) -> CanonicalJson {
        self.json().canonical().expect("a receipt is texts and counts")
    }

    /// What is signed: SHA-256 of the bytes.
    #[must_use]
    pub fn hash(&self) -> Hash {
        sha256(&[self.canonical().as_bytes()])
    }

    fn json(&self) -> Json {
        let id = |id: Uuid| Json::text(id.to_string());
        let hash = |hash: Hash| Json::text(hash.to_string());
        let counts = &self.verdict_counts;
        let mut json = Json::object([
            ("as_of", Json::text(self.as_of.to_string())),
            ("battery_product_id", id(self.battery_product_id)),
            ("compiler_build_id", Json::text(self.compiler_build_id.as_str())),
            ("cost", Json::number(self.cost)),
            ("facts_root", hash(self.roots.facts)),
            ("issued_at", Json::text(self.issued_at.to_string())),
            ("passport_id", id(self.passport_id)),
            ("passport_version_id", id(self.passport_version_id)),
            ("payload_hash", hash(self.payload_hash)),
            ("proof_root_hash", hash(self.roots.proof)),
            ("receipt_version", Json::text(RECEIPT_FORMAT)),
            ("results_root", hash(self.roots.results)),
            ("rule_package_version_id", id(self.rule_package_version_id)),
            ("rules_hash", hash(self.rules_hash)),
            ("salt_commit", hash(self.salt_commit)),
            ("section_roots", Json::Array(self.roots.sections.iter().map(|root| hash(*root)).collect())),
            ("signature_alg", Json::text("ED25519")),
            ("signing_key_id", Json::text(self.signing_key_id.as_str())),
            ("snapshot_hash", hash(self.snapshot_hash)),
            ("snapshot_id", id(self.snapshot_id)),
            ("tenant_id", Json::text(self.tenant_id.to_string())),
            (
                "test_run",
                Json::object([
                    ("coverage", Json::text(self.test_run.coverage.to_string())),
                    ("distinct", Json::number(self.test_run.distinct)),
                    ("seed", Json::text(self.test_run.seed.to_string())),
                    ("total", Json::number(self.test_run.total)),
                ]),
            ),
            ("tests_sha256", hash(self.tests_sha256)),
            (
                "verdict_counts",
                Json::object([
                    ("fail", Json::number(counts.fail)),
                    ("not_applicable", Json::number(counts.not_applicable)),
                    ("not_yet", Json::number(counts.not_yet)),
                    ("pass", Json::number(counts.pass)),
                    ("unknown", Json::number(counts.unknown)),
                    ("warn", Json::number(counts.warn)),
                ]),
            ),
        ]);
        if let (Some(prior), Json::Object(members)) = (self.prior_version, &mut json) {
            members.insert("prior_version".to_owned(), id(prior));
        }
        json
    }
}
