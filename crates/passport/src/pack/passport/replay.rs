//! Is a stored version still what its inputs give?

use bpc_core::TenantId;
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

use super::input::{Materials, day};
use super::state::{PassportVersion, passport_version};
use crate::compile::{Compiled, Stored, replay};
use crate::credential;
use crate::json::Json;
use crate::pack::event::blob;
use crate::pack::rules::Library;
use crate::pack::{PackError, Settings};

/// Compiles versions again; keeps the rule packages it has read.
#[derive(Clone, Debug)]
pub struct VersionCheck {
    settings: Settings,
    library: Library,
}

impl VersionCheck {
    /// With these settings.
    pub fn new(settings: Settings) -> Self {
        VersionCheck { settings, library: Library::default() }
    }

    /// Compile a version again from the log, and compare payload, proof, receipt and signatures.
    pub async fn check(
        &self,
        store: &Store,
        tenant: TenantId,
        id: Uuid,
    ) -> Result<(PassportVersion, Compiled), PackError> {
        let version = passport_version(store, tenant, id).await?;
        let made = &version.compiled;
        let (snapshot, rules) = (made.snapshot_id, made.rule_package_version_id);
        let materials =
            Materials::read(store, tenant, &self.settings, &self.library, snapshot, rules).await?;
        let input = materials.input(tenant, made, day(&made.as_of)?);
        let (payload, proof) = (blob(store, made.payload_hash).await?, blob(store, made.proof).await?);
        let receipt = blob(store, made.receipt_hash).await?;
        let signature = signature(&version)?;
        let stored = Stored {
            payload: &payload,
            proof: &proof,
            receipt: &receipt,
            signature: signature.as_ref().map(|(signature, key)| (signature, key)),
        };
        let compiled = replay(&input, &stored).map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            PackError::refused(error.code(), format!("version {id}: {error}{}", cause.unwrap_or_default()))
        })?;
        if compiled.passport_version_id != id || compiled.tree.roots.proof != made.proof_root {
            let message = format!("version {id}: compiling again gives another id or proof root");
            return Err(PackError::refused("REPLAY_MISMATCH", message));
        }
        if let (Some(hash), Some((_, key))) = (version.credential, signature) {
            self.check_credential(store, &version, hash, key).await?;
        }
        Ok((version, compiled))
    }

    async fn check_credential(
        &self,
        store: &Store,
        version: &PassportVersion,
        hash: bpc_core::Hash,
        key: [u8; 32],
    ) -> Result<(), PackError> {
        let refused = |message: String| {
            PackError::refused("SIGNATURE_INVALID", format!("version {}: {message}", version.id))
        };
        let json = Json::read(&blob(store, hash).await?).map_err(|error| refused(error.to_string()))?;
        match credential::verify(&json) {
            Ok(found) if found == key => Ok(()),
            Ok(_) => Err(refused("its credential is signed by another key".to_owned())),
            Err(error) => Err(refused(format!("its credential: {error}"))),
        }
    }
}

/// Compile one version again and compare.
pub async fn replay_version(
    store: &Store,
    tenant: TenantId,
    settings: &Settings,
    id: Uuid,
) -> Result<(PassportVersion, Compiled), PackError> {
    VersionCheck::new(settings.clone()).check(store, tenant, id).await
}

/// Signature and public key.
type SignatureAndKey = ([u8; 64], [u8; 32]);

/// Signature and public key of a version; none if it is not signed.
pub(super) fn signature(version: &PassportVersion) -> Result<Option<SignatureAndKey>, StoreError> {
    let Some(signed) = &version.signed else { return Ok(None) };
    let signature = hex::decode(&signed.signature).ok().and_then(|bytes| bytes.try_into().ok());
    let key = hex::decode(&signed.public_key).ok().and_then(|bytes| bytes.try_into().ok());
    match (signature, key) {
        (Some(signature), Some(key)) => Ok(Some((signature, key))),
        _ => Err(StoreError::Damaged(format!("signature of passport version {}", version.id))),
    }
}
