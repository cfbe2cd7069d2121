//! SIGN_PASSPORT: the signature over the receipt, and the credential form with its own.

use bpc_core::{CanonicalJson, StreamId};
use bpc_worker::{Context, Effects, Enqueue, Handler, HandlerError, Job, JobPolicy};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::events::{SIGNED, Signed, VERSION};
use super::order::with_key;
use super::qr::{self, GenerateQr};
use super::state::{VersionStatus, passport_version};
use crate::credential::{passport_credential, secure, verification_method};
use crate::json::Json;
use crate::pack::Settings;
use crate::pack::event::{blob, draft};
use crate::receipt::sign;

/// Signs passport versions.
#[derive(Clone, Debug)]
pub struct SignPassport {
    settings: Settings,
}

/// Which version.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Its id.
    pub passport_version_id: Uuid,
}

impl SignPassport {
    /// With these settings.
    pub fn new(settings: Settings) -> Self {
        SignPassport { settings }
    }
}

impl Handler for SignPassport {
    const TYPE: &'static str = "SIGN_PASSPORT";
    type Payload = Payload;

    fn policy(&self) -> JobPolicy {
        JobPolicy { priority: 1, cpu_bound: true, ..JobPolicy::default() }
    }

    /// Both signatures are deterministic, so a second run wants the same; a version that is signed already is
    /// left alone.
    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let (store, tenant) = (cx.store(), job.tenant_id);
        let version = passport_version(store, tenant, job.payload.passport_version_id).await?;
        match version.status {
            VersionStatus::Compiling => {}
            VersionStatus::Revoked => {
                let message = format!("version {} is REVOKED and is not signed", version.id);
                return Err(HandlerError::permanent("INVALID_PASSPORT_STATUS", message));
            }
            _ => return Ok(Effects::none()),
        }
        let key = self.settings.signing_key()?;
        let signature = sign(&version.receipt_hash, &version.signing_key_id, &key)
            .map_err(|error| HandlerError::permanent(error.code(), error.to_string()))?;
        let receipt = CanonicalJson::from_trusted(blob(store, version.receipt_hash).await?);
        let public =
            Json::from_canonical(&CanonicalJson::from_trusted(blob(store, version.compiled.public).await?));
        let public_key = key.public_key();
        let document = passport_credential(version.id, &public_key, &receipt, &version.receipt_hash, public);
        let created = version.issued_at.to_string();
        let secured = secure(&document, &created, &verification_method(&public_key), &key)
            .map_err(|error| HandlerError::permanent(error.code(), error.to_string()))?;
        let (effects, credential) = Effects::none().blob(secured.canonical()?.into_bytes());
        let event = Signed {
            signing_key_id: key.id(),
            public_key: hex::encode(public_key),
            signature: hex::encode(signature),
            credential,
        };
        let qr = Enqueue::new(GenerateQr::TYPE, &qr::Payload { passport_version_id: version.id })?;
        let effects = effects
            .emit(tenant, VERSION, StreamId(version.id), version.version, vec![draft(SIGNED, &event)?])
            .enqueue(qr.key(format!("qr-{}", version.id)));
        Ok(with_key(store, tenant, &public_key, effects).await?)
    }
}
