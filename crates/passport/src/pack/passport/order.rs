//! Ordering a compilation.

use bpc_core::{StreamId, TenantId, Timestamp, Version};
use bpc_worker::{Effects, Engine, Enqueue, Handler, JobId, Store};
use uuid::Uuid;

use super::compile::{CompilePassport, Payload};
use super::events::{KEY_ADDED, KeyAdded, SIGNING_KEY};
use super::state::passport;
use crate::pack::event::{draft, stream};
use crate::pack::rules::{RuleStatus, RuleVersion, rule_version};
use crate::pack::snapshot::{SnapshotStatus, snapshot};
use crate::pack::{PackError, Settings};
use crate::value::Date;

/// What to compile.
#[derive(Clone, Copy, Debug)]
pub struct CompileOrder {
    /// The passport.
    pub passport_id: Uuid,
    /// A sealed snapshot.
    pub snapshot_id: Uuid,
    /// Published rules.
    pub rule_version_id: Uuid,
    /// The day it is judged on; the day of the order if not said.
    pub as_of: Option<Date>,
}

/// Enqueue a compilation. Everything that decides about its bytes is in the job, so every attempt gives the
/// same.
pub async fn compile_passport(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    settings: &Settings,
    order: CompileOrder,
) -> Result<JobId, PackError> {
    let passport = passport(&engine.store, tenant, order.passport_id).await?;
    let snapshot = snapshot(&engine.store, tenant, order.snapshot_id).await?;
    if snapshot.status != SnapshotStatus::Sealed {
        let message = format!("snapshot {} is {}, not SEALED: seal it first", snapshot.id, snapshot.status);
        return Err(PackError::refused("SNAPSHOT_NOT_READY", message));
    }
    published(&rule_version(&engine.store, tenant, order.rule_version_id).await?)?;
    let signing_key_id = settings.signing_key_id()?;
    let issued_at = engine.store.now().await?;
    let payload = Payload {
        passport_id: passport.id,
        snapshot_id: snapshot.id,
        rule_package_version_id: order.rule_version_id,
        issued_at: Some(issued_at),
        as_of: Some(order.as_of.unwrap_or_else(|| day_of(issued_at)).to_string()),
        prior_version: passport.active_version,
        build_id: Some(settings.build_id.clone()),
        signing_key_id: Some(signing_key_id),
    };
    let effects = Effects::none().enqueue(Enqueue::new(CompilePassport::TYPE, &payload)?);
    let with_key = match settings.signing_key() {
        Ok(key) => with_key(&engine.store, tenant, &key.public_key(), effects.clone()).await?,
        // Another process signs, and will add its key.
        Err(_) => effects.clone(),
    };
    let jobs = match engine.perform(tenant, actor, &with_key).await {
        // Somebody added the key at the same time.
        Err(error) if error.is_conflict() => engine.perform(tenant, actor, &effects).await?,
        jobs => jobs?,
    };
    Ok(jobs[0])
}

/// Only published rules make passports.
pub(super) fn published(rules: &RuleVersion) -> Result<(), PackError> {
    if rules.status == RuleStatus::Published {
        return Ok(());
    }
    let message = match rules.status {
        RuleStatus::Validated => format!(
            "rule package version {0} is VALIDATED, not PUBLISHED: run `bpc rules publish {0}`",
            rules.id
        ),
        status => format!(
            "rule package version {0} is {status}, not PUBLISHED: its tests must pass first, see `bpc rules show {0}`",
            rules.id
        ),
    };
    Err(PackError::refused("RULE_PKG_NOT_PUBLISHED", message))
}

/// The same effects, and the public key for those who check signatures later, if it is new.
pub(super) async fn with_key(
    store: &Store,
    tenant: TenantId,
    public_key: &[u8; 32],
    effects: Effects,
) -> Result<Effects, PackError> {
    let key_id = crate::receipt::key_id(public_key);
    let id = StreamId::derived("signing-key", &format!("{tenant}/{key_id}"));
    let (events, _) = stream(store, tenant, id).await?;
    if !events.is_empty() {
        return Ok(effects);
    }
    let added = KeyAdded { signing_key_id: key_id, public_key: hex::encode(public_key) };
    Ok(effects.emit(tenant, SIGNING_KEY, id, Version::NONE, vec![draft(KEY_ADDED, &added)?]))
}

/// The day of a moment, in UTC.
pub(super) fn day_of(at: Timestamp) -> Date {
    at.to_string()[..10].parse().expect("a moment begins with its day")
}
