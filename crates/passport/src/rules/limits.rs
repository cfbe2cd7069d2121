//! How much an evaluation may take in and spend.

use crate::facts::FactType;

/// What an evaluation may spend, one for each node evaluated. The same on all machines.
pub const FUEL: u64 = 5_000_000;

/// The most elements of a list in a fact.
pub const LIST_MAX: u64 = 1000;

/// The most facts of a type in one evaluation. There is one product.
pub fn facts_max(fact: FactType) -> u64 {
    match fact {
        FactType::Battery => 1,
        FactType::Operator | FactType::Facility | FactType::Renewable | FactType::RecycledShare => 100,
        FactType::Pcf | FactType::DueDiligence | FactType::State | FactType::Document => 500,
        FactType::Material => 450,
        FactType::PcfInput | FactType::SupplyActor | FactType::Incident => 2000,
        FactType::Component => 10_000,
    }
}
