//! The facts of a document with payload and provenance, as one blob.

use std::collections::BTreeMap;

use bpc_core::CanonicalJson;
use bpc_core::canonical::JsonError;
use bpc_worker::{Store, StoreError};

use super::events::FactName;
use super::state::Document;
use crate::facts::{Fact, FactType};
use crate::import::{Imported, SourcedFact};
use crate::json::{Json, Node};
use crate::pack::event::blob;

/// A fact, and the places in the document that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedFact {
    /// The fact.
    pub fact: Fact,
    /// For each field, the JSON pointer of the value it was read from.
    pub sources: BTreeMap<String, String>,
}

/// All facts that a document states; none before it is validated.
pub async fn stated_facts(store: &Store, document: &Document) -> Result<Vec<StatedFact>, StoreError> {
    let Some(hash) = document.stated else { return Ok(Vec::new()) };
    let bytes = blob(store, hash).await?;
    read(&bytes)
        .ok_or_else(|| StoreError::Damaged(format!("facts of document {} in blob {hash}", document.id)))
}

pub(super) fn name(fact: &Fact) -> FactName {
    let id = fact.id();
    FactName {
        fact_type: id.fact_type.to_owned(),
        key: id.key,
        schema_version: id.schema_version,
        payload_hash: id.payload_hash,
    }
}

/// `[{"from":{field:pointer},"k","p":payload,"t"}..]`, in the order of the document's facts.
pub(super) fn written(imported: &Imported) -> Result<CanonicalJson, JsonError> {
    let fact = |stated: &SourcedFact| {
        let sources = stated.sources.iter().map(|(field, at)| ((*field).to_owned(), Json::text(at.as_str())));
        Json::object([
            ("from", Json::Object(sources.collect())),
            ("k", Json::text(stated.fact.key())),
            ("p", Json::from_canonical(stated.fact.payload())),
            ("t", Json::text(stated.fact.fact_type().name())),
        ])
    };
    Json::Array(imported.facts.iter().map(fact).collect()).canonical()
}

fn read(bytes: &[u8]) -> Option<Vec<StatedFact>> {
    let json = Json::read(bytes).ok()?;
    Node::root(&json).items().iter().map(read_one).collect()
}

fn read_one(node: &Node<'_>) -> Option<StatedFact> {
    let fact_type = FactType::from_name(node.at("/t").text()?)?;
    let payload = node.at("/p").value()?.canonical().ok()?;
    let fact = Fact::from_payload(fact_type, node.at("/k").text()?, payload.as_bytes()).ok()?;
    let from = node.at("/from").members();
    let sources = from.iter().map(|(field, at)| Some(((*field).to_owned(), at.text()?.to_owned())));
    Some(StatedFact { fact, sources: sources.collect::<Option<_>>()? })
}
