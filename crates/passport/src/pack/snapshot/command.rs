//! What people do with a snapshot before it is sealed.

use bpc_core::{EventId, StreamId, TenantId, Version};
use bpc_eventstore::entropy;
use bpc_worker::{Draft, Effects, Engine, Enqueue, Handler, JobId};
use uuid::Uuid;

use super::build::{BuildSnapshot, Payload};
use super::events::{CREATED, Created, ITEMS_ADDED, ITEMS_REMOVED, ItemsAdded, ItemsRemoved, STREAM};
use super::state::{Snapshot, SnapshotStatus, snapshot};
use crate::pack::PackError;
use crate::pack::document::{Document, DocumentStatus, FactName, document, in_shares};
use crate::pack::event::draft;

/// Begin a snapshot, with all facts of these documents.
pub async fn create_snapshot(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    name: &str,
    documents: &[Uuid],
) -> Result<Uuid, PackError> {
    let id = EventId::fresh(engine.store.now().await?, entropy()).0;
    let mut drafts = vec![draft(CREATED, &Created { name: name.to_owned() })?];
    for id in documents {
        let document = document(&engine.store, tenant, *id).await?;
        drafts.extend(added(&document, document.facts.clone())?);
    }
    let effects = Effects::none().emit(tenant, STREAM, StreamId(id), Version::NONE, drafts);
    engine.perform(tenant, actor, &effects).await?;
    Ok(id)
}

/// Add facts of a document: those whose hashes begin as given, or all of them. Returns how many.
pub async fn add_to_snapshot(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
    document_id: Uuid,
    hashes: &[String],
) -> Result<usize, PackError> {
    let snapshot = building(engine, tenant, id).await?;
    let document = document(&engine.store, tenant, document_id).await?;
    let facts = chosen(document.facts.iter(), hashes)?;
    let (count, drafts) = (facts.len(), added(&document, facts)?);
    append(engine, tenant, actor, &snapshot, drafts).await?;
    Ok(count)
}

/// Take facts out again, by the beginning of their hashes. Returns how many.
pub async fn remove_from_snapshot(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
    hashes: &[String],
) -> Result<usize, PackError> {
    let snapshot = building(engine, tenant, id).await?;
    let facts = chosen(snapshot.items.keys(), hashes)?;
    let count = facts.len();
    let drafts: Result<Vec<Draft>, _> = in_shares(&facts, FactName::size)
        .iter()
        .map(|facts| draft(ITEMS_REMOVED, &ItemsRemoved { facts: facts.to_vec() }))
        .collect();
    append(engine, tenant, actor, &snapshot, drafts?).await?;
    Ok(count)
}

/// Have the facts checked by a job.
pub async fn build_snapshot(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
) -> Result<JobId, PackError> {
    let snapshot = building(engine, tenant, id).await?;
    let job = Enqueue::new(BuildSnapshot::TYPE, &Payload { snapshot_id: id })?;
    // A snapshot that was changed since it was refused is another one to check.
    let job = job.key(format!("build-{id}-{}", snapshot.version.0));
    Ok(engine.enqueue(tenant, actor, job).await?.job_id)
}

async fn building(engine: &Engine, tenant: TenantId, id: Uuid) -> Result<Snapshot, PackError> {
    let snapshot = snapshot(&engine.store, tenant, id).await?;
    match snapshot.status {
        SnapshotStatus::Building => Ok(snapshot),
        SnapshotStatus::Ready => {
            let message = format!("snapshot {id} is READY: seal it, or begin another to change it");
            Err(PackError::refused("INVALID_SNAPSHOT_STATE", message))
        }
        SnapshotStatus::Sealed => {
            let message = format!("snapshot {id} is sealed and cannot change: begin another");
            Err(PackError::refused("SNAPSHOT_SEALED", message))
        }
    }
}

async fn append(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    snapshot: &Snapshot,
    drafts: Vec<Draft>,
) -> Result<(), PackError> {
    let effects = Effects::none().emit(tenant, STREAM, StreamId(snapshot.id), snapshot.version, drafts);
    engine.perform(tenant, actor, &effects).await?;
    Ok(())
}

fn added(document: &Document, facts: Vec<FactName>) -> Result<Vec<Draft>, PackError> {
    let id = document.id;
    match document.status {
        DocumentStatus::Validated => {}
        DocumentStatus::Rejected => {
            let message = format!("document {id} was rejected: `bpc document show {id}` says why");
            return Err(PackError::refused("DOCUMENT_REJECTED", message));
        }
        DocumentStatus::Uploaded => {
            let message = format!("document {id} is not parsed yet: run `bpc worker --until-idle`");
            return Err(PackError::refused("VALIDATION_ERROR", message));
        }
    }
    let part =
        |facts: &&[FactName]| draft(ITEMS_ADDED, &ItemsAdded { document_id: id, facts: facts.to_vec() });
    Ok(in_shares(&facts, FactName::size).iter().map(part).collect::<Result<_, _>>()?)
}

/// Those whose hash begins as one of `hashes`, which must each mean something; all if there are none.
fn chosen<'a>(
    facts: impl Iterator<Item = &'a FactName> + Clone,
    hashes: &[String],
) -> Result<Vec<FactName>, PackError> {
    let begins =
        |fact: &FactName, hash: &str| fact.payload_hash.to_string().starts_with(&hash.to_ascii_lowercase());
    if let Some(hash) = hashes.iter().find(|hash| !facts.clone().any(|fact| begins(fact, hash))) {
        let message = format!("no fact there has a hash that begins with {hash}: see `bpc facts list`");
        return Err(PackError::refused("VALIDATION_ERROR", message));
    }
    let wanted = |fact: &&FactName| hashes.is_empty() || hashes.iter().any(|hash| begins(fact, hash));
    Ok(facts.filter(wanted).cloned().collect())
}
