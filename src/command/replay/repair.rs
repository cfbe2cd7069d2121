//! `bpc replay --repair`: the live views made what the log says, in one transaction.

use bpc_eventstore::verify::event_count_estimate;
use bpc_projections::replay::{Progress, RepairReport, repair};

use crate::call::Call;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, per_second, span};
use crate::{packs, progress};

use super::print_drifts;

pub(super) async fn run(call: &Call<'_>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let bar = progress::bar(call.output, "repair", event_count_estimate(&store).await?);
    let registry = packs::names();
    let repaired = repair(&store, registry.projections(), &mut |progress| match progress {
        Progress::Rebuilding { events } => bar.set_position(events),
        Progress::Comparing { view, .. } => bar.set_prefix(view),
    })
    .await;
    bar.finish_and_clear();
    let report = repaired?;
    call.output.result(&report, |output| print(output, &report));
    Ok(Exit::Done)
}

fn print(output: &Output, report: &RepairReport) {
    let paint = output.paint();
    print_drifts(output, &report.drift, report.drift_total);
    let mut table = Table::pairs();
    let jobs = format!("{} streams, {} of them jobs", count(report.streams), count(report.jobs));
    table.pair("replayed", format!("{} events in {jobs}", count(report.events)));
    table.pair("compared", format!("{} rows", count(report.rows)));
    let rate = per_second(report.events, report.elapsed) as u64;
    table.pair("took", format!("{}, {} events/s", span(report.elapsed), count(rate)));
    if report.repaired.is_empty() {
        table.pair("repaired", paint.good("nothing: every row was what the log says"));
    }
    for (view, rows) in &report.repaired {
        table.pair("repaired", format!("{} rows of {view}", count(*rows)));
    }
    table.print(output);
}
