//! The passports of the tour: two batteries whose data are public, from documents to versions in force.

use bpc_passport::import::{DocumentKind, Format};
use bpc_passport::pack::{
    CompileOrder, NewDocument, activate, add_document, add_product, add_rules, build_snapshot,
    compile_passport, create_passport, create_snapshot, passports, publish_rules, replay_version,
    rule_version, seal_snapshot, stored_bytes,
};
use bpc_passport::qr::QrCode;
use bpc_passport::rules::Verdict;
use bpc_passport::rules::shipped::eu_2023_1542;
use bpc_worker::TenantId;
use uuid::Uuid;

use crate::command::passport::{print_verdicts, rule_steps};
use crate::error::Failure;
use crate::files;
use crate::output::{Table, count};

use super::Tour;
use super::watch::Watch;

/// A battery whose passport data somebody published.
struct Battery {
    file: &'static str,
    sku: &'static str,
    bytes: &'static [u8],
}

/// From openepcis/openepcis-dpp-ready, Apache-2.0; see `crates/passport/tests/data/SOURCES.md`.
const BATTERIES: [Battery; 2] = [
    Battery {
        file: "ev.gefeg.json",
        sku: "09521234010012",
        bytes: include_bytes!("../../../crates/passport/tests/data/batterypass-ready/ev.gefeg.json"),
    },
    Battery {
        file: "other-industrial.gefeg.json",
        sku: "09521002005004",
        bytes: include_bytes!(
            "../../../crates/passport/tests/data/batterypass-ready/other-industrial.gefeg.json"
        ),
    },
];

const RULES: &str = "v2.0";
/// The day from which batteries need passports.
const AS_OF: &str = "2027-02-18";
/// The rule that the published data of one battery fail.
const STAGE_SUM: &str = "PCF.STAGE_SUM";
/// Steps of a derivation that fit a screen.
const STEPS_MAX: usize = 24;

/// What was handed in.
pub struct Desk {
    rules: Uuid,
    /// By battery.
    documents: Vec<Vec<Uuid>>,
}

impl Tour<'_> {
    /// Add the rules and upload every document; workers test and parse them.
    pub(super) async fn hand_in(&self, tenant: TenantId) -> Result<Desk, Failure> {
        let (call, engine) = (self.call, &self.engine);
        let sources = eu_2023_1542(RULES).expect("it comes with the program");
        self.command(&["rules add rules/eu-2023-1542/v2.0"]);
        let rules = add_rules(engine, tenant, &call.actor, &sources, 1).await?;
        call.output.line(format_args!("rules     {} {} {}", rules.id, rules.package, rules.version));
        let mut documents = Vec::new();
        for battery in &BATTERIES {
            let mut of_battery = Vec::new();
            for (kind, word) in [
                (DocumentKind::Bom, "bom"),
                (DocumentKind::Pcf, "pcf"),
                (DocumentKind::DueDiligence, "due-diligence"),
            ] {
                self.command(&["document add", battery.file, "--kind", word]);
                let new = NewDocument {
                    name: battery.file.to_owned(),
                    kind,
                    format: Format::Auto,
                    sku: None,
                    bytes: battery.bytes.to_vec(),
                };
                of_battery.push(add_document(engine, tenant, &call.actor, new).await?.id);
            }
            documents.push(of_battery);
        }
        Ok(Desk { rules: rules.id, documents })
    }

    /// Facts to snapshots, and those to passports in force.
    pub(super) async fn passports(
        &self,
        tenant: TenantId,
        desk: &Desk,
        watch: &mut Watch,
    ) -> Result<Vec<Uuid>, Failure> {
        let (call, engine, output) = (self.call, &self.engine, self.call.output);
        self.stop_at(
            "7. The rules passed their tests, and are published",
            &["rules publish", &desk.rules.to_string()],
        );
        self.tested_rules(tenant, desk.rules).await?;
        publish_rules(engine, tenant, &call.actor, desk.rules).await?;

        self.stop_at("8. Facts, sealed; passports, compiled under the law of a day and signed", &[]);
        let mut snapshots = Vec::new();
        for (battery, documents) in BATTERIES.iter().zip(&desk.documents) {
            let id = create_snapshot(engine, tenant, &call.actor, battery.sku, documents).await?;
            build_snapshot(engine, tenant, &call.actor, id).await?;
            snapshots.push(id);
        }
        watch.until_finished(call, self.store, tenant).await?;
        let settings = call.passports();
        for (battery, snapshot) in BATTERIES.iter().zip(snapshots) {
            let seal = seal_snapshot(engine, tenant, &call.actor, &settings, snapshot).await?;
            self.command(&["snapshot seal", &snapshot.to_string()]);
            output.line(format_args!("sealed {} facts as {}", count(seal.items as u64), seal.hash));
            let (product, _) = add_product(engine, tenant, &call.actor, battery.sku, battery.sku).await?;
            let passport = create_passport(engine, tenant, &call.actor, product.id).await?;
            let order = CompileOrder {
                passport_id: passport,
                snapshot_id: snapshot,
                rule_version_id: desk.rules,
                as_of: Some(AS_OF.parse().expect("a day")),
            };
            self.command(&["passport compile", &passport.to_string(), "--as-of", AS_OF]);
            compile_passport(engine, tenant, &call.actor, &settings, order).await?;
        }
        watch.until_finished(call, self.store, tenant).await?;
        self.in_force(tenant).await
    }

    async fn tested_rules(&self, tenant: TenantId, rules: Uuid) -> Result<(), Failure> {
        let version = rule_version(self.store, tenant, rules).await?;
        let mut table = Table::pairs();
        if let Some(run) = version.runs.last() {
            let (passed, distinct) = (count(run.total), count(run.distinct));
            table.pair(
                "tests",
                format!("{passed} passed, {} failed, {distinct} different inputs", run.failed),
            );
            table.pair("branches", format!("{} % taken", run.coverage));
            table.pair("mistakes", format!("{} % of those made on purpose were noticed", run.mutation_score));
        }
        table.print(self.call.output);
        Ok(())
    }

    /// Verdicts, codes, activation.
    async fn in_force(&self, tenant: TenantId) -> Result<Vec<Uuid>, Failure> {
        let (call, output, settings) = (self.call, self.call.output, self.call.passports());
        let rows = passports(self.store, tenant, 100).await?;
        let mut versions = Vec::new();
        for battery in &BATTERIES {
            let row = rows.iter().find(|row| row.sku == battery.sku).and_then(|row| row.version_id);
            let id = row.ok_or_else(|| {
                let problem = format!("the passport of {} did not compile: see `bpc jobs list`", battery.sku);
                Failure::refused("COMPILE_BLOCKED", problem)
            })?;
            versions.push(id);
            let (version, compiled) = replay_version(self.store, tenant, &settings, id).await?;
            self.stop_at(
                &format!("9. The passport of battery {}", battery.sku),
                &["passport show", &id.to_string()],
            );
            print_verdicts(output, &compiled);
            if compiled.results.rule(STAGE_SUM).is_some_and(|it| it.outcome.verdict == Verdict::Fail) {
                output.line("");
                self.command(&["passport show", &id.to_string(), "--why", STAGE_SUM]);
                for step in rule_steps(&compiled, STAGE_SUM).iter().take(STEPS_MAX) {
                    output.line(step);
                }
                output.line(
                    "The published stages do not add up to the published footprint. The rule is a `should`: the \
                     passport compiles, and says so to everybody who checks it.",
                );
            }
            let codes = version.qr.as_ref().ok_or_else(|| {
                Failure::refused("INVALID_PASSPORT_STATUS", format!("version {id} has no codes"))
            })?;
            output.line("");
            output.line(format_args!("{}", codes.link));
            let code = QrCode::new(&codes.link)
                .map_err(|error| Failure::refused(error.code(), error.to_string()))?;
            output.line(code.terminal());
            for (name, hash) in [("proof", codes.png), ("link", codes.link_png)] {
                let file = self.place.directory.join(format!("{}-{name}.png", battery.sku));
                files::write(&file, &stored_bytes(self.store, hash).await?)?;
                output.line(file.display());
            }
            activate(&self.engine, tenant, &call.actor, id).await?;
            self.command(&["passport activate", &id.to_string()]);
            output.line(format_args!("{id} is {}", output.paint().good("ACTIVE")));
        }
        Ok(versions)
    }
}
