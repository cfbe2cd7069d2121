//! Lists of documents and facts, from the views.

use bpc_core::{Hash, TenantId, Timestamp};
use bpc_eventstore::portable;
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

/// A row of the view of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the columns")]
pub struct DocumentRow {
    pub id: Uuid,
    pub name: String,
    pub kind: String,
    pub format: String,
    pub status: String,
    pub facts: i64,
    pub problems: i64,
    pub uploaded_at: Timestamp,
}

type DocumentColumns = (Uuid, String, String, String, String, i64, i64, i64);

/// The newest documents of a tenant.
pub async fn documents(store: &Store, tenant: TenantId, limit: u32) -> Result<Vec<DocumentRow>, StoreError> {
    let sql = "SELECT document_id, name, kind, format, status, facts, problems, uploaded_at FROM documents \
               WHERE tenant_id = $1 ORDER BY uploaded_at DESC, document_id LIMIT $2";
    let mut tx = store.begin_read().await?;
    let rows: Vec<DocumentColumns> = portable!(tx.conn(), c => {
        sqlx::query_as(sql).bind(tenant.0).bind(i64::from(limit)).fetch_all(c).await
    })?;
    let row = |(id, name, kind, format, status, facts, problems, at): DocumentColumns| DocumentRow {
        id,
        name,
        kind,
        format,
        status,
        facts,
        problems,
        uploaded_at: Timestamp::from_micros(at),
    };
    Ok(rows.into_iter().map(row).collect())
}

/// A row of the view of facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the columns")]
pub struct FactRow {
    pub fact_type: String,
    pub key: String,
    pub payload_hash: Hash,
    pub document_id: Uuid,
    pub place: i64,
}

/// Which facts.
#[derive(Clone, Debug, Default)]
pub struct FactFilter {
    /// Of this type.
    pub fact_type: Option<String>,
    /// With this key.
    pub key: Option<String>,
    /// Stated by this document.
    pub document: Option<Uuid>,
    /// With this payload, as hex or the beginning of it.
    pub hash: Option<String>,
}

/// Facts of a tenant by type and key.
pub async fn facts(
    store: &Store,
    tenant: TenantId,
    filter: &FactFilter,
    limit: u32,
) -> Result<Vec<FactRow>, StoreError> {
    let sql = "SELECT fact_type, fact_key, payload_hash, document_id, place FROM facts WHERE tenant_id = $1 \
               AND ($2 = '' OR fact_type = $2) AND ($3 = '' OR fact_key = $3) AND ($4 = 0 OR document_id = $5) \
               ORDER BY fact_type, fact_key, payload_hash, document_id";
    let (by_document, document) = filter.document.map_or((0_i64, Uuid::nil()), |document| (1_i64, document));
    let mut tx = store.begin_read().await?;
    let rows: Vec<(String, String, Vec<u8>, Uuid, i64)> = portable!(tx.conn(), c => {
        sqlx::query_as(sql)
            .bind(tenant.0)
            .bind(filter.fact_type.clone().unwrap_or_default())
            .bind(filter.key.clone().unwrap_or_default())
            .bind(by_document)
            .bind(document)
            .fetch_all(c)
            .await
    })?;
    let mut found = Vec::new();
    for (fact_type, key, hash, document_id, place) in rows {
        let payload_hash =
            Hash::from_slice(&hash).ok_or_else(|| StoreError::Damaged(format!("hash of fact {key}")))?;
        let is_wanted =
            filter.hash.as_ref().is_none_or(|wanted| payload_hash.to_string().starts_with(wanted));
        if is_wanted {
            found.push(FactRow { fact_type, key, payload_hash, document_id, place });
        }
    }
    found.truncate(limit as usize);
    Ok(found)
}
