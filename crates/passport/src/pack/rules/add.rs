//! Adding a version of a rule package, and having it tested.

use bpc_core::{StreamId, TenantId, Version};
use bpc_worker::{Effects, Engine, Enqueue, JobId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::events::{ADDED, Added, STREAM};
use super::library::{checked, written};
use super::state::{find, rule_version};
use crate::pack::PackError;
use crate::pack::event::draft;
use crate::rules::{Sources, sources_hash};

/// A version that was added.
#[derive(Clone, Debug)]
pub struct AddedRules {
    /// Its id.
    pub id: Uuid,
    /// Name of the package.
    pub package: String,
    /// Version of the package.
    pub version: String,
    /// The job that runs its tests; none if it was here already.
    pub job_id: Option<JobId>,
    /// False if the same text was here already.
    pub created: bool,
    /// What is worth a thought, with the source.
    pub warnings: String,
}

/// Which version, and what chance comes from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestPayload {
    /// Its id.
    pub rule_package_version_id: Uuid,
    /// Any number.
    pub seed: i64,
}

/// Name of the job type that runs tests.
pub(super) const RUN_RULE_TESTS: &str = "RUN_RULE_TESTS";

/// Add a package as a draft and enqueue the run of its tests, in one transaction. A package with an error
/// is refused with every error and its source.
pub async fn add_rules(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    sources: &Sources,
    seed: i64,
) -> Result<AddedRules, PackError> {
    let checked = checked(sources)?;
    let source_hash = sources_hash(sources);
    let id = StreamId::derived("rule-package-version", &format!("{tenant}/{source_hash}"));
    let mut added = AddedRules {
        id: id.0,
        package: checked.name().to_owned(),
        version: checked.version().to_owned(),
        job_id: None,
        created: false,
        warnings: checked.warnings().render(sources, false),
    };
    if find(&engine.store, tenant, id.0).await?.is_some() {
        return Ok(added);
    }
    let (effects, blob) = Effects::none().blob(written(sources));
    let event = Added {
        package: added.package.clone(),
        version: added.version.clone(),
        sources: blob,
        source_hash,
        rules_hash: checked.rules_hash(),
    };
    let effects = effects.emit(tenant, STREAM, id, Version::NONE, vec![draft(ADDED, &event)?]);
    match engine.perform(tenant, actor, &effects.enqueue(job(id.0, seed)?)).await {
        Ok(jobs) => {
            (added.created, added.job_id) = (true, jobs.first().copied());
            Ok(added)
        }
        // Somebody added the same at the same time.
        Err(error) if error.is_conflict() => Ok(added),
        Err(error) => Err(error.into()),
    }
}

/// Run the tests of a version with another seed.
pub async fn test_rules(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
    seed: i64,
) -> Result<JobId, PackError> {
    rule_version(&engine.store, tenant, id).await?;
    Ok(engine.enqueue(tenant, actor, job(id, seed)?).await?.job_id)
}

fn job(id: Uuid, seed: i64) -> Result<Enqueue, PackError> {
    let payload = TestPayload { rule_package_version_id: id, seed };
    Ok(Enqueue::new(RUN_RULE_TESTS, &payload)?.key(format!("tests-{id}-{seed}")))
}
