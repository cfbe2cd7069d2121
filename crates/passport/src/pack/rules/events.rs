//! What happens to a version of a rule package.

use bpc_core::Hash;
use serde::{Deserialize, Serialize};

use crate::pack::event::hex_hash;

pub(in crate::pack) const STREAM: &str = "RulePackageVersion";
pub(in crate::pack) const ADDED: &str = "RULES_ADDED";
pub(in crate::pack) const TESTS_RUN: &str = "TESTS_RUN";
pub(in crate::pack) const PUBLISHED: &str = "RULES_PUBLISHED";
pub(in crate::pack) const ALL: [&str; 3] = [ADDED, TESTS_RUN, PUBLISHED];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Added {
    pub package: String,
    pub version: String,
    /// The files, a blob.
    #[serde(with = "hex_hash")]
    pub sources: Hash,
    /// SHA-256 over names and texts of the files, tests included.
    #[serde(with = "hex_hash")]
    pub source_hash: Hash,
    /// SHA-256 of the checked program.
    #[serde(with = "hex_hash")]
    pub rules_hash: Hash,
}

/// One run of all tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestsRun {
    /// What chance came from; text, because it may be beyond 2^53.
    pub seed: String,
    /// Cases that passed.
    pub total: u64,
    /// How many of them were different.
    pub distinct: u64,
    /// Cases that failed.
    pub failed: u64,
    /// Branches that were reached, in percent.
    pub coverage: String,
    /// Wrong packages that the tests noticed, in percent.
    pub mutation_score: String,
    /// Does the gate let it pass?
    pub passed: bool,
    /// What the gate misses, one line each.
    pub missing: Vec<String>,
    /// The whole report, a blob.
    #[serde(with = "hex_hash")]
    pub report: Hash,
}

/// Nothing but that it happened.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Published {}
