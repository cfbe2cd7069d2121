//! A proof file.

use bpc_core::note::VerifierKey;
use bpc_core::proof::{DOES_NOT_PROVE, PROVES, Proof, Report, Subject, check};
use bpc_core::{Hash, Timestamp, chain_hash};
use serde::Serialize;

use crate::call::Call;
use crate::error::{Failure, chained};
use crate::output::{Output, Table, count, moment};

use super::print_meaning;

pub(super) fn run(call: &Call<'_>, bytes: &[u8], keys: &[VerifierKey]) -> Result<(), Failure> {
    let refused = |error: bpc_core::proof::ProofError| Failure::refused(error.code(), chained(&error));
    let report = check(bytes, keys).map_err(refused)?;
    let proof = Proof::read(bytes).map_err(refused)?;
    let line = Holds::of(&report, &proof);
    call.output.result(&line, |output| print(output, &line));
    Ok(())
}

/// The names are part of the contract.
#[derive(Serialize)]
struct Holds<'a> {
    holds: bool,
    kind: &'static str,
    subject: &'static str,
    origin: &'a str,
    size: u64,
    root: String,
    signed_by: Vec<String>,
    /// When the log says it signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_at: Option<String>,
    witnesses: Vec<Witness<'a>>,
    /// Signature lines that none of the keys given could check.
    unchecked: Vec<String>,
    tenant_id: String,
    stream_type: &'a str,
    stream_id: String,
    first_version: u32,
    last_version: u32,
    positions: &'a [u64],
    /// Hash of version 1, which the submitter of a job got as a receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
    last_hash: String,
    last_at: String,
    /// Of a job, as of its last event in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    proves: [&'static str; 4],
    does_not_prove: [&'static str; 4],
}

#[derive(Serialize)]
struct Witness<'a> {
    name: &'a str,
    at: String,
}

impl<'a> Holds<'a> {
    fn of(report: &'a Report, proof: &Proof) -> Self {
        let at = |seconds: u64| Timestamp::from_micros(seconds as i64 * 1_000_000).to_string();
        let (own, others): (Vec<_>, Vec<_>) =
            report.witnesses.iter().partition(|(name, _)| *name == report.origin);
        let first = proof.events.first().filter(|_| report.first.0 == 1);
        Holds {
            holds: true,
            kind: "proof",
            subject: match report.subject {
                Subject::Job => "job",
                Subject::Event => "event",
            },
            origin: &report.origin,
            size: report.size,
            root: report.root.to_string(),
            signed_by: report.signed_by.iter().map(ToString::to_string).collect(),
            signed_at: own.first().map(|(_, seconds)| at(*seconds)),
            witnesses: others.into_iter().map(|(name, seconds)| Witness { name, at: at(*seconds) }).collect(),
            unchecked: report.unchecked.iter().map(|(name, id)| format!("{name} (key {id})")).collect(),
            tenant_id: report.tenant_id.to_string(),
            stream_type: &report.stream_type,
            stream_id: report.stream_id.to_string(),
            first_version: report.first.0,
            last_version: report.head.version.0,
            positions: &report.positions,
            receipt: first.map(|proven| chain_hash(&Hash::ZERO, proven.event.as_bytes()).to_string()),
            last_hash: report.head.hash.to_string(),
            last_at: report.occurred_at.to_string(),
            status: report.job.as_ref().map(|job| job.status().as_str()),
            proves: PROVES,
            does_not_prove: DOES_NOT_PROVE,
        }
    }
}

fn print(output: &Output, line: &Holds<'_>) {
    let paint = output.paint();
    let mut table = Table::pairs();
    table.pair("proof", paint.good("holds"));
    table.pair(&line.stream_type.to_lowercase(), paint.heading(&line.stream_id));
    if let Some(status) = line.status {
        table.pair("status", format!("{status}, as of {}", line.last_at));
    }
    let versions = match (line.first_version, line.last_version) {
        (first, last) if first == last => format!("version {last}"),
        (first, last) => format!("versions {first} to {last}"),
    };
    let positions: Vec<String> = line.positions.iter().map(ToString::to_string).collect();
    table.pair("events", format!("{versions}, at {} of the log", positions.join(", ")));
    if let Some(receipt) = &line.receipt {
        table.pair("receipt", format!("{receipt} (hash of version 1)"));
    }
    table.pair("last hash", &line.last_hash);
    table.pair("log", format!("{}, {} events sealed, root {}", line.origin, count(line.size), line.root));
    let signed_at = line.signed_at.as_ref().and_then(|at| at.parse().ok()).map(moment);
    let at = signed_at.map(|at| format!(", which says {at}")).unwrap_or_default();
    table.pair("signed", format!("by key {}{at}", line.signed_by.join(", ")));
    let witnesses: Vec<String> =
        line.witnesses.iter().map(|it| format!("{} at {}", it.name, it.at)).collect();
    table.pair("witnesses", if witnesses.is_empty() { "none".to_owned() } else { witnesses.join(", ") });
    if !line.unchecked.is_empty() {
        table.pair("not checked", format!("{}: no key given", line.unchecked.join(", ")));
    }
    table.print(output);
    print_meaning(output, &line.proves, &line.does_not_prove);
}
