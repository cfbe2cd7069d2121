//! `bpc replay --check`: compute the views again from the log and compare.

use std::time::{Duration, Instant};

use bpc_eventstore::Store;
use bpc_eventstore::verify::event_count_estimate;
use bpc_projections::{CheckReport, check};
use serde_json::Value;

use crate::call::Call;
use crate::cli::ReplayArgs;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, span};
use crate::{packs, progress};

pub async fn run(call: &Call<'_>, args: ReplayArgs) -> Result<Exit, Failure> {
    debug_assert!(args.check, "the only mode there is");
    let store = call.open().await?;
    let (report, elapsed) = compare(call, &store).await?;
    call.output.result(&report, |output| print(output, &report, elapsed));
    Ok(if report.drift_total == 0 { Exit::Done } else { Exit::Findings })
}

/// Compare, with a bar on a terminal.
pub async fn compare(call: &Call<'_>, store: &Store) -> Result<(CheckReport, Duration), Failure> {
    let start = Instant::now();
    let bar = progress::bar(call.output, "replay", event_count_estimate(store).await?);
    let registry = packs::registry();
    let report = check(store, registry.projections(), |events| bar.set_position(events)).await;
    bar.finish_and_clear();
    Ok((report?, start.elapsed()))
}

/// Say what was compared and where it differs.
pub fn print(output: &Output, report: &CheckReport, elapsed: Duration) {
    let paint = output.paint();
    for drift in &report.drift {
        output.line(format_args!("{} {}", paint.bad("DRIFT"), described(drift)));
    }
    let hidden = (report.drift_total as u64).saturating_sub(report.drift.len() as u64);
    if hidden > 0 {
        output.line(format_args!("... and {} more", count(hidden)));
    }
    let mut table = Table::pairs();
    table.pair("replayed", format!("{} events of {} jobs", count(report.events), count(report.jobs)));
    table.pair("compared", "every row of every view with what the log says it should be");
    table.pair("took", span(elapsed));
    table.pair(
        "drift",
        match report.drift_total as u64 {
            0 => paint.good("none"),
            rows => paint.bad(count(rows)),
        },
    );
    table.print(output);
}

/// All that is known about a row that differs, in one line.
fn described(drift: &impl serde::Serialize) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match serde_json::to_value(drift) {
        Ok(Value::Object(fields)) => {
            let known = fields.iter().filter(|(_, value)| !value.is_null());
            known.map(|(name, value)| format!("{name}: {}", text(value))).collect::<Vec<_>>().join(", ")
        }
        Ok(value) => text(&value),
        Err(error) => error.to_string(),
    }
}
