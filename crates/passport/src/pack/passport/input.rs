//! What a version is compiled from, read from the log.

use std::sync::Arc;

use bpc_core::TenantId;
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

use super::order::published;
use crate::compile::{Input, Rules};
use crate::pack::rules::{Library, RuleVersion, rule_version};
use crate::pack::snapshot::{reopen, snapshot};
use crate::pack::{PackError, Settings};
use crate::receipt::TestRun;
use crate::rules::Checked;
use crate::snapshot::SealedSnapshot;
use crate::value::Date;

/// Facts and rules, whole and checked.
pub(super) struct Materials {
    pub(super) snapshot: SealedSnapshot,
    pub(super) rules: RuleVersion,
    pub(super) checked: Arc<Checked>,
    pub(super) test_run: TestRun,
}

impl Materials {
    pub(super) async fn read(
        store: &Store,
        tenant: TenantId,
        settings: &Settings,
        library: &Library,
        snapshot_id: Uuid,
        rule_version_id: Uuid,
    ) -> Result<Self, PackError> {
        let snapshot = snapshot(store, tenant, snapshot_id).await?;
        let snapshot = reopen(store, tenant, settings, &snapshot).await?;
        let rules = rule_version(store, tenant, rule_version_id).await?;
        published(&rules)?;
        let checked = library.checked(store, &rules).await?;
        let damaged = || StoreError::Damaged(format!("test run of rule package version {}", rules.id));
        let run = rules.passed_run().ok_or_else(damaged)?;
        let test_run = TestRun {
            seed: run.seed.parse().map_err(|_| damaged())?,
            total: run.total,
            distinct: run.distinct,
            coverage: run.coverage.parse().map_err(|_| damaged())?,
        };
        Ok(Materials { snapshot, rules, checked, test_run })
    }

    /// The compiler's view of the rules.
    pub(super) fn rules(&self) -> Rules<'_> {
        Rules {
            version_id: self.rules.id,
            checked: &self.checked,
            tests_sha256: self.rules.source_hash,
            test_run: &self.test_run,
        }
    }

    /// The input of a version that was compiled before, judged on that day.
    pub(super) fn input<'a>(
        &'a self,
        tenant: TenantId,
        compiled: &'a super::events::Compiled,
        as_of: Date,
    ) -> Input<'a> {
        Input {
            tenant_id: tenant,
            passport_id: compiled.passport_id,
            battery_product_id: compiled.product_id,
            sku: &compiled.sku,
            prior_version: compiled.prior_version,
            snapshot: &self.snapshot,
            rules: self.rules(),
            as_of,
            issued_at: compiled.issued_at,
            build_id: &compiled.build_id,
            signing_key_id: &compiled.signing_key_id,
        }
    }
}

/// A day as it was written into an event or a job.
pub(super) fn day(text: &str) -> Result<Date, PackError> {
    text.parse().map_err(|_| {
        PackError::refused("VALIDATION_ERROR", format!("as_of {text:?} is no day such as 2027-02-18"))
    })
}
