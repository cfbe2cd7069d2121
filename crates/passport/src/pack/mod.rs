//! The pack itself: what happens with documents, facts, snapshots, rules and passports in a log.
//! Imports `eventstore`, `projections`, `secrets` and `worker`; everything it computes is in the other
//! modules, which import none of them.
//!
//! Each thing (document, snapshot, rule package version, product, passport, passport version) is a stream.
//! A command or a handler reads the stream, decides, and returns effects; nothing here writes by itself.

mod document;
mod error;
mod event;
mod lists;
mod passport;
mod rules;
mod settings;
mod snapshot;
mod sql;
mod views;

pub use document::{
    AddedDocument, Document, DocumentRow, DocumentStatus, FactFilter, FactRow, NewDocument, ParseFacts,
    StatedFact, add_document, document, documents, facts, stated_facts,
};
pub use error::PackError;
pub use lists::{PassportRow, RuleRow, SnapshotRow, all_versions, passports, rule_versions, snapshots};
pub use passport::{
    Compilation, CompileOrder, CompilePassport, GenerateQr, Passport, PassportVersion, Product, Qr,
    RulesComparison, SignPassport, VersionCheck, VersionStatus, activate, add_product, compile_passport,
    create_passport, disclose, passport, passport_version, product, product_by_sku, replay_version, revoke,
    what_if,
};
pub use rules::{
    AddedRules, RuleStatus, RuleText, RuleVersion, RunRuleTests, TestsRun, add_rules, explain_rule,
    load_rules, publish_rules, rule_version, test_rules,
};
pub use settings::{Settings, SigningKeySource};
pub use snapshot::{
    BuildSnapshot, Seal, Snapshot, SnapshotStatus, add_to_snapshot, build_snapshot, create_snapshot,
    remove_from_snapshot, seal_snapshot, snapshot,
};

use bpc_core::Hash;
use bpc_worker::{Registry, Store, StoreError};

/// Register the whole pack.
pub fn register(registry: &mut Registry, settings: &Settings) {
    document::register(registry);
    registry
        .job(BuildSnapshot)
        .job(RunRuleTests::default())
        .job(CompilePassport::new(settings.clone()))
        .job(SignPassport::new(settings.clone()))
        .job(GenerateQr::new(settings.clone()))
        .projection(views::Passports);
    for event in snapshot::events::ALL {
        registry.event(snapshot::events::STREAM, event);
    }
    for event in rules::events::ALL {
        registry.event(rules::events::STREAM, event);
    }
    for (stream, event) in passport::events::ALL {
        registry.event(stream, event);
    }
    for (event, field) in BLOBS {
        registry.blob(event, field);
    }
}

/// Fields of events that hold the hash of a blob. Those of documents are said there.
const BLOBS: [(&str, &str); 11] = [
    (snapshot::events::SEALED, "facts"),
    (snapshot::events::SEALED, "snapshot_hash"),
    (rules::events::ADDED, "sources"),
    (rules::events::TESTS_RUN, "report"),
    (passport::events::COMPILED, "payload_hash"),
    (passport::events::COMPILED, "proof"),
    (passport::events::COMPILED, "public"),
    (passport::events::COMPILED, "receipt_hash"),
    (passport::events::SIGNED, "credential"),
    (passport::events::QR_GENERATED, "png"),
    (passport::events::QR_GENERATED, "link_png"),
];

/// Bytes that an event of the pack speaks of.
pub async fn stored_bytes(store: &Store, hash: Hash) -> Result<Vec<u8>, StoreError> {
    event::blob(store, hash).await
}
