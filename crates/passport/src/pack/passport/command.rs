//! What people do with passports: create, activate, revoke.

use bpc_core::{EventId, StreamId, TenantId, Version};
use bpc_eventstore::entropy;
use bpc_worker::{Effects, Engine};
use uuid::Uuid;

use super::events::{
    ACTIVATED, ACTIVE_VERSION_SET, Activated, ActiveVersionSet, CREATED, Created, PASSPORT, REVOKED, Revoked,
    SUPERSEDED, Superseded, VERSION,
};
use super::product::product;
use super::state::{VersionStatus, passport, passport_version};
use crate::pack::PackError;
use crate::pack::event::draft;

/// How often a command decides again when somebody else wrote first.
const TRIES: u32 = 8;

/// Begin a passport for a product.
pub async fn create_passport(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    product_id: Uuid,
) -> Result<Uuid, PackError> {
    product(&engine.store, tenant, product_id).await?;
    let id = EventId::fresh(engine.store.now().await?, entropy()).0;
    let drafts = vec![draft(CREATED, &Created { product_id })?];
    let effects = Effects::none().emit(tenant, PASSPORT, StreamId(id), Version::NONE, drafts);
    engine.perform(tenant, actor, &effects).await?;
    Ok(id)
}

/// Put a SIGNED version in force; the one that was becomes SUPERSEDED, in the same transaction. Returns the
/// former one.
pub async fn activate(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
) -> Result<Option<Uuid>, PackError> {
    for tries in 1.. {
        match try_activate(engine, tenant, actor, id).await {
            Err(error) if error.is_conflict() && tries < TRIES => {}
            outcome => return outcome,
        }
    }
    unreachable!("the loop returns")
}

async fn try_activate(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
) -> Result<Option<Uuid>, PackError> {
    let version = passport_version(&engine.store, tenant, id).await?;
    if version.status != VersionStatus::Signed {
        let message = format!("version {id} is {}; only a SIGNED one can be activated", version.status);
        let message = match version.status {
            VersionStatus::Compiling => {
                format!("{message}: run a worker that has the key, or see `bpc jobs list`")
            }
            _ => format!("{message}: compile another, or see `bpc passport list`"),
        };
        return Err(PackError::refused("INVALID_PASSPORT_STATUS", message));
    }
    let passport = passport(&engine.store, tenant, version.passport_id).await?;
    let former = passport.active_version;
    if former.is_some() && former != version.compiled.prior_version {
        let message = format!(
            "version {id} was compiled to follow {}, but {} is active now: compile it again",
            version.compiled.prior_version.map_or_else(|| "none".to_owned(), |prior| prior.to_string()),
            former.unwrap_or_default()
        );
        return Err(PackError::refused("INVALID_PASSPORT_STATUS", message));
    }
    let set = ActiveVersionSet { from: former, to: Some(id) };
    let activated = Activated { passport_id: passport.id };
    let mut effects = Effects::none()
        .emit(tenant, VERSION, StreamId(id), version.version, vec![draft(ACTIVATED, &activated)?])
        .emit(
            tenant,
            PASSPORT,
            StreamId(passport.id),
            passport.version,
            vec![draft(ACTIVE_VERSION_SET, &set)?],
        );
    if let Some(former) = former {
        let stream_version = passport_version(&engine.store, tenant, former).await?.version;
        let drafts = vec![draft(SUPERSEDED, &Superseded { by: id })?];
        effects = effects.emit(tenant, VERSION, StreamId(former), stream_version, drafts);
    }
    engine.perform(tenant, actor, &effects).await?;
    Ok(former)
}

/// Take a version back, whatever its status. If it was in force, none is.
pub async fn revoke(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
    reason: &str,
) -> Result<(), PackError> {
    for tries in 1.. {
        match try_revoke(engine, tenant, actor, id, reason).await {
            Err(error) if error.is_conflict() && tries < TRIES => {}
            outcome => return outcome,
        }
    }
    unreachable!("the loop returns")
}

async fn try_revoke(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
    reason: &str,
) -> Result<(), PackError> {
    let version = passport_version(&engine.store, tenant, id).await?;
    if version.status == VersionStatus::Revoked {
        let message = format!("version {id} is revoked already");
        return Err(PackError::refused("INVALID_PASSPORT_STATUS", message));
    }
    let drafts = vec![draft(REVOKED, &Revoked { reason: reason.to_owned() })?];
    let mut effects = Effects::none().emit(tenant, VERSION, StreamId(id), version.version, drafts);
    let passport = passport(&engine.store, tenant, version.passport_id).await?;
    if passport.active_version == Some(id) {
        let set = ActiveVersionSet { from: Some(id), to: None };
        let drafts = vec![draft(ACTIVE_VERSION_SET, &set)?];
        effects = effects.emit(tenant, PASSPORT, StreamId(passport.id), passport.version, drafts);
    }
    engine.perform(tenant, actor, &effects).await?;
    Ok(())
}
