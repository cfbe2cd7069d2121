//! `bpc replay --into FILE`: every view, as it is or was, in an SQLite file of its own.

use std::path::Path;

use bpc_archive::{ArchiveSource, CacheKey};
use bpc_eventstore::seal::sealed_head;
use bpc_eventstore::verify::event_count_estimate;
use bpc_projections::replay::{DatabaseSource, Progress, RebuildReport, Until, into_file};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::call::Call;
use crate::cli::ReplayArgs;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, per_second, span};
use crate::{packs, progress};

use super::print_drifts;

pub(super) async fn run(call: &Call<'_>, path: &Path, args: &ReplayArgs) -> Result<Exit, Failure> {
    let until = match (args.to, args.as_of) {
        (Some(size), _) => Until::Size(size),
        (None, Some(moment)) => Until::Moment(moment),
        (None, None) => Until::Newest,
    };
    let registry = packs::names();
    let projections = registry.projections();
    let rebuilt = match &args.archive {
        Some(directory) => {
            let mut source = ArchiveSource::open(directory, CacheKey::of_this_user())?;
            let bar = progress::bar(call.output, "replay", source.size());
            let rebuilt = into_file(&mut source, path, projections, until, &mut |it| show(&bar, it)).await;
            bar.finish_and_clear();
            rebuilt?
        }
        None => {
            let store = call.open().await?;
            let bar = progress::bar(call.output, "replay", event_count_estimate(&store).await?);
            let mut tx = store.begin_read().await?;
            if let Until::Size(size) = until {
                let sealed = sealed_head(&mut tx.conn()).await?.size;
                bar.set_length(size.min(sealed).max(1));
            }
            let mut conn = tx.conn();
            let mut source = DatabaseSource::new(&mut conn);
            let rebuilt = into_file(&mut source, path, projections, until, &mut |it| show(&bar, it)).await;
            bar.finish_and_clear();
            rebuilt?
        }
    };
    let line = IntoLine { file: path.display().to_string(), report: &rebuilt };
    call.output.result(&line, |output| print(output, &line));
    Ok(if rebuilt.is_clean() { Exit::Done } else { Exit::Findings })
}

fn show(bar: &ProgressBar, progress: Progress) {
    if let Progress::Rebuilding { events } = progress {
        bar.set_position(events);
    }
}

/// The names are part of the contract.
#[derive(Serialize)]
struct IntoLine<'a> {
    file: String,
    #[serde(flatten)]
    report: &'a RebuildReport,
}

fn print(output: &Output, line: &IntoLine<'_>) {
    let paint = output.paint();
    let IntoLine { file, report } = line;
    print_drifts(output, &report.drift, report.drift_total);
    let mut table = Table::pairs();
    table.pair("file", file);
    let jobs = format!("{} streams, {} of them jobs", count(report.streams), count(report.jobs));
    table.pair("replayed", format!("{} events in {jobs}", count(report.events)));
    let rate = per_second(report.events, report.elapsed) as u64;
    table.pair("took", format!("{}, {} events/s", span(report.elapsed), count(rate)));
    table.pair(
        "misfits",
        match report.drift_total {
            0 => paint.good("none: every event found its place"),
            events => paint.bad(count(events)),
        },
    );
    table.print(output);
}
