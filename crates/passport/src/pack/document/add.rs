//! Uploading a document.

use bpc_core::{StreamId, TenantId, Version};
use bpc_eventstore::Blob;
use bpc_worker::{Effects, Engine, Enqueue, Handler, JobId};
use uuid::Uuid;

use super::events::{STREAM, UPLOADED, Uploaded};
use super::parse_facts::{ParseFacts, Payload};
use super::state::find;
use crate::import::{DocumentKind, Format, MAX_DOCUMENT_BYTES};
use crate::pack::PackError;
use crate::pack::event::draft;

/// The most bytes of a document's name.
const NAME_MAX: usize = 255;

/// A document to upload.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// What people call it.
    pub name: String,
    /// What it is about.
    pub kind: DocumentKind,
    /// How it is written.
    pub format: Format,
    /// The battery it belongs to, for documents that do not name one.
    pub sku: Option<String>,
    /// The document.
    pub bytes: Vec<u8>,
}

/// An uploaded document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedDocument {
    /// Its id.
    pub id: Uuid,
    /// The job that parses it; none for kind OTHER, which is kept and never parsed.
    pub job_id: Option<JobId>,
    /// False if the same document was here already.
    pub created: bool,
}

/// Upload a document and enqueue the job that parses it, in one transaction. The same document again
/// changes nothing.
pub async fn add_document(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    new: NewDocument,
) -> Result<AddedDocument, PackError> {
    check(&new)?;
    let blob = Blob::new(new.bytes);
    let sku = new.sku.as_deref().unwrap_or_default();
    let name = format!("{tenant}\u{1f}{}\u{1f}{}\u{1f}{}\u{1f}{sku}", new.kind, new.format, blob.sha256);
    let id = StreamId::derived("document", &name);
    let is_parsed = new.kind != DocumentKind::Other;
    let job_id = is_parsed.then(|| JobId::from_key(tenant, ParseFacts::TYPE, &ParseFacts::key(id.0)));
    if find(&engine.store, tenant, id.0).await?.is_some() {
        return Ok(AddedDocument { id: id.0, job_id, created: false });
    }
    let uploaded = Uploaded {
        name: new.name,
        kind: new.kind.name().to_owned(),
        format: new.format.name().to_owned(),
        sku: new.sku,
        sha256: blob.sha256,
        length: blob.bytes.len() as u64,
    };
    let (effects, _) = Effects::none().blob(blob.bytes);
    let mut effects = effects.emit(tenant, STREAM, id, Version::NONE, vec![draft(UPLOADED, &uploaded)?]);
    if is_parsed {
        let job = Enqueue::new(ParseFacts::TYPE, &Payload { document_version_id: id.0 })?;
        effects = effects.enqueue(job.key(ParseFacts::key(id.0)));
    }
    match engine.perform(tenant, actor, &effects).await {
        Ok(_) => Ok(AddedDocument { id: id.0, job_id, created: true }),
        // Somebody uploaded the same at the same time.
        Err(error) if error.is_conflict() => Ok(AddedDocument { id: id.0, job_id, created: false }),
        Err(error) => Err(error.into()),
    }
}

fn check(new: &NewDocument) -> Result<(), PackError> {
    let refused = |message: String| Err(PackError::refused("VALIDATION_ERROR", message));
    if new.bytes.len() > MAX_DOCUMENT_BYTES {
        let length = new.bytes.len();
        let message =
            format!("the document has {length} bytes, the limit is {MAX_DOCUMENT_BYTES}: add it in parts");
        return Err(PackError::refused("DOCUMENT_TOO_LARGE", message));
    }
    if new.bytes.is_empty() {
        return refused("the document is empty: is it the right file?".to_owned());
    }
    let is_text = |text: &str| !text.is_empty() && text.len() <= NAME_MAX && !text.contains(char::is_control);
    if !is_text(&new.name) {
        return refused(format!("the name must have 1 to {NAME_MAX} bytes and no control characters"));
    }
    if !new.sku.as_deref().is_none_or(is_text) {
        return refused(format!("the sku must have 1 to {NAME_MAX} bytes and no control characters"));
    }
    Ok(())
}
