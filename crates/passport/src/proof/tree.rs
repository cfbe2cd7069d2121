//! All leaves of a passport, and their roots.

use bpc_core::canonical::write_string;
use bpc_core::{CanonicalJson, Hash};

use super::leaf::{Leaf, Tag};
use super::merkle::root;
use super::point::Point;
use super::salt::SaltKey;
use crate::facts::FactId;
use crate::hash::sha256;

/// An attribute that the passport shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Where in the payload, as a JSON pointer.
    pub pointer: String,
    /// Who may see it.
    pub point: Point,
    /// What it says.
    pub value: CanonicalJson,
}

/// What a rule came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleResult {
    /// The rule.
    pub rule: String,
    /// The result as it is proved.
    pub object: CanonicalJson,
}

/// The roots of a passport's proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roots {
    /// Over all facts of the snapshot.
    pub facts: Hash,
    /// Over all results.
    pub results: Hash,
    /// Over the attributes of each point of Annex XIII.
    pub sections: [Hash; 4],
    /// Over all of these.
    pub proof: Hash,
}

/// All leaves of a passport: facts sorted by type, key and hash, results by rule, attributes by
/// pointer inside their section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofTree {
    /// One leaf for each fact.
    pub facts: Vec<Leaf>,
    /// One leaf for each result.
    pub results: Vec<Leaf>,
    /// One leaf for each attribute, by point.
    pub sections: [Vec<Leaf>; 4],
    /// The roots over them.
    pub roots: Roots,
}

impl ProofTree {
    /// The tree of a passport version. The order of the arguments' entries does not matter.
    #[must_use]
    pub fn new(
        key: &SaltKey,
        passport_version: &str,
        facts: &[FactId],
        results: &[RuleResult],
        attributes: &[Attribute],
    ) -> Self {
        Self::over(key, passport_version, fact_leaves(key, facts), results, attributes)
    }

    /// The same over leaves of facts that are there already.
    pub(crate) fn over(
        key: &SaltKey,
        passport_version: &str,
        facts: Vec<Leaf>,
        results: &[RuleResult],
        attributes: &[Attribute],
    ) -> Self {
        let results: Vec<Leaf> = sorted(results, |result| result.rule.as_str())
            .into_iter()
            .map(|result| {
                Leaf::new(key, Tag::Result, &[passport_version, &result.rule], result.object.clone())
            })
            .collect();
        let attributes = sorted(attributes, |attribute| attribute.pointer.as_str());
        let sections = Point::ALL.map(|point| {
            let of_point = attributes.iter().filter(|attribute| attribute.point == point);
            of_point.map(|attribute| attribute_leaf(key, passport_version, attribute)).collect::<Vec<_>>()
        });
        let (facts_root, results_root) = (root_of(&facts), root_of(&results));
        let section_roots = [0, 1, 2, 3].map(|index| root_of(&sections[index]));
        let proof = proof_root(&facts_root, &results_root, &section_roots);
        let roots = Roots { facts: facts_root, results: results_root, sections: section_roots, proof };
        Self { facts, results, sections, roots }
    }
}

/// The leaves of facts, sorted by type, key and hash.
#[must_use]
pub(crate) fn fact_leaves(key: &SaltKey, facts: &[FactId]) -> Vec<Leaf> {
    let facts = sorted(facts, |fact| (fact.fact_type, &fact.key, fact.payload_hash));
    facts.into_iter().map(|fact| fact_leaf(key, fact)).collect()
}

/// `SHA-256(02 || facts_root || results_root || S1 || S2 || S3 || S4)`.
#[must_use]
pub fn proof_root(facts: &Hash, results: &Hash, sections: &[Hash; 4]) -> Hash {
    let [one, two, three, four] = sections;
    sha256(&[&[2], &facts.0, &results.0, &one.0, &two.0, &three.0, &four.0])
}

/// `{"p":pointer,"v":value}`, the object of an attribute's leaf.
#[must_use]
pub(crate) fn attribute_object(pointer: &str, value: &CanonicalJson) -> CanonicalJson {
    let mut object = Vec::with_capacity(12 + pointer.len() + value.len());
    object.extend_from_slice(b"{\"p\":");
    write_string(pointer, &mut object);
    object.extend_from_slice(b",\"v\":");
    object.extend_from_slice(value.as_bytes());
    object.push(b'}');
    CanonicalJson::from_trusted(object)
}

fn fact_leaf(key: &SaltKey, fact: &FactId) -> Leaf {
    let hash = fact.payload_hash.to_string();
    let mut object = Vec::with_capacity(96 + fact.key.len() + fact.fact_type.len());
    for (name, text) in [("{\"h\":", hash.as_str()), (",\"k\":", &fact.key), (",\"t\":", fact.fact_type)] {
        object.extend_from_slice(name.as_bytes());
        write_string(text, &mut object);
    }
    object.push(b'}');
    let object = CanonicalJson::from_trusted(object);
    Leaf::new(key, Tag::Fact, &[fact.fact_type, &fact.key, &hash], object)
}

fn attribute_leaf(key: &SaltKey, passport_version: &str, attribute: &Attribute) -> Leaf {
    let object = attribute_object(&attribute.pointer, &attribute.value);
    Leaf::new(key, Tag::Attribute, &[passport_version, &attribute.pointer], object)
}

fn root_of(leaves: &[Leaf]) -> Hash {
    root(&leaves.iter().map(|leaf| leaf.hash).collect::<Vec<_>>())
}

fn sorted<'a, T, K: Ord>(items: &'a [T], key: impl Fn(&'a T) -> K) -> Vec<&'a T> {
    let mut items: Vec<_> = items.iter().collect();
    items.sort_by_key(|item| key(item));
    items
}
