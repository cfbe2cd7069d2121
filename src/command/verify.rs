//! `bpc verify`: check the whole log, and say exactly what that rules out.

use bpc_eventstore::Store;
use bpc_eventstore::verify::{Finding, VerifyOptions, VerifyReport, event_count_estimate, verify};

use crate::call::Call;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, per_second, span};
use crate::progress;

pub async fn run(call: &Call<'_>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let report = check(call, &store, &VerifyOptions::default()).await?;
    call.output.result(&report, |output| print(output, &report));
    Ok(if report.is_sound() { Exit::Done } else { Exit::Findings })
}

/// Verify, with a bar on a terminal.
pub async fn check(call: &Call<'_>, store: &Store, options: &VerifyOptions) -> Result<VerifyReport, Failure> {
    let total = event_count_estimate(store).await?;
    let bar = progress::bar(call.output, "verify", total);
    let report = verify(store, options, |events| bar.set_position(events)).await;
    bar.finish_and_clear();
    Ok(report?)
}

/// Never a bare OK: the level, what it rules out and what it does not, and how much was looked at.
pub fn print(output: &Output, report: &VerifyReport) {
    let paint = output.paint();
    report.findings.iter().for_each(|finding| print_finding(output, finding));
    let hidden = report.findings_total.saturating_sub(report.findings.len() as u64);
    if hidden > 0 {
        output.line(format_args!("... and {} more", count(hidden)));
    }
    let mut table = Table::pairs();
    let jobs = format!("{} streams, {} of them jobs", count(report.streams), count(report.jobs));
    let checks = "bytes, columns, chain, dense versions, legal history";
    if report.is_sound() {
        table.pair("level", format!("{} held: {checks}", report.level));
        table.pair("rules out", "careless edits: a changed, lost or repeated event within a stream");
        table.pair("leaves open", "a forger who writes a stream anew, or removes its end or all of it");
    } else {
        table.pair("level", format!("{} did not hold: {checks}", report.level));
    }
    table.pair("checked", format!("{} events in {jobs}", count(report.events)));
    table.pair("unsealed", format!("{} events: no signed checkpoint covers them", count(report.unsealed)));
    let rate = per_second(report.events, report.elapsed) as u64;
    table.pair("took", format!("{}, {} events/s", span(report.elapsed), count(rate)));
    table.pair(
        "findings",
        match report.findings_total {
            0 => paint.good("none"),
            findings => paint.bad(count(findings)),
        },
    );
    table.print(output);
}

fn print_finding(output: &Output, finding: &Finding) {
    let paint = output.paint();
    let version = finding.version.map(|version| format!(" version {version}")).unwrap_or_default();
    let place = format!("{} {}{version}", finding.stream_type, finding.stream);
    output.line(format_args!("{} {place}", paint.bad(finding.code)));
    output.line(format_args!("  {}", finding.message));
    let values = [("expected", &finding.expected), ("found", &finding.found)];
    for (name, value) in values.into_iter().filter_map(|(name, value)| value.as_ref().map(|it| (name, it))) {
        output.line(paint.faint(format_args!("  {name:<8}  {value}")));
    }
}
