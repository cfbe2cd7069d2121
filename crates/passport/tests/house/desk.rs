//! Everything that a passport needs before it can be compiled, made through the pack's own commands.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bpc_core::canonical::to_canonical;
use bpc_core::{StreamId, Version};
use bpc_passport::import::DocumentKind;
use bpc_passport::pack::{
    CompileOrder, PassportVersion, Settings, SigningKeySource, add_product, add_rules, build_snapshot,
    compile_passport, create_passport, create_snapshot, passport_version, publish_rules, register,
    seal_snapshot,
};
use bpc_passport::rules::Sources;
use bpc_secrets::{KeySource, SecretsKey};
use bpc_testkit::TestDatabase;
use bpc_worker::{Draft, Effects, JobId, Registry, Status};
use serde_json::json;
use uuid::Uuid;

use super::{ACTOR, House, sample};

pub const EV: &str = "batterypass-ready/ev.gefeg.json";
pub const EV_SKU: &str = "09521234010012";
/// An id that nothing has.
pub const NOBODY: Uuid = Uuid::from_u128(0x8000_8000_0000_0000_0001);

/// A small package that passes the gate: two rules, a table, an attribute, and tests at every threshold.
pub const RULES: &str = include_str!("small.rules");

/// Settings with keys of their own, the same ones for the same seed.
pub fn settings(seed: u8) -> Settings {
    let mut settings = Settings::new(KeySource::Key(SecretsKey::generate()));
    settings.signing_key = SigningKeySource::Base64(STANDARD.encode([seed; 32]));
    settings
}

/// The pack with these settings.
pub fn pack(settings: &Settings) -> Registry {
    let mut registry = Registry::new();
    register(&mut registry, settings);
    registry
}

/// A house with a sealed snapshot, published rules and a passport.
pub struct Desk {
    pub house: House,
    pub settings: Settings,
    pub snapshot: Uuid,
    pub rules: Uuid,
    pub passport: Uuid,
}

impl Desk {
    pub async fn on(db: &TestDatabase) -> Self {
        let settings = settings(3);
        Self::with(db, settings.clone(), pack(&settings)).await
    }

    pub async fn with(db: &TestDatabase, settings: Settings, registry: Registry) -> Self {
        let house = House::with(db, registry).await;
        let snapshot = sealed(&house, &settings).await;
        let rules = published(&house, RULES).await;
        let passport = begun(&house, EV_SKU).await;
        Desk { house, settings, snapshot, rules, passport }
    }

    pub fn order(&self) -> CompileOrder {
        CompileOrder {
            passport_id: self.passport,
            snapshot_id: self.snapshot,
            rule_version_id: self.rules,
            as_of: None,
        }
    }

    /// Order a version judged on a day, and let workers do everything that follows.
    pub async fn compiled(&self, as_of: &str) -> PassportVersion {
        let order = CompileOrder { as_of: Some(as_of.parse().expect("a day")), ..self.order() };
        let (engine, tenant) = (&self.house.engine, self.house.tenant);
        let job = compile_passport(engine, tenant, ACTOR, &self.settings, order).await.expect("ordered");
        self.house.work().await;
        self.version_of(job).await
    }

    /// The version that a compilation made.
    pub async fn version_of(&self, job: JobId) -> PassportVersion {
        let history = self.house.history(job).await;
        assert_eq!(history.job.status(), Status::Succeeded, "{:?}", history.job.last_error);
        let last = history.events.last().expect("an event");
        let said: serde_json::Value = serde_json::from_str(&last.payload).expect("JSON");
        let result = &said["result"];
        let id: Uuid = result["passport_version_id"].as_str().expect("an id").parse().expect("an id");
        passport_version(&self.house.engine.store, self.house.tenant, id).await.expect("a version")
    }
}

/// All facts of the public sample, sealed.
pub async fn sealed(house: &House, settings: &Settings) -> Uuid {
    let id = ready(house).await;
    seal_snapshot(&house.engine, house.tenant, ACTOR, settings, id).await.expect("sealed");
    id
}

/// The same, checked but not sealed.
pub async fn ready(house: &House) -> Uuid {
    let mut documents = Vec::new();
    for kind in [DocumentKind::Bom, DocumentKind::Pcf, DocumentKind::DueDiligence] {
        documents.push(house.upload("ev.json", kind, &sample(EV)).await.id);
    }
    house.work().await;
    let created = create_snapshot(&house.engine, house.tenant, ACTOR, "ev", &documents).await;
    let id = created.expect("a snapshot");
    build_snapshot(&house.engine, house.tenant, ACTOR, id).await.expect("ordered");
    house.work().await;
    id
}

/// A package as if its tests had run well: what they find is tested where they run.
pub async fn published(house: &House, text: &str) -> Uuid {
    let sources = Sources::single("small.rules", text);
    let (engine, tenant) = (&house.engine, house.tenant);
    let added = add_rules(engine, tenant, ACTOR, &sources, 1).await.expect("added");
    engine.cancel(tenant, ACTOR, added.job_id.expect("a job"), None).await.expect("cancelled");
    let run = json!({"seed": "1", "total": 612, "distinct": 600, "failed": 0, "coverage": "100",
                     "mutation_score": "100", "passed": true, "missing": [], "report": "00".repeat(32)});
    let payload = to_canonical(&run).expect("canonical");
    let draft = Draft { event_type: "TESTS_RUN".into(), schema: 1, payload };
    let effects =
        Effects::none().emit(tenant, "RulePackageVersion", StreamId(added.id), Version(1), vec![draft]);
    engine.perform(tenant, ACTOR, &effects).await.expect("recorded");
    publish_rules(engine, tenant, ACTOR, added.id).await.expect("published");
    added.id
}

pub async fn begun(house: &House, sku: &str) -> Uuid {
    let (engine, tenant) = (&house.engine, house.tenant);
    let (product, _) = add_product(engine, tenant, ACTOR, sku, "A battery").await.expect("a product");
    create_passport(engine, tenant, ACTOR, product.id).await.expect("a passport")
}
