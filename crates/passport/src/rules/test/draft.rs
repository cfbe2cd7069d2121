//! The input of a case while it can still be changed: facts as fields, a product and a day.

use std::collections::BTreeMap;

use bpc_core::Hash;

use crate::facts::{Fact, FactType, Fields, Problem};
use crate::hash::sha256;
use crate::value::Date;

/// The input of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The battery it is about.
    pub product: String,
    /// The day it is judged on.
    pub as_of: Date,
    /// Facts by type and key.
    pub facts: BTreeMap<(FactType, String), Fields>,
}

/// A case that can be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The battery it is about.
    pub product: String,
    /// The day it is judged on.
    pub as_of: Date,
    /// Its facts.
    pub facts: Vec<Fact>,
    /// SHA-256 of all of this: what makes two cases the same.
    pub hash: Hash,
}

impl Draft {
    /// The case, if its facts are what their schemas allow.
    ///
    /// # Errors
    ///
    /// The fact that is not, and why.
    pub fn case(&self) -> Result<Case, ((FactType, String), Vec<Problem>)> {
        let mut facts = Vec::with_capacity(self.facts.len());
        for ((fact_type, key), fields) in &self.facts {
            let fact = Fact::new(*fact_type, key.as_str(), fields.clone())
                .map_err(|problems| ((*fact_type, key.clone()), problems))?;
            facts.push(fact);
        }
        Ok(Case::new(self.product.clone(), self.as_of, facts))
    }
}

impl Case {
    /// A case of these facts.
    pub fn new(product: String, as_of: Date, facts: Vec<Fact>) -> Self {
        let mut names: Vec<_> =
            facts.iter().map(|fact| (fact.fact_type().name(), fact.key(), fact.payload_hash())).collect();
        names.sort();
        let mut bytes = format!("{product}\n{as_of}\n").into_bytes();
        for (fact_type, key, payload) in names {
            bytes.extend_from_slice(format!("{fact_type}\n{key}\n{payload}\n").as_bytes());
        }
        Self { product, as_of, facts, hash: sha256(&[&bytes]) }
    }

    /// The same case as something to change.
    pub fn draft(&self) -> Draft {
        let facts = self.facts.iter();
        Draft {
            product: self.product.clone(),
            as_of: self.as_of,
            facts: facts
                .map(|fact| ((fact.fact_type(), fact.key().to_owned()), fact.fields().clone()))
                .collect(),
        }
    }
}
