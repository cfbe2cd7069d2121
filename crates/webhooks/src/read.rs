//! Lists of endpoints and deliveries, from the views.

use bpc_core::{TenantId, Timestamp};
use bpc_eventstore::portable;
use bpc_worker::{Store, StoreError};
use uuid::Uuid;

/// An endpoint and what it is subscribed to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the columns")]
pub struct EndpointRow {
    pub id: Uuid,
    pub url: String,
    pub is_active: bool,
    pub created_at: Timestamp,
    /// Subscriptions that hold: id and event type.
    pub subscriptions: Vec<(Uuid, String)>,
}

/// All endpoints of a tenant, oldest first.
pub async fn endpoints(store: &Store, tenant: TenantId) -> Result<Vec<EndpointRow>, StoreError> {
    let sql = "SELECT endpoint_id, url, active, created_at FROM webhook_endpoints WHERE tenant_id = $1 \
               ORDER BY created_at, endpoint_id";
    let subscribed = "SELECT subscription_id, event_type FROM webhook_subscriptions WHERE endpoint_id = $1 \
                      AND tenant_id = $2 AND active = 1 ORDER BY event_type";
    let mut tx = store.begin_read().await?;
    let rows: Vec<(Uuid, String, i64, i64)> =
        portable!(tx.conn(), c => sqlx::query_as(sql).bind(tenant.0).fetch_all(c).await)?;
    let mut endpoints = Vec::with_capacity(rows.len());
    for (id, url, active, at) in rows {
        let subscriptions = portable!(tx.conn(), c => {
            sqlx::query_as(subscribed).bind(id).bind(tenant.0).fetch_all(c).await
        })?;
        let created_at = Timestamp::from_micros(at);
        endpoints.push(EndpointRow { id, url, is_active: active == 1, created_at, subscriptions });
    }
    Ok(endpoints)
}

/// A row of the view of deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the columns")]
pub struct DeliveryRow {
    pub id: Uuid,
    pub endpoint_id: Uuid,
    pub event_id: Uuid,
    pub event_type: String,
    pub status: String,
    pub http_status: Option<i64>,
    pub error_code: Option<String>,
    pub requested_at: Timestamp,
}

type DeliveryColumns = (Uuid, Uuid, Uuid, String, String, Option<i64>, Option<String>, i64);

/// The newest deliveries of a tenant.
pub async fn deliveries(store: &Store, tenant: TenantId, limit: u32) -> Result<Vec<DeliveryRow>, StoreError> {
    let sql = "SELECT delivery_id, endpoint_id, event_id, event_type, status, http_status, error_code, \
               requested_at FROM webhook_deliveries WHERE tenant_id = $1 \
               ORDER BY requested_at DESC, delivery_id LIMIT $2";
    let mut tx = store.begin_read().await?;
    let rows: Vec<DeliveryColumns> = portable!(tx.conn(), c => {
        sqlx::query_as(sql).bind(tenant.0).bind(i64::from(limit)).fetch_all(c).await
    })?;
    let row = |(id, endpoint_id, event_id, event_type, status, http_status, error_code, at)| DeliveryRow {
        id,
        endpoint_id,
        event_id,
        event_type,
        status,
        http_status,
        error_code,
        requested_at: Timestamp::from_micros(at),
    };
    Ok(rows.into_iter().map(row).collect())
}
