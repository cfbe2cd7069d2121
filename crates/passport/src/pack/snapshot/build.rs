//! BUILD_SNAPSHOT: are these facts fit to be sealed?

use std::collections::{BTreeMap, BTreeSet};

use bpc_core::{Hash, StreamId, TenantId};
use bpc_worker::{Context, Effects, Handler, HandlerError, Job, JobPolicy, Store};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::events::{READY, Ready, STREAM};
use super::state::{Snapshot, SnapshotStatus, snapshot};
use crate::facts::Fact;
use crate::pack::PackError;
use crate::pack::document::{document, stated_facts};
use crate::pack::event::draft;
use crate::snapshot::check_items;

/// Checks snapshots.
#[derive(Clone, Copy, Debug)]
pub struct BuildSnapshot;

/// Which snapshot.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Its id.
    pub snapshot_id: Uuid,
}

impl Handler for BuildSnapshot {
    const TYPE: &'static str = "BUILD_SNAPSHOT";
    type Payload = Payload;

    fn policy(&self) -> JobPolicy {
        JobPolicy { cpu_bound: true, ..JobPolicy::default() }
    }

    /// It decides on what the snapshot holds; if that changes meanwhile, the version does too and the
    /// attempt is repeated.
    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let snapshot = snapshot(cx.store(), job.tenant_id, job.payload.snapshot_id).await?;
        match snapshot.status {
            SnapshotStatus::Building => {}
            SnapshotStatus::Ready => return Ok(Effects::none()),
            SnapshotStatus::Sealed => {
                let message = format!("snapshot {} is sealed already", snapshot.id);
                return Err(HandlerError::permanent("SNAPSHOT_SEALED", message));
            }
        }
        let facts = facts_of(cx.store(), job.tenant_id, &snapshot).await?;
        let items = check_items(facts.iter().map(Fact::id)).map_err(|conflicts| {
            let all: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
            HandlerError::permanent("SNAPSHOT_CONFLICT", all[0].clone()).with_detail(all.join("\n"))
        })?;
        let drafts = vec![draft(READY, &Ready { items: items.len() as u64 })?];
        Ok(Effects::none().emit(job.tenant_id, STREAM, StreamId(snapshot.id), snapshot.version, drafts))
    }
}

/// The facts of a snapshot, read from the documents that state them.
pub(super) async fn facts_of(
    store: &Store,
    tenant: TenantId,
    snapshot: &Snapshot,
) -> Result<Vec<Fact>, PackError> {
    let mut wanted: BTreeMap<Uuid, BTreeSet<(&str, &str, Hash)>> = BTreeMap::new();
    for (fact, document) in &snapshot.items {
        let name = (fact.fact_type.as_str(), fact.key.as_str(), fact.payload_hash);
        wanted.entry(*document).or_default().insert(name);
    }
    let mut facts = Vec::with_capacity(snapshot.items.len());
    for (id, names) in wanted {
        let document = document(store, tenant, id).await?;
        let stated = stated_facts(store, &document).await?.into_iter().map(|stated| stated.fact);
        let is_wanted =
            |fact: &Fact| names.contains(&(fact.fact_type().name(), fact.key(), fact.payload_hash()));
        facts.extend(stated.filter(is_wanted));
    }
    if facts.len() == snapshot.items.len() {
        Ok(facts)
    } else {
        let (found, items) = (facts.len(), snapshot.items.len());
        let message = format!("{found} of {items} facts of snapshot {} can be read", snapshot.id);
        Err(bpc_worker::StoreError::Damaged(message).into())
    }
}
