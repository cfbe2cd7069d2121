//! Never a bare OK: the level, what it rules out and what it does not, and how much was looked at.

use bpc_eventstore::verify::VerifyReport;

use crate::cli::VerifyArgs;
use crate::command::{passport, replay};
use crate::output::{Output, Table, count, per_second, span};

use super::told::Told;
use super::{Verified, meaning};

/// What was found in the log.
pub fn print(output: &Output, report: &VerifyReport) {
    let findings: Vec<Told> = report.findings.iter().map(Told::from).collect();
    print_told(output, report, &findings);
}

/// The same, with findings from wherever they were found.
pub(super) fn print_told(output: &Output, report: &VerifyReport, findings: &[Told]) {
    let paint = output.paint();
    findings.iter().for_each(|finding| print_finding(output, finding));
    let hidden = report.findings_total.saturating_sub(findings.len() as u64);
    if hidden > 0 {
        output.line(format_args!("... and {} more", count(hidden)));
    }
    let mut table = Table::pairs();
    table.pair("level", level(report));
    if let Some(held) = report.held.map(meaning::of) {
        table.pair("rules out", held.rules_out);
        table.pair("leaves open", held.leaves_open);
    }
    table.pair("up to", up_to(report));
    let jobs = format!("{} streams, {} of them jobs", count(report.streams), count(report.jobs));
    table.pair("checked", format!("{} events in {jobs}", count(report.events)));
    table.pair("unsealed", unsealed(report));
    table.pair("anchor", anchor(report));
    for reopened in &report.reopened {
        let vouched = if reopened.is_vouched { "the old key vouches" } else { "nobody vouches" };
        table.pair(
            "reopened",
            format!("as {} at position {}: {vouched}", reopened.origin, count(reopened.position)),
        );
    }
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

/// What else was asked for.
pub(super) fn print_more(output: &Output, verified: &Verified, args: &VerifyArgs) {
    let paint = output.paint();
    if let Some(blobs) = &verified.blobs {
        output.line("");
        for finding in &blobs.findings {
            let event = finding.stream.zip(finding.version);
            let event =
                event.map(|(stream, version)| format!(", named by stream {stream} version {version}"));
            let (blob, event) = (&finding.blob, event.unwrap_or_default());
            output.line(format_args!("{} blob {blob}{event}", paint.bad(finding.code)));
            for (name, value) in [("expected", &finding.expected), ("found", &finding.found)] {
                output.line(paint.faint(format_args!("  {name:<8}  {value}")));
            }
        }
        let held = match blobs.findings_total {
            0 => paint.good("each is what its hash says, and each that an event names is there"),
            wrong => paint.bad(format_args!("{} findings", count(wrong))),
        };
        output.line(format_args!("blobs: {}, {} bytes, {held}", count(blobs.blobs), count(blobs.bytes)));
    }
    if let Some(projections) = &verified.projections {
        output.line("");
        replay::print(output, projections);
    }
    if let Some(passports) = &verified.passports {
        output.line("");
        passport::print_report(output, passports);
    }
    if let Some(path) = &args.report {
        output.line("");
        output.line(format_args!("The report is {}.", path.display()));
    }
}

/// Which level held, of which were asked for.
pub(super) fn level(report: &VerifyReport) -> String {
    let checks = |held: &str| {
        let below = meaning::LEVELS.iter().filter(|meaning| meaning.level <= held);
        below.map(|meaning| meaning.checks).collect::<Vec<_>>().join("; ")
    };
    match report.held {
        Some(held) if held == report.level => format!("{held} held: {}", checks(held)),
        Some(held) => format!("{} did not hold; {held} held: {}", report.level, checks(held)),
        None => "L0 did not hold, and so no level above it".to_owned(),
    }
}

/// How far the signed log reaches.
pub(super) fn up_to(report: &VerifyReport) -> String {
    match (&report.origin, report.up_to_position) {
        (_, 0) => "nothing is signed yet: no checkpoint covers any event".to_owned(),
        (origin, size) => {
            let age = report.checkpoint_age.map(|age| format!(", {} old", span(age))).unwrap_or_default();
            let origin = origin.as_deref().unwrap_or("the log");
            format!("position {} of {origin}, by its newest checkpoint{age}", count(size))
        }
    }
}

/// The one window that hashes do not close.
pub(super) fn unsealed(report: &VerifyReport) -> String {
    match (report.unsealed, report.unsealed_age) {
        (0, _) => "0 events".to_owned(),
        (events, Some(age)) => {
            format!("{} events that no checkpoint covers, the oldest {} old", count(events), span(age))
        }
        (events, None) => format!("{} events that no checkpoint covers", count(events)),
    }
}

/// The newest proof from outside.
pub(super) fn anchor(report: &VerifyReport) -> String {
    match &report.anchor {
        None => "none: a checkpoint kept elsewhere (--checkpoint FILE) or a witness would be one".to_owned(),
        Some(anchor) => {
            let age = anchor.age.map(|age| format!(", {} old", span(age))).unwrap_or_default();
            format!("up to position {}{age}", count(anchor.size))
        }
    }
}

fn print_finding(output: &Output, finding: &Told) {
    let paint = output.paint();
    output.line(format_args!("{} {}", paint.bad(&finding.code), finding.place));
    output.line(format_args!("  {}", finding.message));
    for (name, value) in &finding.values {
        output.line(paint.faint(format_args!("  {name:<8}  {value}")));
    }
}
