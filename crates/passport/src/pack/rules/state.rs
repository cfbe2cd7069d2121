//! What a version of a rule package has come to.

use std::fmt;

use bpc_core::{Hash, StreamId, TenantId, Timestamp, Version};
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

use super::events::{ADDED, Added, PUBLISHED, TESTS_RUN, TestsRun};
use crate::pack::PackError;
use crate::pack::event::{payload, stream};

/// How far a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleStatus {
    /// Its text is here and checked.
    Draft,
    /// Its tests passed the gate.
    Validated,
    /// Passports can be compiled under it.
    Published,
}

impl RuleStatus {
    /// As events and views spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleStatus::Draft => "DRAFT",
            RuleStatus::Validated => "VALIDATED",
            RuleStatus::Published => "PUBLISHED",
        }
    }
}

impl fmt::Display for RuleStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A version, folded from its stream.
#[derive(Clone, Debug)]
pub struct RuleVersion {
    /// Its id, and that of its stream.
    pub id: Uuid,
    /// How many events that is.
    pub stream_version: Version,
    /// Name of the package.
    pub package: String,
    /// Version of the package.
    pub version: String,
    /// How far it is.
    pub status: RuleStatus,
    /// SHA-256 of the checked program.
    pub rules_hash: Hash,
    /// SHA-256 over the files, tests included.
    pub source_hash: Hash,
    /// Since when.
    pub created_at: Timestamp,
    /// Runs of its tests, oldest first.
    pub runs: Vec<TestsRun>,
    pub(in crate::pack) sources: Hash,
}

impl RuleVersion {
    /// The run that let it be published: the last that passed.
    pub fn passed_run(&self) -> Option<&TestsRun> {
        self.runs.iter().rev().find(|run| run.passed)
    }
}

/// A version by id.
pub async fn rule_version(store: &Store, tenant: TenantId, id: Uuid) -> Result<RuleVersion, PackError> {
    find(store, tenant, id).await?.ok_or_else(|| {
        let message = format!("there is no rule package version {id}: see `bpc rules list`");
        PackError::refused("RULE_PKG_NOT_FOUND", message)
    })
}

pub(super) async fn find(
    store: &Store,
    tenant: TenantId,
    id: Uuid,
) -> Result<Option<RuleVersion>, StoreError> {
    let (events, stream_version) = stream(store, tenant, StreamId(id)).await?;
    let mut found: Option<RuleVersion> = None;
    for event in &events {
        let envelope = event.envelope()?;
        match (&*envelope.event_type, &mut found) {
            (ADDED, None) => {
                let added: Added = payload(&envelope)?;
                found = Some(RuleVersion {
                    id,
                    stream_version,
                    package: added.package,
                    version: added.version,
                    status: RuleStatus::Draft,
                    rules_hash: added.rules_hash,
                    source_hash: added.source_hash,
                    created_at: envelope.occurred_at,
                    runs: Vec::new(),
                    sources: added.sources,
                });
            }
            (TESTS_RUN, Some(version)) => {
                let run: TestsRun = payload(&envelope)?;
                if run.passed && version.status == RuleStatus::Draft {
                    version.status = RuleStatus::Validated;
                }
                version.runs.push(run);
            }
            (PUBLISHED, Some(version)) => version.status = RuleStatus::Published,
            _ => {}
        }
    }
    Ok(found)
}
