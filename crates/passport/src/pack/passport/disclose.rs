//! What one role is shown of a version.

use bpc_core::{CanonicalJson, TenantId};
use bpc_worker::Store;
use uuid::Uuid;

use super::replay::signature;
use super::state::passport_version;
use crate::compile::rebuild;
use crate::disclosure::{Bundle, Role, SignedReceipt};
use crate::pack::event::blob;
use crate::pack::snapshot::{reopen, snapshot};
use crate::pack::{PackError, Settings};

/// The bundle for a role, made from what was stored; nothing is compiled.
pub async fn disclose(
    store: &Store,
    tenant: TenantId,
    settings: &Settings,
    id: Uuid,
    role: Role,
) -> Result<Bundle, PackError> {
    let version = passport_version(store, tenant, id).await?;
    let Some((signature, public_key)) = signature(&version)? else {
        let message = format!(
            "version {id} is {} and not signed: run a worker that has the key, or see `bpc jobs list`",
            version.status
        );
        return Err(PackError::refused("INVALID_PASSPORT_STATUS", message));
    };
    let made = &version.compiled;
    let snapshot = snapshot(store, tenant, made.snapshot_id).await?;
    let sealed = reopen(store, tenant, settings, &snapshot).await?;
    let (payload, proof) = (blob(store, made.payload_hash).await?, blob(store, made.proof).await?);
    let rebuilt = rebuild(&payload, &proof, sealed.salt_key())
        .map_err(|error| PackError::refused(error.code(), error.to_string()))?;
    let receipt = CanonicalJson::from_trusted(blob(store, made.receipt_hash).await?);
    let signed = SignedReceipt { receipt, signature, public_key };
    Ok(Bundle::new(role, &signed, &rebuilt.tree, &rebuilt.reads))
}
