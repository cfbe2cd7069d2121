//! Sealing a snapshot, and opening a sealed one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bpc_core::{Hash, StreamId, TenantId};
use bpc_worker::{Effects, Engine, Store, StoreError};
use uuid::Uuid;

use super::build::facts_of;
use super::events::{SEALED, STREAM, Sealed};
use super::state::{Snapshot, SnapshotStatus, snapshot};
use crate::facts::{Fact, FactType};
use crate::json::{Json, Node};
use crate::pack::event::{blob, draft};
use crate::pack::{PackError, Settings};
use crate::proof::SaltKey;
use crate::snapshot::SealedSnapshot;

/// A snapshot that was just sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Its hash.
    pub hash: Hash,
    /// How many facts it holds.
    pub items: usize,
}

/// Seal a READY snapshot under a fresh salt key.
pub async fn seal_snapshot(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    settings: &Settings,
    id: Uuid,
) -> Result<Seal, PackError> {
    let snapshot = snapshot(&engine.store, tenant, id).await?;
    match snapshot.status {
        SnapshotStatus::Ready => {}
        SnapshotStatus::Building => {
            let message = format!("snapshot {id} is not READY: run `bpc snapshot build {id}` and a worker");
            return Err(PackError::refused("SNAPSHOT_NOT_READY", message));
        }
        SnapshotStatus::Sealed => {
            return Err(PackError::refused("SNAPSHOT_SEALED", format!("snapshot {id} is sealed already")));
        }
    }
    let key = settings
        .secrets
        .key_or_create()
        .map_err(|error| PackError::refused(error.code(), error.to_string()))?;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has a random source");
    let facts = facts_of(&engine.store, tenant, &snapshot).await?;
    let sealed = SealedSnapshot::seal(tenant, id, facts, SaltKey::new(bytes))
        .map_err(|conflicts| PackError::refused("SNAPSHOT_CONFLICT", conflicts[0].to_string()))?;
    let (effects, _) = Effects::none().blob(sealed.canonical().as_bytes().to_vec());
    let (effects, facts) = effects.blob(written(sealed.facts())?);
    let event = Sealed {
        snapshot_hash: sealed.hash(),
        facts,
        salt_commit: sealed.salt_key().commitment(),
        salt: STANDARD.encode(key.seal(&context(id), sealed.salt_key().secret_bytes())),
    };
    let drafts = vec![draft(SEALED, &event)?];
    let effects = effects.emit(tenant, STREAM, StreamId(id), snapshot.version, drafts);
    engine.perform(tenant, actor, &effects).await?;
    Ok(Seal { hash: sealed.hash(), items: sealed.facts().len() })
}

/// A sealed snapshot as it was sealed, checked against its hash.
pub(in crate::pack) async fn reopen(
    store: &Store,
    tenant: TenantId,
    settings: &Settings,
    snapshot: &Snapshot,
) -> Result<SealedSnapshot, PackError> {
    let Some(sealed) = &snapshot.sealed else {
        let message = format!("snapshot {} is not sealed: run `bpc snapshot seal {0}`", snapshot.id);
        return Err(PackError::refused("SNAPSHOT_NOT_READY", message));
    };
    let key = settings.secrets.key().map_err(|error| PackError::refused(error.code(), error.to_string()))?;
    let damaged = || StoreError::Damaged(format!("salt or facts of snapshot {}", snapshot.id));
    let salt = STANDARD.decode(&sealed.salt).map_err(|_| damaged())?;
    let salt = key
        .open(&context(snapshot.id), &salt)
        .map_err(|error| PackError::refused(error.code(), error.to_string()))?;
    let salt = SaltKey::new(salt.try_into().map_err(|_| damaged())?);
    let facts = read(&blob(store, sealed.facts).await?).ok_or_else(damaged)?;
    SealedSnapshot::reopen(tenant, snapshot.id, facts, salt, sealed.snapshot_hash)
        .map_err(|error| PackError::refused(error.code(), error.to_string()))
}

/// A salt key opens only for the snapshot it was made for.
fn context(snapshot: Uuid) -> String {
    format!("snapshot-salt:{snapshot}")
}

fn written(facts: &[Fact]) -> Result<Vec<u8>, PackError> {
    let fact = |fact: &Fact| {
        Json::object([
            ("k", Json::text(fact.key())),
            ("p", Json::from_canonical(fact.payload())),
            ("t", Json::text(fact.fact_type().name())),
        ])
    };
    Ok(Json::Array(facts.iter().map(fact).collect()).canonical()?.into_bytes())
}

fn read(bytes: &[u8]) -> Option<Vec<Fact>> {
    let json = Json::read(bytes).ok()?;
    let fact = |node: &Node<'_>| {
        let fact_type = FactType::from_name(node.at("/t").text()?)?;
        let payload = node.at("/p").value()?.canonical().ok()?;
        Fact::from_payload(fact_type, node.at("/k").text()?, payload.as_bytes()).ok()
    };
    Node::root(&json).items().iter().map(fact).collect()
}
