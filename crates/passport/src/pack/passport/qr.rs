//! GENERATE_QR: the proof code and the web link, as pictures.

use bpc_core::StreamId;
use bpc_worker::{Context, Effects, Handler, HandlerError, Job, JobPolicy};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::events::{QR_GENERATED, QrGenerated, VERSION};
use super::state::{VersionStatus, passport_version};
use crate::pack::Settings;
use crate::pack::event::draft;
use crate::qr::{ProofCode, QrCode, QrError, web_link};

/// Draws the codes of passport versions.
#[derive(Clone, Debug)]
pub struct GenerateQr {
    settings: Settings,
}

/// Which version.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Its id.
    pub passport_version_id: Uuid,
}

impl GenerateQr {
    /// With these settings.
    pub fn new(settings: Settings) -> Self {
        GenerateQr { settings }
    }
}

impl Handler for GenerateQr {
    const TYPE: &'static str = "GENERATE_QR";
    type Payload = Payload;

    fn policy(&self) -> JobPolicy {
        JobPolicy { cpu_bound: true, ..JobPolicy::default() }
    }

    /// The pictures follow from the version's hashes, so a second run wants the same; a version that has its
    /// codes is left alone.
    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let version = passport_version(cx.store(), job.tenant_id, job.payload.passport_version_id).await?;
        if version.qr.is_some() {
            return Ok(Effects::none());
        }
        if matches!(version.status, VersionStatus::Compiling | VersionStatus::Revoked) {
            let message = format!("version {} is {}; only signed ones get codes", version.id, version.status);
            return Err(HandlerError::permanent("INVALID_PASSPORT_STATUS", message));
        }
        let code = ProofCode {
            passport_version: version.id,
            payload_hash: version.payload_hash,
            proof_root: version.proof_root,
            receipt_hash: version.receipt_hash,
        };
        let (text, link) = (code.to_string(), web_link(&self.settings.link_base, version.id));
        let (effects, png) = Effects::none().blob(picture(&text)?);
        let (effects, link_png) = effects.blob(picture(&link)?);
        let drafts = vec![draft(QR_GENERATED, &QrGenerated { text, png, link, link_png })?];
        Ok(effects.emit(job.tenant_id, VERSION, StreamId(version.id), version.version, drafts))
    }
}

fn picture(text: &str) -> Result<Vec<u8>, HandlerError> {
    let refused = |error: QrError| HandlerError::permanent(error.code(), error.to_string());
    QrCode::new(text).map_err(refused)?.png().map_err(refused)
}
