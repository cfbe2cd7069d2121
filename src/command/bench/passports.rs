//! `bpc bench --passports`: varied batteries from document to signed version, and compiling alone.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bpc_core::{Hash, TenantId};
use bpc_eventstore::{Store, add_tenant, entropy, portable};
use bpc_passport::compile::{Input, Rules, compile};
use bpc_passport::import::{DocumentKind, Format, Request, import};
use bpc_passport::pack::{
    CompileOrder, NewDocument, Settings, SigningKeySource, VersionCheck, add_document, add_product,
    add_rules, all_versions, build_snapshot, compile_passport, create_passport, create_snapshot,
    publish_rules, seal_snapshot,
};
use bpc_passport::proof::SaltKey;
use bpc_passport::receipt::{SigningKey, TestRun};
use bpc_passport::rules::shipped::eu_2023_1542;
use bpc_passport::rules::{Checked, check, parse};
use bpc_passport::snapshot::SealedSnapshot;
use bpc_worker::{Engine, Registry, Worker, WorkerOptions};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde::Serialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::call::Call;
use crate::cli::BenchArgs;
use crate::error::{Exit, Failure};
use crate::output::{Table, count, per_second, span};
use crate::{packs, progress};

/// A battery whose data are public; see `crates/passport/tests/data/SOURCES.md`.
const SAMPLE: &str = include_str!("../../../crates/passport/tests/data/batterypass-ready/ev.gefeg.json");
/// The number of its model, which is not the only place where it stands.
const SKU: &str = "09521234010012";
const AS_OF: &str = "2027-02-18";
/// One in so many batteries has voltages out of order, which a `must` rule refuses.
const WRONG_EVERY: usize = 50;
/// How long compiling alone is measured.
const COMPILE_FOR: Duration = Duration::from_secs(3);
/// Commands under way at a time.
const PEOPLE: usize = 8;
const KINDS: [DocumentKind; 3] = [DocumentKind::Bom, DocumentKind::Pcf, DocumentKind::DueDiligence];

/// What was measured. The names are part of the contract.
#[derive(Serialize)]
struct PassportBench {
    database: &'static str,
    passports: u64,
    workers: usize,
    /// On one core, nothing but the pure function.
    compile_per_s: u64,
    attributes: usize,
    /// The tests of the rules, by a job.
    gate_ms: u64,
    /// From the first upload to the last code.
    pipeline_ms: u64,
    pipeline_per_s: u64,
    /// Versions that are signed and have their codes.
    signed: u64,
    /// Compilations that a rule refused, as it should.
    blocked: u64,
    blocked_expected: u64,
    verified: u64,
    verify_per_s: u64,
    findings: u64,
}

pub async fn run(call: &Call<'_>, args: &BenchArgs, number: usize) -> Result<Exit, Failure> {
    let store = call.open_or_create().await?;
    let slug = format!("bench-{}", hex::encode(&entropy()[..4]));
    let tenant = add_tenant(&store, &slug, "Benchmark", &call.actor).await?.tenant_id;
    super::warn(call, tenant, &slug);
    let settings = Settings { signing_key: SigningKeySource::Base64(fresh_key()), ..call.passports() };
    let registry = packs::registry(&settings, call.settings.packs.webhooks(&call.database));
    let engine = Engine::new(store.clone(), registry.clone());
    let bench = Bench { call, args, store, engine, registry, settings, tenant };

    let (compile_per_s, attributes) = compile_alone()?;
    let (rules, gate) = bench.rules().await?;
    let start = Instant::now();
    bench.pipeline(rules, number).await?;
    let pipeline = start.elapsed();
    let versions =
        "SELECT count(*) FROM passport_versions WHERE tenant_id = $1 AND status = 'SIGNED' AND has_qr = 1";
    let signed = bench.count(versions).await?;
    let blocked = "SELECT count(*) FROM ended_jobs WHERE tenant_id = $1 AND job_type = 'COMPILE_PASSPORT' \
                   AND error_code = 'COMPILE_BLOCKED'";
    let blocked = bench.count(blocked).await?;
    let (verified, findings, elapsed) = bench.verify().await?;
    let report = PassportBench {
        database: bench.store.kind(),
        passports: number as u64,
        workers: args.workers,
        compile_per_s,
        attributes,
        gate_ms: gate.as_millis() as u64,
        pipeline_ms: pipeline.as_millis() as u64,
        pipeline_per_s: per_second(number as u64, pipeline) as u64,
        signed,
        blocked,
        blocked_expected: (0..number).filter(|index| is_wrong(*index)).count() as u64,
        verified,
        verify_per_s: per_second(verified, elapsed) as u64,
        findings,
    };
    call.output.result(&report, |output| {
        let mut table = Table::pairs();
        table.pair(
            "compile",
            format!("{} passports/s on one core, {attributes} attributes each", count(report.compile_per_s)),
        );
        table.pair("rules", format!("tested in {}", span(gate)));
        table.pair(
            "pipeline",
            format!(
                "{} passports in {}, {}/s",
                count(report.passports),
                span(pipeline),
                count(report.pipeline_per_s)
            ),
        );
        table.pair("signed", format!("{} with both codes", count(signed)));
        table.pair(
            "refused",
            format!("{} of {} that had to be", count(blocked), count(report.blocked_expected)),
        );
        table.pair(
            "verified",
            format!(
                "{} compiled again, {}/s, {findings} findings",
                count(verified),
                count(report.verify_per_s)
            ),
        );
        table.print(output);
    });
    let is_whole = signed + blocked == number as u64 && blocked == report.blocked_expected;
    Ok(if is_whole && findings == 0 && verified == signed { Exit::Done } else { Exit::Findings })
}

struct Bench<'a> {
    call: &'a Call<'a>,
    args: &'a BenchArgs,
    store: Store,
    engine: Engine,
    registry: Registry,
    settings: Settings,
    tenant: TenantId,
}

/// One battery and its documents.
struct Battery {
    sku: String,
    documents: Vec<Uuid>,
}

impl Bench<'_> {
    async fn rules(&self) -> Result<(Uuid, Duration), Failure> {
        let (actor, start) = (&self.call.actor, Instant::now());
        let sources = eu_2023_1542("v2.0").expect("it comes with the program");
        let added = add_rules(&self.engine, self.tenant, actor, &sources, 1).await?;
        self.work().await?;
        publish_rules(&self.engine, self.tenant, actor, added.id).await?;
        Ok((added.id, start.elapsed()))
    }

    /// Every battery the whole way. Uploads and orders are commands of several people, one transaction each; the
    /// rest is done by the workers.
    async fn pipeline(&self, rules: Uuid, number: usize) -> Result<(), Failure> {
        let batteries = self.each("documents", 0..number, |index| self.upload(index)).await?;
        self.work().await?;
        let snapshots = self.each("snapshots", &batteries, |battery| self.snapshot(battery)).await?;
        self.work().await?;
        let orders = batteries.iter().zip(snapshots);
        self.each("orders", orders, |(battery, snapshot)| self.order(rules, battery, snapshot)).await?;
        self.work().await
    }

    /// What `work` gives for each, some at a time.
    async fn each<I, T, F>(
        &self,
        label: &'static str,
        items: impl IntoIterator<Item = I, IntoIter: ExactSizeIterator>,
        work: impl Fn(I) -> F,
    ) -> Result<Vec<T>, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let items = items.into_iter();
        let bar = progress::bar(self.call.output, label, items.len() as u64);
        let under_way = stream::iter(items.map(work)).buffered(PEOPLE).inspect_ok(|_| bar.inc(1));
        let done = under_way.try_collect().await;
        bar.finish_and_clear();
        done
    }

    async fn upload(&self, index: usize) -> Result<Battery, Failure> {
        let (sku, text) = battery(index);
        let mut documents = Vec::with_capacity(KINDS.len());
        for kind in KINDS {
            let new = NewDocument {
                name: format!("{sku}.json"),
                kind,
                format: Format::Auto,
                sku: None,
                bytes: text.clone().into_bytes(),
            };
            documents.push(add_document(&self.engine, self.tenant, &self.call.actor, new).await?.id);
        }
        Ok(Battery { sku, documents })
    }

    async fn snapshot(&self, battery: &Battery) -> Result<Uuid, Failure> {
        let (engine, tenant, actor) = (&self.engine, self.tenant, &self.call.actor);
        let id = create_snapshot(engine, tenant, actor, &battery.sku, &battery.documents).await?;
        build_snapshot(engine, tenant, actor, id).await?;
        Ok(id)
    }

    async fn order(&self, rules: Uuid, battery: &Battery, snapshot_id: Uuid) -> Result<(), Failure> {
        let (engine, tenant, actor) = (&self.engine, self.tenant, &self.call.actor);
        seal_snapshot(engine, tenant, actor, &self.settings, snapshot_id).await?;
        let (product, _) = add_product(engine, tenant, actor, &battery.sku, &battery.sku).await?;
        let order = CompileOrder {
            passport_id: create_passport(engine, tenant, actor, product.id).await?,
            snapshot_id,
            rule_version_id: rules,
            as_of: Some(AS_OF.parse().expect("a day")),
        };
        compile_passport(engine, tenant, actor, &self.settings, order).await?;
        Ok(())
    }

    /// Workers with connections of their own, until nothing is left.
    async fn work(&self) -> Result<(), Failure> {
        let spinner = progress::spinner(self.call.output, "workers");
        let mut running = JoinSet::new();
        for _ in 0..self.args.workers {
            let engine = Engine::new(self.call.connect(false).await?, self.registry.clone());
            let options = WorkerOptions {
                worker_id: crate::command::worker::default_id(),
                until_idle: true,
                tenants: Some(vec![self.tenant]),
                ..self.call.settings.worker(crate::command::worker::default_id())
            };
            running.spawn(Worker::new(engine, options).run(CancellationToken::new()));
        }
        while let Some(worker) = running.join_next().await {
            worker.map_err(|error| Failure::refused("WORKER_PANICKED", error.to_string()))??;
        }
        spinner.finish_and_clear();
        Ok(())
    }

    async fn verify(&self) -> Result<(u64, u64, Duration), Failure> {
        let (start, check) = (Instant::now(), VersionCheck::new(self.settings.clone()));
        let (mut verified, mut findings, mut after) = (0, 0, Uuid::nil());
        loop {
            let page = all_versions(&self.store, after, 500).await?;
            let Some((_, last)) = page.last() else { break };
            after = *last;
            for (tenant, id) in page.into_iter().filter(|(tenant, _)| *tenant == self.tenant) {
                verified += 1;
                findings += u64::from(check.check(&self.store, tenant, id).await.is_err());
            }
        }
        Ok((verified, findings, start.elapsed()))
    }

    async fn count(&self, sql: &'static str) -> Result<u64, Failure> {
        let mut tx = self.store.begin_read().await?;
        let found: i64 = portable!(tx.conn(), c => {
            sqlx::query_scalar(sql).bind(self.tenant.0).fetch_one(c).await
        })
        .map_err(bpc_eventstore::StoreError::from)?;
        Ok(found as u64)
    }
}

fn is_wrong(index: usize) -> bool {
    index % WRONG_EVERY == WRONG_EVERY - 1
}

/// The n-th battery: a number of its own, with its check digit, and another mass, capacity and footprint.
fn battery(index: usize) -> (String, String) {
    let digits = format!("0952{index:09}");
    let weighed: usize = digits
        .bytes()
        .enumerate()
        .map(|(at, digit)| usize::from(digit - b'0') * if at % 2 == 0 { 3 } else { 1 })
        .sum();
    let sku = format!("{digits}{}", (10 - weighed % 10) % 10);
    let mut text = SAMPLE.replace(SKU, &sku);
    let edits = [
        ("\"gramKgValue\": 450", format!("\"gramKgValue\": {}.{}", 400 + index % 97, 1 + index % 9)),
        ("\"wattValue\": 150000", format!("\"wattValue\": {}", 150_000 + index % 1000)),
        ("EV-2025-000142", format!("EV-2025-{index:06}")),
    ];
    for (from, to) in edits {
        text = text.replace(from, &to);
    }
    if is_wrong(index) {
        text = text.replace("\"voltValue\": 300", "\"voltValue\": 500");
    }
    (sku, text)
}

/// The pure function alone, on this thread.
fn compile_alone() -> Result<(u64, usize), Failure> {
    let sources = eu_2023_1542("v2.0").expect("it comes with the program");
    let package = parse(&sources).and_then(|package| check(&package));
    let checked: Checked =
        package.map_err(|wrong| Failure::refused("RULE_PARSE_ERROR", wrong.render(&sources, false)))?;
    let run = TestRun { seed: 1, total: 500, distinct: 500, coverage: "100".parse().expect("a number") };
    let key_id = SigningKey::from_seed(&[1; 32]).id();
    let mut snapshots = Vec::new();
    for index in 0..16 {
        let (sku, text) = battery(index);
        let mut facts = Vec::new();
        for kind in KINDS {
            let request = Request { bytes: text.as_bytes(), kind, format: Format::Auto, sku: None };
            let imported =
                import(request).map_err(|error| Failure::refused(error.code(), error.to_string()))?;
            facts.extend(imported.facts.into_iter().map(|it| it.fact));
        }
        let tenant = TenantId::from_slug("bench");
        let sealed =
            SealedSnapshot::seal(tenant, Uuid::from_u128(index as u128), facts, SaltKey::new([7; 32]));
        snapshots.push((sku, sealed.map_err(|it| Failure::refused("SNAPSHOT_CONFLICT", it[0].to_string()))?));
    }
    let (start, mut compiled, mut attributes) = (Instant::now(), 0_u64, 0);
    while start.elapsed() < COMPILE_FOR {
        for (sku, snapshot) in &snapshots {
            let input = Input {
                tenant_id: TenantId::from_slug("bench"),
                passport_id: Uuid::from_u128(1),
                battery_product_id: Uuid::from_u128(2),
                sku,
                prior_version: None,
                snapshot,
                rules: Rules {
                    version_id: Uuid::from_u128(3),
                    checked: &checked,
                    tests_sha256: Hash([0; 32]),
                    test_run: &run,
                },
                as_of: AS_OF.parse().expect("a day"),
                issued_at: "2027-02-18T08:00:00.000000Z".parse().expect("a moment"),
                build_id: "bench",
                signing_key_id: &key_id,
            };
            let made = compile(&input).map_err(|error| Failure::refused(error.code(), error.to_string()))?;
            attributes = made.results.emissions.len();
            compiled += 1;
        }
    }
    Ok((per_second(compiled, start.elapsed()) as u64, attributes))
}

fn fresh_key() -> String {
    let seed: Vec<u8> = std::iter::repeat_with(entropy).flatten().take(32).collect();
    STANDARD.encode(seed)
}
