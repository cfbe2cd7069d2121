//! Publishing a version.

use bpc_core::{StreamId, TenantId};
use bpc_worker::{Effects, Engine};
use uuid::Uuid;

use super::events::{PUBLISHED, Published, STREAM};
use super::state::{RuleStatus, rule_version};
use crate::pack::PackError;
use crate::pack::event::draft;

/// Let passports be compiled under a VALIDATED version. Publishing it again changes nothing.
pub async fn publish_rules(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
) -> Result<(), PackError> {
    let version = rule_version(&engine.store, tenant, id).await?;
    match version.status {
        RuleStatus::Published => return Ok(()),
        RuleStatus::Validated => {}
        RuleStatus::Draft => {
            let message = match version.runs.last() {
                None => format!("the tests of {id} have not run yet: run `bpc worker --until-idle`"),
                Some(run) => format!("the tests of {id} do not pass the gate: {}", run.missing.join("; ")),
            };
            return Err(PackError::refused("RULE_TESTS_FAILED", message));
        }
    }
    let drafts = vec![draft(PUBLISHED, &Published {})?];
    let effects = Effects::none().emit(tenant, STREAM, StreamId(id), version.stream_version, drafts);
    engine.perform(tenant, actor, &effects).await?;
    Ok(())
}
