//! Filling the rebuilt views.

use std::sync::Arc;

use bpc_core::log_events::{
    LOG, LOG_KEY_ADDED, LOG_KEY_ROTATED, LOG_REOPENED, TENANT, TENANT_ADDED, TenantAdded,
};
use bpc_core::{Envelope, StreamId};
use bpc_eventstore::{Conn, Store, StoreError, Tenant, insert_tenant, portable};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::Receiver;

use crate::domain::Projection;
use crate::sqlite;

use super::batch::Batch;
use super::drift::{Drift, DriftCode, Drifts};
use super::error::ReplayError;

/// Write batches, one transaction each, until there are no more. Returns what the views did not take.
pub(super) async fn write(
    target: &Store,
    projections: &[Arc<dyn Projection>],
    mut batches: Receiver<Batch>,
) -> Result<Drifts, ReplayError> {
    let mut refused = Drifts::default();
    while let Some(batch) = batches.recv().await {
        let mut tx = target.begin().await.map_err(ReplayError::target)?;
        let mut conn = tx.conn();
        let Conn::Sqlite(sqlite) = &mut conn else {
            return Err(ReplayError::TargetNotSqlite);
        };
        sqlite::insert_rows(sqlite, &batch.jobs).await.map_err(ReplayError::target)?;
        for event_bytes in &batch.events {
            let envelope = Envelope::read(event_bytes).map_err(ReplayError::target)?;
            take(&mut conn, projections, &envelope, &mut refused).await?;
        }
        tx.commit().await.map_err(ReplayError::target)?;
    }
    Ok(refused)
}

/// One event into the view of the engine it belongs to, or into those of the projections that follow
/// its stream. The engine's own streams have no other followers while the log is written either.
async fn take(
    conn: &mut Conn<'_>,
    projections: &[Arc<dyn Projection>],
    envelope: &Envelope<'_>,
    refused: &mut Drifts,
) -> Result<(), ReplayError> {
    match (&*envelope.stream_type, &*envelope.event_type) {
        (TENANT, TENANT_ADDED) => {
            settle("tenants", add_tenant(conn, envelope).await, envelope, refused)?;
        }
        (LOG, LOG_KEY_ADDED | LOG_KEY_ROTATED | LOG_REOPENED) => {
            settle("log_keys", add_log_key(conn, envelope).await, envelope, refused)?;
        }
        (TENANT | LOG, _) => {}
        (stream_type, _) => {
            for projection in projections.iter().filter(|it| it.stream_types().contains(&stream_type)) {
                let applied = projection.apply(conn, envelope).await;
                settle(projection.name(), applied, envelope, refused)?;
            }
        }
    }
    Ok(())
}

/// What an event itself is to blame for is drift; anything else ends the replay.
fn settle(
    projection: &'static str,
    applied: Result<(), StoreError>,
    envelope: &Envelope<'_>,
    refused: &mut Drifts,
) -> Result<(), ReplayError> {
    let (stream_id, version): (StreamId, _) = (envelope.stream_id, envelope.version);
    match applied {
        Ok(()) => {}
        Err(error @ (StoreError::Damaged(_) | StoreError::Envelope(_) | StoreError::Conflict(_))) => {
            let message = format!("{projection} does not take {}: {error}", envelope.event_type);
            let code = DriftCode::ReplayEventRefused;
            refused.add(|| Drift::of_event(code, stream_id, version.0 as i32, message));
        }
        Err(source) => return Err(ReplayError::Projection { projection, stream_id, version, source }),
    }
    Ok(())
}

async fn add_tenant(conn: &mut Conn<'_>, envelope: &Envelope<'_>) -> Result<(), StoreError> {
    let TenantAdded { slug, name } = payload(envelope)?;
    let tenant = Tenant { tenant_id: envelope.tenant_id, slug, name, created_at: envelope.occurred_at };
    insert_tenant(conn, &tenant).await
}

/// What every event that brings a key says of it.
#[derive(Deserialize)]
struct NewKey {
    public_key: String,
    origin: String,
}

async fn add_log_key(conn: &mut Conn<'_>, envelope: &Envelope<'_>) -> Result<(), StoreError> {
    // A key that is added again has been there since the first time.
    let sql = "INSERT INTO log_keys (public_key, origin, added_at) VALUES ($1, $2, $3) \
        ON CONFLICT (public_key) DO NOTHING";
    let NewKey { public_key, origin } = payload(envelope)?;
    portable!(conn, c => {
        sqlx::query(sql)
            .bind(public_key)
            .bind(origin)
            .bind(envelope.occurred_at.as_micros())
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}

fn payload<T: DeserializeOwned>(envelope: &Envelope<'_>) -> Result<T, StoreError> {
    serde_json::from_slice(envelope.payload).map_err(|error| StoreError::Damaged(error.to_string()))
}
