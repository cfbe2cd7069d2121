//! Lists from the views.

use bpc_core::{TenantId, Timestamp};
use bpc_eventstore::portable;
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the columns")]
pub struct SnapshotRow {
    pub id: Uuid,
    pub name: String,
    pub status: String,
    pub items: i64,
    pub created_at: Timestamp,
}

/// The newest snapshots of a tenant.
pub async fn snapshots(store: &Store, tenant: TenantId, limit: u32) -> Result<Vec<SnapshotRow>, StoreError> {
    let sql = "SELECT snapshot_id, name, status, items, created_at FROM snapshots WHERE tenant_id = $1 \
               ORDER BY created_at DESC, snapshot_id LIMIT $2";
    let mut tx = store.begin_read().await?;
    let rows: Vec<(Uuid, String, String, i64, i64)> = portable!(tx.conn(), c => {
        sqlx::query_as(sql).bind(tenant.0).bind(i64::from(limit)).fetch_all(c).await
    })?;
    let row = |(id, name, status, items, at)| SnapshotRow {
        id,
        name,
        status,
        items,
        created_at: Timestamp::from_micros(at),
    };
    Ok(rows.into_iter().map(row).collect())
}

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the columns")]
pub struct RuleRow {
    pub id: Uuid,
    pub package: String,
    pub version: String,
    pub status: String,
    pub created_at: Timestamp,
}

/// The newest rule package versions of a tenant.
pub async fn rule_versions(store: &Store, tenant: TenantId, limit: u32) -> Result<Vec<RuleRow>, StoreError> {
    let sql = "SELECT rule_version_id, package, version, status, created_at FROM rule_versions \
               WHERE tenant_id = $1 ORDER BY created_at DESC, rule_version_id LIMIT $2";
    let mut tx = store.begin_read().await?;
    let rows: Vec<(Uuid, String, String, String, i64)> = portable!(tx.conn(), c => {
        sqlx::query_as(sql).bind(tenant.0).bind(i64::from(limit)).fetch_all(c).await
    })?;
    let row = |(id, package, version, status, at)| RuleRow {
        id,
        package,
        version,
        status,
        created_at: Timestamp::from_micros(at),
    };
    Ok(rows.into_iter().map(row).collect())
}

/// A row of a list: a passport, its product, and one of its versions if there is any.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the columns")]
pub struct PassportRow {
    pub passport_id: Uuid,
    pub sku: String,
    pub version_id: Option<Uuid>,
    pub status: Option<String>,
    pub as_of: Option<String>,
    pub has_qr: bool,
}

type PassportColumns = (Uuid, String, Option<Uuid>, Option<String>, Option<String>, Option<i64>);

/// Passports of a tenant with all their versions, newest first.
pub async fn passports(store: &Store, tenant: TenantId, limit: u32) -> Result<Vec<PassportRow>, StoreError> {
    let sql = "SELECT p.passport_id, r.sku, v.passport_version_id, v.status, v.as_of, v.has_qr FROM passports p \
               JOIN products r ON r.product_id = p.product_id \
               LEFT JOIN passport_versions v ON v.passport_id = p.passport_id AND v.tenant_id = p.tenant_id \
               WHERE p.tenant_id = $1 ORDER BY p.created_at DESC, p.passport_id, v.issued_at DESC, \
               v.passport_version_id LIMIT $2";
    let mut tx = store.begin_read().await?;
    let rows: Vec<PassportColumns> = portable!(tx.conn(), c => {
        sqlx::query_as(sql).bind(tenant.0).bind(i64::from(limit)).fetch_all(c).await
    })?;
    let row = |(passport_id, sku, version_id, status, as_of, has_qr): PassportColumns| PassportRow {
        passport_id,
        sku,
        version_id,
        status,
        as_of,
        has_qr: has_qr == Some(1),
    };
    Ok(rows.into_iter().map(row).collect())
}

/// Every passport version of every tenant, a page at a time behind the given id.
pub async fn all_versions(
    store: &Store,
    after: Uuid,
    limit: u32,
) -> Result<Vec<(TenantId, Uuid)>, StoreError> {
    let sql = "SELECT tenant_id, passport_version_id FROM passport_versions WHERE passport_version_id > $1 \
               ORDER BY passport_version_id LIMIT $2";
    let mut tx = store.begin_read().await?;
    let rows: Vec<(Uuid, Uuid)> = portable!(tx.conn(), c => {
        sqlx::query_as(sql).bind(after).bind(i64::from(limit)).fetch_all(c).await
    })?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), id)).collect())
}
