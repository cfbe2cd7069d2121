//! Tenants: an event stream each, and the view that finds them by slug.

use std::sync::Arc;

use bpc_core::log_events::{TENANT, TenantAdded};
use bpc_core::{TenantId, Timestamp, Version};
use uuid::Uuid;

use crate::append::{Cause, StreamAppend, append_to_streams};
use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;
use crate::store::Store;

/// A row of the tenants view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Derived from the slug.
    pub tenant_id: TenantId,
    /// Short name for the command line.
    pub slug: String,
    /// Name for people.
    pub name: String,
    /// Since when.
    pub created_at: Timestamp,
}

/// Add a tenant. Its id is derived from its slug, so a slug can be added only once.
pub async fn add_tenant(store: &Store, slug: &str, name: &str, actor: &str) -> Result<Tenant, StoreError> {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    if slug.len() > 63
        || !slug.starts_with(|c: char| c.is_ascii_lowercase())
        || !slug.bytes().all(allowed)
        || slug.parse::<Uuid>().is_ok()
    {
        return Err(StoreError::TenantSlug(slug.to_owned()));
    }
    let now = store.now().await?;
    let tenant_id = TenantId::from_slug(slug);
    let tenant = Tenant { tenant_id, slug: slug.to_owned(), name: name.to_owned(), created_at: now };
    let append = StreamAppend {
        tenant_id,
        stream_type: Arc::from(TENANT),
        stream_id: tenant_id.into(),
        expected: Version::NONE,
        events: vec![TenantAdded { slug: slug.to_owned(), name: name.to_owned() }.draft()],
    };
    let cause = Cause { actor, now, causation_id: None, correlation_id: None };
    let mut tx = store.begin().await?;
    let appended = append_to_streams(&mut tx.conn(), &[append], cause).await;
    appended.map_err(
        |error| if error.is_conflict() { StoreError::TenantExists(slug.to_owned()) } else { error },
    )?;
    insert_tenant(&mut tx.conn(), &tenant).await?;
    tx.commit().await?;
    Ok(tenant)
}

/// Write a row of the view.
pub async fn insert_tenant(conn: &mut Conn<'_>, tenant: &Tenant) -> Result<(), StoreError> {
    let sql = "INSERT INTO tenants (tenant_id, slug, name, created_at) VALUES ($1, $2, $3, $4)";
    portable!(conn, c => {
        sqlx::query(sql)
            .bind(tenant.tenant_id.0)
            .bind(&tenant.slug)
            .bind(&tenant.name)
            .bind(tenant.created_at.as_micros())
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// All tenants by slug.
pub async fn tenants(store: &Store) -> Result<Vec<Tenant>, StoreError> {
    let sql = "SELECT tenant_id, slug, name, created_at FROM tenants ORDER BY slug";
    let mut tx = store.begin_read().await?;
    let rows: Vec<(Uuid, String, String, i64)> =
        portable!(tx.conn(), c => sqlx::query_as(sql).fetch_all(c).await)?;
    let tenant = |(id, slug, name, at)| Tenant {
        tenant_id: TenantId(id),
        slug,
        name,
        created_at: Timestamp::from_micros(at),
    };
    Ok(rows.into_iter().map(tenant).collect())
}

/// The tenant that somebody means by its slug or id.
pub async fn tenant_by_slug_or_id(store: &Store, text: &str) -> Result<Tenant, StoreError> {
    let is_meant = |tenant: &Tenant| tenant.slug == text || tenant.tenant_id.to_string() == text;
    let found = tenants(store).await?.into_iter().find(is_meant);
    found.ok_or_else(|| StoreError::TenantNotFound(text.to_owned()))
}
