//! `bpc verify --passports`: every version compiled again.

use std::time::{Duration, Instant};

use bpc_eventstore::Store;
use bpc_passport::pack::{PackError, VersionCheck, all_versions};
use serde::Serialize;
use uuid::Uuid;

use crate::call::Call;
use crate::error::Failure;
use crate::output::{Output, Table, count, per_second, span};

/// Versions per page.
const PAGE: u32 = 200;
/// Findings that are kept.
const FINDINGS_MAX: usize = 100;

/// What was checked. The names are part of the contract.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PassportsReport {
    pub passport_versions: u64,
    pub signed: u64,
    pub findings_total: u64,
    pub findings: Vec<PassportFinding>,
    #[serde(serialize_with = "millis", rename = "elapsed_ms")]
    pub elapsed: Duration,
}

/// A version that is not what its inputs give.
#[derive(Clone, Debug, Serialize)]
pub struct PassportFinding {
    pub passport_version_id: Uuid,
    pub code: &'static str,
    pub message: String,
}

impl PassportsReport {
    pub fn is_sound(&self) -> bool {
        self.findings_total == 0
    }
}

/// Compile every version of every tenant again and compare payload, proof, receipt and signatures.
pub async fn verify_all(call: &Call<'_>, store: &Store) -> Result<PassportsReport, Failure> {
    let (start, check) = (Instant::now(), VersionCheck::new(call.passports()));
    let (mut report, mut after) = (PassportsReport::default(), Uuid::nil());
    loop {
        let page = all_versions(store, after, PAGE).await?;
        let Some((_, last)) = page.last() else { break };
        after = *last;
        for (tenant, id) in page {
            report.passport_versions += 1;
            match check.check(store, tenant, id).await {
                Ok((version, _)) => report.signed += u64::from(version.credential.is_some()),
                Err(PackError::Engine(error)) if error.is_unavailable() => return Err(error.into()),
                Err(error) => {
                    report.findings_total += 1;
                    if report.findings.len() < FINDINGS_MAX {
                        let (code, message) = (error.code(), error.to_string());
                        report.findings.push(PassportFinding { passport_version_id: id, code, message });
                    }
                }
            }
        }
    }
    report.elapsed = start.elapsed();
    Ok(report)
}

/// Never a bare OK.
pub fn print(output: &Output, report: &PassportsReport) {
    let paint = output.paint();
    for finding in &report.findings {
        output.line(format_args!("{} {}", paint.bad(finding.code), finding.passport_version_id));
        output.line(format_args!("  {}", finding.message));
    }
    let mut table = Table::pairs();
    let (versions, signed) = (count(report.passport_versions), count(report.signed));
    table.pair("passports", format!("{versions} versions compiled again, {signed} signatures checked"));
    let rate = per_second(report.passport_versions, report.elapsed) as u64;
    table.pair("took", format!("{}, {} versions/s", span(report.elapsed), count(rate)));
    table.pair(
        "findings",
        match report.findings_total {
            0 => paint.good("none: every byte is what facts and rules give"),
            findings => paint.bad(count(findings)),
        },
    );
    table.print(output);
}

fn millis<S: serde::Serializer>(elapsed: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(elapsed.as_millis() as u64)
}
