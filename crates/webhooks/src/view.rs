//! The views of endpoints, subscriptions and deliveries.

use std::pin::Pin;

use bpc_core::Envelope;
use bpc_eventstore::{Conn, StoreError, portable};
use bpc_projections::{Projection, ViewTable};

use crate::delivery::DeliveryStatus;
use crate::events::{
    DELIVERED, DELIVERY, Delivered, ENDPOINT, ENDPOINT_ADDED, ENDPOINT_DISABLED, EndpointAdded, FAILED,
    Failed, NewSubscription, REDELIVERY_REQUESTED, REQUESTED, Requested, SUBSCRIBED, SUBSCRIPTION,
    UNSUBSCRIBED, payload,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Webhooks;

const TABLES: &[ViewTable] = &[
    ViewTable {
        name: "webhook_endpoints",
        columns: &["endpoint_id", "tenant_id", "url", "active", "created_at"],
        key_columns: 1,
    },
    ViewTable {
        name: "webhook_subscriptions",
        columns: &["subscription_id", "tenant_id", "endpoint_id", "event_type", "active", "created_at"],
        key_columns: 1,
    },
    ViewTable {
        name: "webhook_deliveries",
        columns: &[
            "delivery_id",
            "tenant_id",
            "endpoint_id",
            "subscription_id",
            "event_id",
            "event_type",
            "status",
            "http_status",
            "error_code",
            "requested_at",
            "settled_at",
        ],
        key_columns: 1,
    },
];

impl Projection for Webhooks {
    fn name(&self) -> &'static str {
        "webhooks"
    }

    fn stream_types(&self) -> &'static [&'static str] {
        &[ENDPOINT, SUBSCRIPTION, DELIVERY]
    }

    fn tables(&self) -> &'static [ViewTable] {
        TABLES
    }

    fn apply<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        event: &'a Envelope<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        Box::pin(take_in(conn, event))
    }
}

const ADD_ENDPOINT: &str = "INSERT INTO webhook_endpoints (endpoint_id, tenant_id, created_at, url, active) \
     VALUES ($1, $2, $3, $4, 1)";
const DISABLE_ENDPOINT: &str = "UPDATE webhook_endpoints SET active = 0 WHERE endpoint_id = $1";
const SUBSCRIBE: &str = "INSERT INTO webhook_subscriptions (subscription_id, tenant_id, created_at, endpoint_id, \
     event_type, active) VALUES ($1, $2, $3, $4, $5, 1) ON CONFLICT (subscription_id) DO UPDATE SET active = 1";
const UNSUBSCRIBE: &str = "UPDATE webhook_subscriptions SET active = 0 WHERE subscription_id = $1";
const REQUEST: &str = "INSERT INTO webhook_deliveries (delivery_id, tenant_id, requested_at, endpoint_id, \
     subscription_id, event_id, event_type, status) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const SETTLE: &str = "UPDATE webhook_deliveries SET status = $2, http_status = $3, error_code = $4, \
     settled_at = $5 WHERE delivery_id = $1";

async fn take_in(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    let (id, tenant, at) = (event.stream_id.0, event.tenant_id.0, event.occurred_at.as_micros());
    match &*event.event_type {
        ENDPOINT_ADDED => {
            let EndpointAdded { url, .. } = payload(event)?;
            portable!(conn, c => {
                sqlx::query(ADD_ENDPOINT).bind(id).bind(tenant).bind(at).bind(url).execute(&mut **c).await.map(drop)
            })?;
        }
        ENDPOINT_DISABLED => {
            portable!(conn, c => sqlx::query(DISABLE_ENDPOINT).bind(id).execute(&mut **c).await.map(drop))?;
        }
        SUBSCRIBED => {
            let NewSubscription { endpoint_id, event_type } = payload(event)?;
            portable!(conn, c => {
                sqlx::query(SUBSCRIBE)
                    .bind(id)
                    .bind(tenant)
                    .bind(at)
                    .bind(endpoint_id)
                    .bind(event_type)
                    .execute(&mut **c)
                    .await
                    .map(drop)
            })?;
        }
        UNSUBSCRIBED => {
            portable!(conn, c => sqlx::query(UNSUBSCRIBE).bind(id).execute(&mut **c).await.map(drop))?;
        }
        REQUESTED => {
            let it: Requested = payload(event)?;
            portable!(conn, c => {
                sqlx::query(REQUEST)
                    .bind(id)
                    .bind(tenant)
                    .bind(at)
                    .bind(it.endpoint_id)
                    .bind(it.subscription_id)
                    .bind(it.event_id.0)
                    .bind(it.event_type)
                    .bind(DeliveryStatus::Pending.as_str())
                    .execute(&mut **c)
                    .await
                    .map(drop)
            })?;
        }
        DELIVERED => {
            let it: Delivered = payload(event)?;
            settle(conn, event, DeliveryStatus::Delivered, Some(it.http_status), None).await?;
        }
        FAILED => {
            let it: Failed = payload(event)?;
            settle(conn, event, DeliveryStatus::Failed, it.http_status, Some(it.code)).await?;
        }
        REDELIVERY_REQUESTED => settle(conn, event, DeliveryStatus::Pending, None, None).await?,
        _ => {}
    }
    Ok(())
}

async fn settle(
    conn: &mut Conn<'_>,
    event: &Envelope<'_>,
    status: DeliveryStatus,
    http_status: Option<u16>,
    code: Option<String>,
) -> Result<(), StoreError> {
    let at = (status != DeliveryStatus::Pending).then(|| event.occurred_at.as_micros());
    portable!(conn, c => {
        sqlx::query(SETTLE)
            .bind(event.stream_id.0)
            .bind(status.as_str())
            .bind(http_status.map(i64::from))
            .bind(code)
            .bind(at)
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}
