//! The report as a page: for people who read rather than run. One file, no script, nothing loaded.

use bpc_core::Timestamp;
use bpc_eventstore::verify::{BlobFinding, VerifyReport};

use crate::cli::VerifyArgs;
use crate::output::{count, moment, per_second, span};

use super::told::Told;
use super::{Verified, meaning, print};

const PAGE: &str = include_str!("page.html");
/// A page is for reading; all findings are in the JSON.
const ROWS_MAX: usize = 200;

/// The whole page.
pub(super) fn page(
    verified: &Verified,
    findings: &[Told],
    args: &VerifyArgs,
    source: &str,
    now: Timestamp,
) -> String {
    let log = &verified.log;
    let origin = log.origin.clone().unwrap_or_else(|| "a log without a key".to_owned());
    let (class, verdict, verdict_more) = verdict(verified);
    let filled = [
        ("origin", escaped(&origin)),
        ("verdict_class", class.to_owned()),
        ("verdict", escaped(&verdict)),
        ("verdict_more", escaped(&verdict_more)),
        ("facts", facts(log)),
        ("levels", levels(log)),
        ("findings", rows_of(findings, log.findings_total)),
        ("more", more(verified)),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("made_at", moment(now)),
        ("source", source.to_owned()),
        ("command", escaped(&command(args))),
    ];
    // In one pass over the template: what is filled in is never taken for a place to fill.
    let mut page = String::with_capacity(PAGE.len() + 8192);
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").expect("the template closes what it opens");
        page.push_str(before);
        let value = filled.iter().find(|(known, _)| *known == name);
        page.push_str(value.map(|(_, value)| value.as_str()).expect("the template names known places"));
        rest = behind;
    }
    page.push_str(rest);
    page
}

fn verdict(verified: &Verified) -> (&'static str, String, String) {
    let log = &verified.log;
    match (verified.is_sound(), log.held) {
        (true, Some(held)) => {
            let more = format!("It rules out {}.", meaning::of(held).rules_out);
            ("good", format!("{held} held. No findings."), more)
        }
        (_, held) => {
            let beside = verified.blobs.as_ref().map_or(0, |blobs| blobs.findings_total)
                + verified.projections.as_ref().map_or(0, |projections| projections.drift_total);
            let total = count(log.findings_total + beside);
            let held = match held {
                Some(held) if held == log.level => format!("The log itself held at {held}."),
                Some(held) => format!("{} did not hold; {held} did.", log.level),
                None => "No level held.".to_owned(),
            };
            ("bad", format!("{total} findings."), held)
        }
    }
}

fn facts(log: &VerifyReport) -> String {
    let rate = per_second(log.events, log.elapsed) as u64;
    let jobs = format!("{} streams, {} of them jobs", count(log.streams), count(log.jobs));
    let mut facts = vec![
        ("Level", print::level(log)),
        ("Up to", print::up_to(log)),
        ("Not sealed", print::unsealed(log)),
        ("Anchor", print::anchor(log)),
        ("Checked", format!("{} events in {jobs}", count(log.events))),
        ("Took", format!("{}, {} events a second", span(log.elapsed), count(rate))),
    ];
    for reopened in &log.reopened {
        let vouched =
            if reopened.is_vouched { "the old key vouches for it" } else { "nobody vouches for it" };
        let (origin, position) = (&reopened.origin, count(reopened.position));
        facts.push(("Reopened", format!("as {origin} at position {position}; {vouched}")));
    }
    if let Some(held) = log.held {
        facts.push(("Leaves open", meaning::of(held).leaves_open.to_owned()));
    }
    let item = |(name, value): (&str, String)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(&value));
    facts.into_iter().map(item).collect()
}

fn levels(log: &VerifyReport) -> String {
    let item = |meaning: &meaning::Meaning| {
        let (class, mark) = match log.held {
            Some(held) if meaning.level <= held => ("good", "held"),
            _ if meaning.level <= log.level => ("bad", "did not hold"),
            _ if meaning.level == "L1" && log.sealed == 0 => ("open", "nothing is sealed yet"),
            _ => ("open", "not asked for"),
        };
        format!(
            "<li><b>{}</b><span class=\"mark {class}\">{mark}</span><p>Checks {}. Rules out {}.</p></li>",
            meaning.level,
            escaped(meaning.checks),
            escaped(meaning.rules_out)
        )
    };
    meaning::LEVELS.iter().map(item).collect()
}

fn rows_of(findings: &[Told], total: u64) -> String {
    let rows = findings.iter().take(ROWS_MAX).map(|finding| {
        let value = |(name, value): &(&str, String)| format!("<code>{name} {}</code>", escaped(value));
        let values: String = finding.values.iter().map(value).collect();
        [
            format!("<span class=\"mark bad\">{}</span><br>{}", escaped(&finding.code), finding.level),
            format!("<span class=\"mono\">{}</span>", escaped(&finding.place)),
            format!("{}{values}", escaped(&finding.message)),
        ]
    });
    table("Findings", ["What", "Where", "More"], rows.collect(), total)
}

fn more(verified: &Verified) -> String {
    let mut html = String::new();
    if let Some(blobs) = &verified.blobs {
        let rows = blobs.findings.iter().take(ROWS_MAX).map(|finding| {
            [
                format!("<span class=\"mark bad\">{}</span>", escaped(finding.code)),
                format!("<code>{}</code>{}", escaped(&finding.blob), named_by(finding)),
                format!("<code>expected {}</code><code>found {}</code>", finding.expected, finding.found),
            ]
        });
        html += &format!(
            "<h2>Blobs</h2><p>{} blobs with {} bytes were hashed again. Events name {} blobs.</p>",
            count(blobs.blobs),
            count(blobs.bytes),
            count(blobs.named)
        );
        html += &table(
            "Blobs that are not there, or not what their hash says",
            ["What", "Blob", "More"],
            rows.collect(),
            blobs.findings_total,
        );
    }
    if let Some(views) = &verified.projections {
        let rows = views.drift.iter().take(ROWS_MAX).map(|drift| {
            let column = drift.column.unwrap_or_default();
            [
                format!("<span class=\"mark bad\">{}</span>", drift.code.as_str()),
                format!("<span class=\"mono\">{} {} {column}</span>", drift.view, escaped(&drift.key)),
                escaped(&drift.message),
            ]
        });
        html += &format!(
            "<h2>Views</h2><p>{} rows of {} were compared with a replay of the log.</p>",
            count(views.rows),
            escaped(&views.views.join(", "))
        );
        html += &table(
            "Rows that are not what the log says",
            ["What", "Where", "More"],
            rows.collect(),
            views.drift_total,
        );
    }
    if let Some(passports) = &verified.passports {
        let rows = passports.findings.iter().take(ROWS_MAX).map(|finding| {
            [
                format!("<span class=\"mark bad\">{}</span>", escaped(finding.code)),
                format!("<span class=\"mono\">{}</span>", finding.passport_version_id),
                escaped(&finding.message),
            ]
        });
        html += &format!(
            "<h2>Passports</h2><p>{} versions were compiled again, {} of them signed.</p>",
            count(passports.passport_versions),
            count(passports.signed)
        );
        html += &table(
            "Versions that are not what their facts and rules give",
            ["What", "Version", "More"],
            rows.collect(),
            passports.findings_total,
        );
    }
    html
}

fn named_by(finding: &BlobFinding) -> String {
    match (finding.stream, finding.version) {
        (Some(stream), Some(version)) => {
            format!("<br><span class=\"mono\">named by stream {stream} version {version}</span>")
        }
        _ => String::new(),
    }
}

/// Nothing if there is nothing.
fn table(heading: &str, columns: [&str; 3], rows: Vec<[String; 3]>, total: u64) -> String {
    if total == 0 {
        return String::new();
    }
    let shown = rows.len() as u64;
    let cells = |row: [String; 3]| row.map(|cell| format!("<td>{cell}</td>")).concat();
    let body: String = rows.into_iter().map(|row| format!("<tr>{}</tr>", cells(row))).collect();
    let head = columns.map(|column| format!("<th>{column}</th>")).concat();
    let rest = match total - shown {
        0 => String::new(),
        rest => format!("<p>... and {} more.</p>", count(rest)),
    };
    format!("<h2>{heading}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}")
}

/// What was asked for. Addresses of databases stay out: they may hold passwords.
fn command(args: &VerifyArgs) -> String {
    let mut words = vec!["bpc verify".to_owned()];
    words.extend(args.archive.iter().map(|path| format!("--archive {}", path.display())));
    words.extend(args.keys.iter().map(|key| format!("--key {key}")));
    words.extend(args.checkpoints.iter().map(|path| format!("--checkpoint {}", path.display())));
    words.extend(args.witnesses.iter().map(|key| format!("--witness {key}")));
    words.extend(args.blobs.then(|| "--blobs".to_owned()));
    words.extend(args.projections.then(|| "--projections".to_owned()));
    words.extend(args.passports.then(|| "--passports".to_owned()));
    words.join(" ")
}

/// Text, wherever it comes from, is text.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
