//! One fact: its type, its key, its fields, and the bytes and hash that stand for them.

use std::collections::BTreeMap;
use std::fmt;

use bpc_core::canonical::to_canonical;
use bpc_core::{CanonicalJson, Hash};

use super::key::segments;
use super::problem::Problem;
use super::read::read_record;
use super::schema::{Access, FactType};
use super::value::{Value, record_problems};
use crate::hash::sha256;
use crate::json::{Json, Node};
use crate::value::is_gln;

/// The fields of a fact by name.
pub type Fields = BTreeMap<&'static str, Value>;

/// A fact that its schema allows. Immutable: its payload and hash always fit its fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Fact {
    fact_type: FactType,
    key: String,
    segments: Vec<String>,
    fields: Fields,
    payload: CanonicalJson,
    payload_hash: Hash,
}

/// What tells one fact from another, inside a tenant. Sorted as proofs sort facts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId {
    /// The name of the type.
    pub fact_type: &'static str,
    /// The key.
    pub key: String,
    /// The version of the schema.
    pub schema_version: u32,
    /// The hash of the payload.
    pub payload_hash: Hash,
}

impl Fact {
    /// A fact of these fields.
    ///
    /// # Errors
    ///
    /// Every way in which key or fields are not what the schema allows; pointers start at the
    /// fact.
    pub fn new(fact_type: FactType, key: impl Into<String>, fields: Fields) -> Result<Self, Vec<Problem>> {
        let (schema, key) = (fact_type.schema(), key.into());
        let mut problems = record_problems(&fields, schema.fields);
        problems.extend(schema.check_key(&key).err().map(super::KeyError::problem));
        for group in schema.one_of {
            if !group.iter().any(|name| fields.contains_key(name)) {
                problems.push(Problem::new(
                    "FIELD_MISSING",
                    "",
                    format!("one of {}", group.join(", ")),
                    "none",
                ));
            }
        }
        problems.extend(facility_problem(fact_type, &key, &fields));
        if !problems.is_empty() {
            return Err(problems);
        }
        let payload = to_canonical(&fields).map_err(|refused| {
            vec![Problem::new(refused.kind.code(), "", "canonical JSON", refused.to_string())]
        })?;
        let payload_hash = sha256(&[payload.as_bytes()]);
        Ok(Self { fact_type, segments: segments(&key), key, fields, payload, payload_hash })
    }

    /// A fact as it was stored.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new); also if the bytes are not exactly the payload that these fields
    /// have.
    pub fn from_payload(fact_type: FactType, key: &str, payload: &[u8]) -> Result<Self, Vec<Problem>> {
        let json = Json::read(payload)
            .map_err(|error| vec![Problem::new(error.code(), "", "a stored payload", error.to_string())])?;
        let fields = read_record(&Node::root(&json), fact_type.schema().fields)?;
        let fact = Self::new(fact_type, key, fields)?;
        if fact.payload.as_bytes() != payload {
            let found = String::from_utf8_lossy(payload).into_owned();
            return Err(vec![Problem::new("JSON_NOT_CANONICAL", "", fact.payload.as_str(), found)]);
        }
        Ok(fact)
    }

    /// What it is about.
    #[must_use]
    pub fn fact_type(&self) -> FactType {
        self.fact_type
    }

    /// Its name, unique in its type.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The parts of its key, as texts without escapes.
    #[must_use]
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// The SKU of the battery it belongs to, if keys of its type begin with one.
    #[must_use]
    pub fn sku(&self) -> Option<&str> {
        if self.fact_type.schema().has_sku() { self.segments.first().map(String::as_str) } else { None }
    }

    /// All its fields.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// One field, if it is there.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// The canonical JSON of its fields: the bytes to store.
    #[must_use]
    pub fn payload(&self) -> &CanonicalJson {
        &self.payload
    }

    /// SHA-256 of the payload.
    #[must_use]
    pub fn payload_hash(&self) -> Hash {
        self.payload_hash
    }

    /// What tells it from other facts.
    #[must_use]
    pub fn id(&self) -> FactId {
        FactId {
            fact_type: self.fact_type.name(),
            key: self.key.clone(),
            schema_version: self.fact_type.schema().version,
            payload_hash: self.payload_hash,
        }
    }

    /// Who may see the value of a field of this fact; unknown fields are for nobody. What a
    /// document says about itself is as open as documents of its kind.
    #[must_use]
    pub fn access(&self, field: &str) -> Access {
        match (self.fact_type, self.field("kind")) {
            (FactType::Document, Some(Value::Tag(kind))) => document_access(kind),
            _ => self.fact_type.schema().field(field).map_or(Access::Internal, |field| field.access),
        }
    }
}

impl fmt::Debug for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?}", self.fact_type, self.key, self.payload)
    }
}

/// Annex XIII by kind of document.
fn document_access(kind: &str) -> Access {
    match kind {
        "dismantling" | "safety" | "part_numbers" | "spare_parts" => Access::Restricted,
        "test_report" => Access::Authority,
        "negative_events" | "environment" => Access::Interest,
        _ => Access::Public,
    }
}

/// A facility that says its id is a GLN has one with the right check digit.
fn facility_problem(fact_type: FactType, key: &str, fields: &Fields) -> Option<Problem> {
    let says_gln = fact_type == FactType::Facility && fields.get("id_scheme") == Some(&Value::Tag("gln"));
    (says_gln && !segments(key).first().is_some_and(|id| is_gln(id)))
        .then(|| Problem::new("GLN_INVALID", "", "a GLN of 13 digits with its check digit in the key", key))
}
