//! `bpc demo`: a guided tour on a fresh SQLite file. Everything it shows is done by the same code as
//! the commands it names.

mod jobs;
mod passports;
mod place;
mod watch;

use std::time::{Duration, Instant};

use bpc_core::{JobId, TenantId};
use bpc_eventstore::Store;
use bpc_eventstore::verify::VerifyOptions;
use bpc_worker::{Engine, Worker, WorkerOptions};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::call::Call;
use crate::cli::DemoArgs;
use crate::command::jobs::{counts, print_statuses, print_timeline};
use crate::command::{init, passport, replay, seal, verify};
use crate::error::{Exit, Failure};
use crate::output::span;

use place::Place;
use watch::Watch;

pub async fn run(call: &Call<'_>, args: DemoArgs) -> Result<Exit, Failure> {
    let start = Instant::now();
    let place = Place::fresh(args.directory)?;
    let call = &call.on(place.url.clone()).signing_with(place.signing_key()?);
    call.output.line(format_args!("A tour of bpc. Everything stays in {}.", place.directory.display()));
    let outcome = tour(call, &place, start).await;
    call.close().await;
    outcome
}

async fn tour(call: &Call<'_>, place: &Place, start: Instant) -> Result<Exit, Failure> {
    let store = call.connect(true).await?;
    Tour { call, store: &store, place, engine: call.engine(&store) }.walk(start).await
}

/// What every stop of the tour needs.
struct Tour<'a> {
    call: &'a Call<'a>,
    store: &'a Store,
    place: &'a Place,
    engine: Engine,
}

impl Tour<'_> {
    async fn walk(&self, start: Instant) -> Result<Exit, Failure> {
        let output = self.call.output;
        self.stop_at("1. A log", &["init"]);
        let report = init::initialise(self.call, self.store).await?;
        init::print(output, &report);
        let tenant = self.call.tenant(self.store).await?.tenant_id;

        self.stop_at("2. Rules of EU law, documents of two real batteries", &[]);
        let desk = self.hand_in(tenant).await?;
        self.stop_at("3. And jobs to rehearse with, each with a receipt: the hash of its first event", &[]);
        let jobs = jobs::enqueue_mix(self.call, &self.engine, tenant).await?;

        self.stop_at("4. A worker", &["worker"]);
        let stop = CancellationToken::new();
        let options = WorkerOptions {
            tenants: Some(vec![tenant]),
            grace: Duration::from_secs(5),
            ..WorkerOptions::named("tour-guide")
        };
        let worker = tokio::spawn(Worker::new(self.engine.clone(), options).run(stop.clone()));
        let mut watch = Watch::default();
        watch.until_finished(self.call, self.store, tenant).await?;

        self.stop_at(
            "5. A job that failed once and was tried again",
            &["jobs show", &jobs.flaky.to_string()],
        );
        self.timeline(tenant, jobs.flaky).await?;
        self.dead_letter(tenant, jobs.panics, &mut watch).await?;
        let versions = self.passports(tenant, &desk, &mut watch).await?;
        stop.cancel();
        worker.await.map_err(|error| Failure::refused("WORKER_PANICKED", error.to_string()))??;
        self.close(start, tenant, &versions).await
    }

    async fn dead_letter(&self, tenant: TenantId, job: JobId, watch: &mut Watch) -> Result<(), Failure> {
        let (call, id) = (self.call, job.to_string());
        self.stop_at("6. A job that used up its attempts: a dead letter", &["jobs show", &id]);
        self.timeline(tenant, job).await?;

        call.output.line("");
        let reason = "perhaps it was the weather";
        self.command(&["jobs replay", &id, &format!("--reason '{reason}'")]);
        self.engine.replay(tenant, &call.actor, job, reason.to_owned()).await?;
        watch.until_finished(call, self.store, tenant).await?;

        call.output.line("");
        let reason = "it was not the weather";
        self.command(&["jobs resolve", &id, &format!("--reason '{reason}'")]);
        self.engine.resolve(tenant, &call.actor, job, reason.to_owned()).await?;
        call.output.line("It failed again and is closed by a person now. All of that stays in its history.");
        Ok(())
    }

    /// Check everything, and say how to go on.
    async fn close(&self, start: Instant, tenant: TenantId, versions: &[Uuid]) -> Result<Exit, Failure> {
        let (call, output) = (self.call, self.call.output);
        self.stop_at("10. The log, sealed and signed", &["seal --once"]);
        let sealed = seal::once(call, self.store).await?;
        seal::print(output, &sealed);

        self.stop_at(
            "11. Is the log what was written, and every passport what its facts and rules give?",
            &["verify --passports"],
        );
        let verified = verify::check(call, self.store, &VerifyOptions::default()).await?;
        verify::print(output, &verified);
        let compiled_again = passport::verify_all(call, self.store).await?;
        output.line("");
        passport::print_report(output, &compiled_again);

        self.stop_at("12. Do the views say what the log says?", &["replay --check"]);
        let compared = replay::compare(call, self.store).await?;
        replay::print(output, &compared);

        let statuses = counts(self.store, tenant).await?;
        self.stop_at("Where the jobs stand", &[]);
        print_statuses(output, &statuses);
        self.what_next(start, versions);

        let mut by_status = Map::new();
        for it in &statuses {
            let entry = by_status.entry(it.status.as_str()).or_insert(json!(0));
            *entry = json!(entry.as_u64().unwrap_or(0) + it.jobs);
        }
        let findings = verified.findings_total + compiled_again.findings_total;
        let drift = compared.drift_total;
        let summary = json!({
            "directory": self.place.directory.display().to_string(),
            "database": self.place.url,
            "jobs": Value::Object(by_status),
            "events": verified.events,
            "held": verified.held,
            "passport_versions": versions,
            "passports_verified": compiled_again.passport_versions,
            "findings": findings,
            "drift": drift,
            "elapsed_ms": start.elapsed().as_millis() as u64,
        });
        output.result(&summary, |_| {});
        Ok(if findings == 0 && drift == 0 { Exit::Done } else { Exit::Findings })
    }

    fn what_next(&self, start: Instant, versions: &[Uuid]) {
        let output = self.call.output;
        let (took, file) = (span(start.elapsed()), self.place.file.display());
        output.line("");
        output.line(format_args!("The tour took {took}. The log is {file}. To go on from here:"));
        output.line("");
        let mut commands: Vec<String> = Vec::new();
        if let Some(version) = versions.first() {
            commands.extend([
                format!("passport show {version}"),
                format!("passport show {version} --why PCF.STAGE_SUM"),
                format!("passport what-if {version} --as-of 2027-08-18"),
                format!("passport disclose {version} --role public"),
                format!("passport replay {version}"),
            ]);
        }
        let more = ["facts list", "jobs list --status FAILED --json", "worker --until-idle", "checkpoint"];
        commands.extend(more.map(str::to_owned));
        commands.push("verify --passports".to_owned());
        for words in &commands {
            output.line(format_args!("  {}", self.place.command(words)));
        }
    }

    fn stop_at(&self, heading: &str, words: &[&str]) {
        let output = self.call.output;
        output.line("");
        output.line(output.paint().heading(heading));
        if !words.is_empty() {
            self.command(words);
        }
    }

    /// The command that does what comes next.
    fn command(&self, words: &[&str]) {
        let output = self.call.output;
        output.line(output.paint().faint(format_args!("$ bpc {}", words.join(" "))));
    }

    async fn timeline(&self, tenant: TenantId, job: JobId) -> Result<(), Failure> {
        if let Some(history) = self.engine.history(tenant, job).await? {
            print_timeline(self.call.output, &history.events);
        }
        Ok(())
    }
}
