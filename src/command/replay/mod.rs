//! `bpc replay`: compute the views again from the log, to compare, to repair, or into a file.

mod into;
mod repair;

use bpc_eventstore::Store;
use bpc_eventstore::verify::event_count_estimate;
use bpc_projections::replay::{CheckReport, Drift, Progress, check};

use crate::call::Call;
use crate::cli::ReplayArgs;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, per_second, span};
use crate::{packs, progress};

pub async fn run(call: &Call<'_>, args: ReplayArgs) -> Result<Exit, Failure> {
    match &args.into {
        Some(path) => into::run(call, path, &args).await,
        None if args.repair => repair::run(call).await,
        None => {
            let store = call.open().await?;
            let report = compare(call, &store).await?;
            call.output.result(&report, |output| print(output, &report));
            Ok(if report.is_clean() { Exit::Done } else { Exit::Findings })
        }
    }
}

/// Compare, with a bar on a terminal.
pub async fn compare(call: &Call<'_>, store: &Store) -> Result<CheckReport, Failure> {
    let bar = progress::bar(call.output, "replay", event_count_estimate(store).await?);
    let registry = packs::names();
    let report = check(store, registry.projections(), &mut |progress| match progress {
        Progress::Rebuilding { events } => bar.set_position(events),
        Progress::Comparing { view, .. } => bar.set_prefix(view),
    })
    .await;
    bar.finish_and_clear();
    Ok(report?)
}

/// Say what was compared and where it differs.
pub fn print(output: &Output, report: &CheckReport) {
    let paint = output.paint();
    print_drifts(output, &report.drift, report.drift_total);
    let mut table = Table::pairs();
    let jobs = format!("{} streams, {} of them jobs", count(report.streams), count(report.jobs));
    table.pair("replayed", format!("{} events in {jobs}", count(report.events)));
    table.pair("compared", format!("{} rows of {}", count(report.rows), report.views.join(", ")));
    let rate = per_second(report.events, report.elapsed) as u64;
    table.pair("took", format!("{}, {} events/s", span(report.elapsed), count(rate)));
    table.pair(
        "drift",
        match report.drift_total {
            0 => paint.good("none: every row is what the log says"),
            rows => paint.bad(count(rows)),
        },
    );
    table.print(output);
}

/// Where something differs, and how much more there is.
fn print_drifts(output: &Output, drift: &[Drift], total: u64) {
    drift.iter().for_each(|drift| print_drift(output, drift));
    let hidden = total.saturating_sub(drift.len() as u64);
    if hidden > 0 {
        output.line(format_args!("... and {} more", count(hidden)));
    }
}

fn print_drift(output: &Output, drift: &Drift) {
    let paint = output.paint();
    let column = drift.column.map(|column| format!(" {column}")).unwrap_or_default();
    output.line(format_args!("{} {} {}{column}", paint.bad(drift.code.as_str()), drift.view, drift.key));
    output.line(format_args!("  {}", drift.message));
    let values = [("expected", &drift.expected), ("found", &drift.found)];
    for (name, value) in values.into_iter().filter_map(|(name, value)| value.as_ref().map(|it| (name, it))) {
        output.line(paint.faint(format_args!("  {name:<8}  {value}")));
    }
}
