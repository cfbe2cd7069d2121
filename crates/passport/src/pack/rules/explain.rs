//! The text of one rule.

use bpc_core::TenantId;
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

use super::library::{checked, read};
use super::state::rule_version;
use crate::pack::PackError;
use crate::pack::event::blob;

/// Where a rule stands in the files of its package, and how it reads there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// File and line.
    pub place: String,
    /// The text.
    pub text: String,
    /// The law it follows from.
    pub cites: Vec<String>,
}

/// The text of a rule, from the files as they were added.
pub async fn explain_rule(
    store: &Store,
    tenant: TenantId,
    id: Uuid,
    rule: &str,
) -> Result<RuleText, PackError> {
    let version = rule_version(store, tenant, id).await?;
    let sources = read(&blob(store, version.sources).await?)
        .ok_or_else(|| StoreError::Damaged(format!("files of rule package version {id}")))?;
    let checked = checked(&sources)?;
    let rules = &checked.package().rules;
    let Some(found) = rules.iter().find(|it| it.id.text == rule) else {
        let names: Vec<&str> = rules.iter().map(|it| it.id.text.as_str()).collect();
        let message = format!("the package has no rule {rule:?}; it has {}", names.join(", "));
        return Err(PackError::refused("VALIDATION_ERROR", message));
    };
    let place = sources.place(found.span);
    Ok(RuleText {
        place: format!("{}:{}", place.file, place.line),
        text: sources.text(found.span).to_owned(),
        cites: found.cites.clone(),
    })
}
