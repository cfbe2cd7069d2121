//! `bpc verify --archive`: the same check of files, with no database near.

use std::path::Path;

use bpc_archive::{Archive, ArchiveVerifyReport, verify_archive};
use bpc_core::Timestamp;
use bpc_eventstore::Clock;
use bpc_eventstore::verify::{VerifyOptions, VerifyReport};

use crate::call::Call;
use crate::cli::VerifyArgs;
use crate::error::{Exit, Failure};
use crate::output::count;
use crate::{files, packs, progress};

use super::told::Told;
use super::{Verified, page, print};

pub fn run(
    call: &Call<'_>,
    args: &VerifyArgs,
    options: &VerifyOptions,
    directory: &Path,
) -> Result<Exit, Failure> {
    let archive = Archive::open(directory)?;
    let bar = progress::bar(call.output, "verify", archive.manifest().size);
    let registry = packs::names();
    let blobs = args.blobs.then(|| registry.blob_fields());
    let report = verify_archive(&archive, options, blobs, |events| bar.set_position(events));
    bar.finish_and_clear();
    let report = report?;
    let findings: Vec<Told> = report.findings.iter().map(Told::from).collect();
    let shown = Verified { log: as_of_a_database(&report), blobs: None, projections: None, passports: None };
    if let Some(path) = &args.report {
        let now: Timestamp = Clock::default().host();
        let page = page::page(&shown, &findings, args, "an archive", now);
        files::write(path, page.as_bytes())?;
    }
    call.output.result(&report, |output| {
        print::print_told(output, &shown.log, &findings);
        if let Some(blobs) = report.blobs {
            output.line(format_args!("{} blobs are what they were", count(blobs)));
        }
    });
    Ok(if report.is_sound() { Exit::Done } else { Exit::Findings })
}

/// What people are shown is the same for both; the findings come apart.
fn as_of_a_database(report: &ArchiveVerifyReport) -> VerifyReport {
    VerifyReport {
        level: report.level,
        held: report.held,
        events: report.events,
        streams: report.streams,
        jobs: report.jobs,
        origin: report.origin.clone(),
        sealed: report.sealed,
        up_to_position: report.up_to_position,
        checkpoint_age: report.checkpoint_age,
        unsealed: report.unsealed,
        unsealed_age: None,
        anchor: report.anchor.clone(),
        reopened: report.reopened.clone(),
        findings_total: report.findings_total,
        findings: Vec::new(),
        elapsed: report.elapsed,
    }
}
