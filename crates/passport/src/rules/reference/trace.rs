//! Trace hashes of the reference, spelled out from their description.

use bpc_core::Hash;
use sha2::{Digest, Sha256};

use crate::facts::Fact;
use crate::rules::eval::Context;
use crate::rules::types::Type;

use super::Reference;
use super::value::{Found, Value, json};

pub(super) const CONST: u8 = 1;
pub(super) const FACT: u8 = 2;
pub(super) const FIELD: u8 = 3;
pub(super) const OP: u8 = 4;
pub(super) const TABLE: u8 = 5;
pub(super) const ASSERT: u8 = 6;

/// What a step says about its value.
pub(super) enum Says {
    Nothing,
    Json(String),
    Hidden(Hash),
    Unknown,
    Fault(&'static str),
}

pub(super) fn hash(kind: u8, name: &str, children: &[Hash], says: &Says) -> Hash {
    let mut bytes: Vec<u8> = vec![3, kind];
    bytes.extend((name.len() as u16).to_be_bytes());
    bytes.extend(name.bytes());
    bytes.extend((children.len() as u16).to_be_bytes());
    for child in children {
        bytes.extend(child.0);
    }
    match says {
        Says::Nothing => bytes.push(0),
        Says::Json(text) => {
            bytes.push(1);
            bytes.extend(text.bytes());
        }
        Says::Hidden(hash) => {
            bytes.push(2);
            bytes.extend(hash.0);
        }
        Says::Unknown => bytes.push(3),
        Says::Fault(code) => {
            bytes.push(4);
            bytes.extend(code.bytes());
        }
    }
    Hash(Sha256::digest(&bytes).into())
}

/// The hash of the step that reads a fact.
pub(super) fn leaf(fact: &Fact, context: &Context<'_>) -> Hash {
    hash(FACT, fact.fact_type().name(), &[], &Says::Hidden(context.leaves.fact(fact)))
}

impl Reference<'_> {
    /// A value that follows from others.
    pub(super) fn step(&self, kind: u8, name: &str, value: Value, ty: &Type, from: &[&Found]) -> Found {
        let hashes: Vec<Hash> = from.iter().map(|found| found.hash).collect();
        self.follows(kind, name, value, ty, &hashes, from.iter().all(|found| found.open))
    }

    /// A value that follows from steps with these hashes, all of them open or not.
    pub(super) fn follows(
        &self,
        kind: u8,
        name: &str,
        value: Value,
        ty: &Type,
        hashes: &[Hash],
        open: bool,
    ) -> Found {
        let says = match &value {
            Value::Unknown(_) => Says::Unknown,
            Value::Fault(code) => Says::Fault(code),
            Value::List(_) | Value::Rec(_) | Value::Fact(_) => Says::Nothing,
            _ if !open => Says::Nothing,
            plain => Says::Json(json(&self.program.enums, plain, ty)),
        };
        Found { value, hash: hash(kind, name, hashes, &says), open }
    }
}
