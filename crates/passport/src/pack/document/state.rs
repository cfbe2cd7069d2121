//! What a document has come to.

use std::fmt;

use bpc_core::{Hash, StreamId, TenantId, Timestamp, Version};
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

use super::events::{FactName, Located, PARSED, Parsed, REJECTED, Rejected, UPLOADED, Uploaded};
use crate::import::{DocumentKind, Format};
use crate::pack::PackError;
use crate::pack::event::{payload, stream};

/// How far a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentStatus {
    /// Its bytes are here.
    Uploaded,
    /// Every fact that it states is known.
    Validated,
    /// It has problems; nothing of it is used.
    Rejected,
}

impl DocumentStatus {
    /// As events and views spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            DocumentStatus::Uploaded => "UPLOADED",
            DocumentStatus::Validated => "VALIDATED",
            DocumentStatus::Rejected => "REJECTED",
        }
    }
}

impl fmt::Display for DocumentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A document, folded from its stream.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its id, and that of its stream.
    pub id: Uuid,
    /// How many events that is.
    pub version: Version,
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub kind: DocumentKind,
    /// How it is written: as asked for at first, as found once it is parsed.
    pub format: Format,
    /// The battery it belongs to, if the upload named one.
    pub sku: Option<String>,
    /// SHA-256 of its bytes.
    pub sha256: Hash,
    /// How many there are.
    pub length: u64,
    /// When they came.
    pub uploaded_at: Timestamp,
    /// How far it is.
    pub status: DocumentStatus,
    /// The first of its problems.
    pub problems: Vec<Located>,
    /// How many there are.
    pub problems_total: u64,
    pub(in crate::pack) facts: Vec<FactName>,
    pub(in crate::pack) stated: Option<Hash>,
}

/// A document by id.
pub async fn document(store: &Store, tenant: TenantId, id: Uuid) -> Result<Document, PackError> {
    find(store, tenant, id).await?.ok_or_else(|| {
        PackError::refused(
            "DOCUMENT_NOT_FOUND",
            format!("there is no document {id}: see `bpc document list`"),
        )
    })
}

pub(super) async fn find(store: &Store, tenant: TenantId, id: Uuid) -> Result<Option<Document>, StoreError> {
    let (events, version) = stream(store, tenant, StreamId(id)).await?;
    let mut document = None;
    for event in &events {
        let envelope = event.envelope()?;
        match (&*envelope.event_type, &mut document) {
            (UPLOADED, None) => {
                let uploaded: Uploaded = payload(&envelope)?;
                let damaged = || StoreError::Damaged(format!("kind or format of document {id}"));
                document = Some(Document {
                    id,
                    version,
                    kind: uploaded.kind.parse().map_err(|_| damaged())?,
                    format: uploaded.format.parse().map_err(|_| damaged())?,
                    name: uploaded.name,
                    sku: uploaded.sku,
                    sha256: uploaded.sha256,
                    length: uploaded.length,
                    uploaded_at: envelope.occurred_at,
                    status: DocumentStatus::Uploaded,
                    problems: Vec::new(),
                    problems_total: 0,
                    facts: Vec::new(),
                    stated: None,
                });
            }
            (PARSED, Some(document)) => {
                let parsed: Parsed = payload(&envelope)?;
                document.status = DocumentStatus::Validated;
                document.format = parsed.format.parse().unwrap_or(document.format);
                document.stated = Some(parsed.stated);
                document.facts.extend(parsed.facts);
            }
            (REJECTED, Some(document)) => {
                let rejected: Rejected = payload(&envelope)?;
                document.status = DocumentStatus::Rejected;
                document.problems = rejected.problems;
                document.problems_total = rejected.problems_total;
            }
            _ => {}
        }
    }
    Ok(document)
}

impl Document {
    /// How many facts it states.
    pub fn fact_count(&self) -> usize {
        self.facts.len()
    }
}
