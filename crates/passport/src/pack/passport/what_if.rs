//! The same facts under another day or other rules.

use bpc_core::TenantId;
use bpc_worker::Store;
use uuid::Uuid;

use super::input::{Materials, day};
use super::state::passport_version;
use crate::compile::{CompileError, compile};
use crate::pack::rules::Library;
use crate::pack::{PackError, Settings};
use crate::rules::Results;
use crate::value::Date;

/// What a compilation found, whether or not it made a passport.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// Verdicts and attributes.
    pub results: Results,
    /// Would there be a passport?
    pub compiles: bool,
}

/// A version as it is, and as it would be on another day, or under other published rules. Nothing is written.
pub async fn what_if(
    store: &Store,
    tenant: TenantId,
    settings: &Settings,
    id: Uuid,
    as_of: Option<Date>,
    rules: Option<Uuid>,
) -> Result<(Compilation, Compilation), PackError> {
    let version = passport_version(store, tenant, id).await?;
    let made = &version.compiled;
    let (library, today) = (Library::default(), day(&made.as_of)?);
    let own = made.rule_package_version_id;
    let before = Materials::read(store, tenant, settings, &library, made.snapshot_id, own).await?;
    let other = rules.unwrap_or(own);
    let after = Materials::read(store, tenant, settings, &library, made.snapshot_id, other).await?;
    let before = found(compile(&before.input(tenant, made, today)))?;
    let after = found(compile(&after.input(tenant, made, as_of.unwrap_or(today))))?;
    Ok((before, after))
}

fn found(compiled: Result<crate::compile::Compiled, CompileError>) -> Result<Compilation, PackError> {
    match compiled {
        Ok(compiled) => Ok(Compilation { results: compiled.results, compiles: true }),
        Err(CompileError::Blocked { results, .. }) => Ok(Compilation { results: *results, compiles: false }),
        Err(error) => Err(PackError::refused(error.code(), error.to_string())),
    }
}
