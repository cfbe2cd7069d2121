//! What would change if other rules were in force: in the rules, and for each passport.

use std::sync::Arc;

use bpc_core::TenantId;
use bpc_worker::Store;
use uuid::Uuid;

use super::input::day;
use super::state::passport_version;
use crate::pack::rules::{Library, rule_version};
use crate::pack::snapshot::{reopen, snapshot};
use crate::pack::{PackError, Settings};
use crate::rules::diff::{Diff, OutcomeDiff};
use crate::rules::test::PlainLeaves;
use crate::rules::{Checked, Context, diff, diff_outcomes};

/// Two versions of rules side by side. Neither has to be published: this is what to look at before it is.
#[derive(Clone, Debug)]
pub struct RulesComparison {
    tenant: TenantId,
    before: Arc<Checked>,
    after: Arc<Checked>,
}

impl RulesComparison {
    /// Of two versions of a tenant.
    pub async fn new(store: &Store, tenant: TenantId, before: Uuid, after: Uuid) -> Result<Self, PackError> {
        let library = Library::default();
        let before = library.checked(store, &rule_version(store, tenant, before).await?).await?;
        let after = library.checked(store, &rule_version(store, tenant, after).await?).await?;
        Ok(Self { tenant, before, after })
    }

    /// Which rules, tables, definitions and attributes are not the same.
    pub fn items(&self) -> Diff {
        diff(&self.before, &self.after)
    }

    /// What they say differently about a passport version, on the day it was judged on. Nothing is written.
    pub async fn outcomes(
        &self,
        store: &Store,
        settings: &Settings,
        id: Uuid,
    ) -> Result<OutcomeDiff, PackError> {
        let made = passport_version(store, self.tenant, id).await?.compiled;
        let snapshot = snapshot(store, self.tenant, made.snapshot_id).await?;
        let sealed = reopen(store, self.tenant, settings, &snapshot).await?;
        let context = Context::new(&made.sku, day(&made.as_of)?, &made.build_id, &PlainLeaves);
        diff_outcomes(&self.before, &self.after, sealed.facts(), context)
            .map_err(|error| PackError::refused(error.code(), error.to_string()))
    }
}
