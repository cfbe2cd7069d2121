//! `bpc archive`: the sealed log into a directory of files.

use bpc_archive::{ArchiveProgress, ArchiveReport, archive};

use crate::call::Call;
use crate::cli::ArchiveArgs;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, per_second, span};
use crate::progress;

pub async fn run(call: &Call<'_>, args: ArchiveArgs) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let bar = progress::bar(call.output, "archive", 1);
    let archived = archive(&store, &args.to, &mut |ArchiveProgress { events, size }| {
        bar.set_length(size.max(1));
        bar.set_position(events);
    })
    .await;
    bar.finish_and_clear();
    let report = archived?;
    call.output.result(&report, |output| print(output, &args, &report));
    Ok(if report.blobs_damaged.is_empty() { Exit::Done } else { Exit::Findings })
}

fn print(output: &Output, args: &ArchiveArgs, report: &ArchiveReport) {
    let mut table = Table::pairs();
    table.pair("archive", format!("{}, log {}", args.to.display(), report.origin));
    table
        .pair("events", format!("{} in all, {} of them new", count(report.size), count(report.events_added)));
    table.pair("segments", format!("{}, {} bytes", count(report.segments), count(report.segment_bytes)));
    table.pair("blobs", format!("{} in all, {} of them new", count(report.blobs), count(report.blobs_added)));
    let rate = per_second(report.events_added, report.elapsed) as u64;
    table.pair("took", format!("{}, {} events/s", span(report.elapsed), count(rate)));
    for blob in &report.blobs_damaged {
        table.pair("damaged", output.paint().bad(format_args!("blob {blob} is not in the archive")));
    }
    table.print(output);
}
