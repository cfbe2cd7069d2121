//! RUN_RULE_TESTS: does a package pass the gate?

use bpc_core::StreamId;
use bpc_worker::{Context, Effects, Handler, HandlerError, Job, JobPolicy};

use super::add::{RUN_RULE_TESTS, TestPayload};
use super::events::{STREAM, TESTS_RUN, TestsRun};
use super::library::Library;
use super::state::{RuleStatus, rule_version};
use crate::pack::event::draft;
use crate::rules::test::{Run, run};

/// Runs the tests of rule packages.
#[derive(Clone, Debug, Default)]
pub struct RunRuleTests {
    library: Library,
}

/// What of the gate's complaints stands in the event; all are in the report.
const MISSING_MAX: usize = 50;
/// Bytes of one complaint.
const MISSING_BYTES_MAX: usize = 1000;

impl Handler for RunRuleTests {
    const TYPE: &'static str = RUN_RULE_TESTS;
    type Payload = TestPayload;

    fn policy(&self) -> JobPolicy {
        JobPolicy { cpu_bound: true, ..JobPolicy::default() }
    }

    /// All chance comes from the seed, so a second run wants the same. A run that was recorded is not
    /// recorded again, and a published version is not tested any more.
    async fn handle(&self, job: &Job<TestPayload>, cx: &Context) -> Result<Effects, HandlerError> {
        let TestPayload { rule_package_version_id: id, seed } = job.payload;
        let version = rule_version(cx.store(), job.tenant_id, id).await?;
        let known = version.runs.iter().find(|run| run.seed == seed.to_string());
        if let Some(run) = known {
            return Ok(Effects::none().result(run)?);
        }
        if version.status == RuleStatus::Published {
            let message = format!("rule package version {id} is PUBLISHED; its tests are settled");
            return Err(HandlerError::permanent("VALIDATION_ERROR", message));
        }
        let checked = self.library.checked(cx.store(), &version).await?;
        let found = run(&checked, seed);
        let whole = serde_json::to_vec(&found)
            .map_err(|error| HandlerError::permanent("RULE_TESTS_FAILED", error.to_string()))?;
        let (effects, report) = Effects::none().blob(whole);
        let event = TestsRun { report, ..summary(&found, seed) };
        let drafts = vec![draft(TESTS_RUN, &event)?];
        let stream = StreamId(id);
        Ok(effects.emit(job.tenant_id, STREAM, stream, version.stream_version, drafts).result(&event)?)
    }
}

fn summary(run: &Run, seed: i64) -> TestsRun {
    let shortened = |text: &String| match text.char_indices().nth(MISSING_BYTES_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.clone(),
    };
    TestsRun {
        seed: seed.to_string(),
        total: run.passed as u64,
        distinct: run.distinct as u64,
        failed: run.failed as u64,
        coverage: permille(run.branches.hit * 1000 / run.branches.all.max(1)),
        mutation_score: permille(run.mutation.score_permille),
        passed: run.gate.is_empty(),
        missing: run.gate.iter().take(MISSING_MAX).map(shortened).collect(),
        report: bpc_core::Hash::ZERO,
    }
}

/// `987` as `98.7`, `1000` as `100`: percent in the spelling of decimals.
fn permille(number: usize) -> String {
    match number % 10 {
        0 => (number / 10).to_string(),
        tenth => format!("{}.{tenth}", number / 10),
    }
}
