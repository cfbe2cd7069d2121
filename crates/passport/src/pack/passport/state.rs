//! What passports and their versions have come to.

use std::fmt;

use bpc_core::{Hash, StreamId, TenantId, Timestamp, Version};
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

use super::events::{
    ACTIVATED, ACTIVE_VERSION_SET, ActiveVersionSet, COMPILED, CREATED, Compiled, Created, QR_GENERATED,
    QrGenerated, REVOKED, Revoked, SIGNED, SUPERSEDED, Signed,
};
use crate::pack::PackError;
use crate::pack::event::{payload, stream};

/// A passport, folded from its stream.
#[derive(Clone, Copy, Debug)]
pub struct Passport {
    /// Its id, and that of its stream.
    pub id: Uuid,
    /// How many events that is.
    pub version: Version,
    /// What it is for.
    pub product_id: Uuid,
    /// The version in force.
    pub active_version: Option<Uuid>,
    /// Since when.
    pub created_at: Timestamp,
}

/// How far a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionStatus {
    /// Compiled, not signed yet.
    Compiling,
    /// Signed.
    Signed,
    /// In force.
    Active,
    /// Another took its place.
    Superseded,
    /// Taken back.
    Revoked,
}

impl VersionStatus {
    /// As events and views spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            VersionStatus::Compiling => "COMPILING",
            VersionStatus::Signed => "SIGNED",
            VersionStatus::Active => "ACTIVE",
            VersionStatus::Superseded => "SUPERSEDED",
            VersionStatus::Revoked => "REVOKED",
        }
    }
}

impl fmt::Display for VersionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A version, folded from its stream.
#[derive(Clone, Debug)]
pub struct PassportVersion {
    /// Its id, and that of its stream.
    pub id: Uuid,
    /// How many events that is.
    pub version: Version,
    /// How far it is.
    pub status: VersionStatus,
    /// Its passport.
    pub passport_id: Uuid,
    /// When it was ordered.
    pub issued_at: Timestamp,
    /// The day it is judged on.
    pub as_of: String,
    /// The facts.
    pub snapshot_id: Uuid,
    /// The rules.
    pub rule_version_id: Uuid,
    /// SHA-256 of the payload.
    pub payload_hash: Hash,
    /// Root of the proof.
    pub proof_root: Hash,
    /// SHA-256 of the receipt.
    pub receipt_hash: Hash,
    /// The key it is signed by.
    pub signing_key_id: String,
    /// Its codes.
    pub qr: Option<Qr>,
    /// Why it was taken back.
    pub revoked_because: Option<String>,
    /// The Verifiable Credential, a blob.
    pub credential: Option<Hash>,
    pub(in crate::pack) compiled: Compiled,
    pub(in crate::pack) signed: Option<Signed>,
}

/// The codes of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qr {
    /// What the proof code says.
    pub text: String,
    /// Its picture, a blob.
    pub png: Hash,
    /// What the link code says.
    pub link: String,
    /// Its picture, a blob.
    pub link_png: Hash,
}

/// A passport by id.
pub async fn passport(store: &Store, tenant: TenantId, id: Uuid) -> Result<Passport, PackError> {
    let (events, version) = stream(store, tenant, StreamId(id)).await?;
    let mut found = None;
    for event in &events {
        let envelope = event.envelope().map_err(StoreError::from)?;
        match (&*envelope.event_type, &mut found) {
            (CREATED, None) => {
                let Created { product_id } = payload(&envelope)?;
                let created_at = envelope.occurred_at;
                found = Some(Passport { id, version, product_id, active_version: None, created_at });
            }
            (ACTIVE_VERSION_SET, Some(passport)) => {
                let ActiveVersionSet { to, .. } = payload(&envelope)?;
                passport.active_version = to;
            }
            _ => {}
        }
    }
    found.ok_or_else(|| {
        PackError::refused(
            "PASSPORT_NOT_FOUND",
            format!("there is no passport {id}: see `bpc passport list`"),
        )
    })
}

/// A version by id.
pub async fn passport_version(
    store: &Store,
    tenant: TenantId,
    id: Uuid,
) -> Result<PassportVersion, PackError> {
    find(store, tenant, id).await?.ok_or_else(|| {
        let message = format!("there is no passport version {id}: see `bpc passport list`");
        PackError::refused("PASSPORT_VERSION_NOT_FOUND", message)
    })
}

pub(super) async fn find(
    store: &Store,
    tenant: TenantId,
    id: Uuid,
) -> Result<Option<PassportVersion>, StoreError> {
    let (events, version) = stream(store, tenant, StreamId(id)).await?;
    let mut found: Option<PassportVersion> = None;
    for event in &events {
        let envelope = event.envelope()?;
        if let (COMPILED, None) = (&*envelope.event_type, &found) {
            found = Some(begun(id, version, payload(&envelope)?));
        }
        let Some(it) = &mut found else { continue };
        match &*envelope.event_type {
            SIGNED => {
                let signed: Signed = payload(&envelope)?;
                it.status = VersionStatus::Signed;
                it.credential = Some(signed.credential);
                it.signed = Some(signed);
            }
            QR_GENERATED => {
                let QrGenerated { text, png, link, link_png } = payload(&envelope)?;
                it.qr = Some(Qr { text, png, link, link_png });
            }
            ACTIVATED => it.status = VersionStatus::Active,
            SUPERSEDED => it.status = VersionStatus::Superseded,
            REVOKED => {
                let Revoked { reason } = payload(&envelope)?;
                it.status = VersionStatus::Revoked;
                it.revoked_because = Some(reason);
            }
            _ => {}
        }
    }
    Ok(found)
}

fn begun(id: Uuid, version: Version, compiled: Compiled) -> PassportVersion {
    PassportVersion {
        id,
        version,
        status: VersionStatus::Compiling,
        passport_id: compiled.passport_id,
        issued_at: compiled.issued_at,
        as_of: compiled.as_of.clone(),
        snapshot_id: compiled.snapshot_id,
        rule_version_id: compiled.rule_package_version_id,
        payload_hash: compiled.payload_hash,
        proof_root: compiled.proof_root,
        receipt_hash: compiled.receipt_hash,
        signing_key_id: compiled.signing_key_id.clone(),
        qr: None,
        revoked_because: None,
        credential: None,
        compiled,
        signed: None,
    }
}
