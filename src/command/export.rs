//! `bpc export`: derived copies for other tools.

use std::path::Path;

use bpc_archive::{Archive, ExportReport, export_parquet, export_parquet_of_archive};
use bpc_eventstore::seal::sealed_head;

use crate::call::Call;
use crate::cli::ExportCommand;
use crate::error::{Exit, Failure};
use crate::output::{Table, count, per_second, span};
use crate::progress;

pub async fn run(call: &Call<'_>, command: ExportCommand) -> Result<Exit, Failure> {
    let ExportCommand::Parquet { to, archive } = command;
    let report = match archive {
        Some(archive) => from_archive(call, &Archive::open(&archive)?, &to)?,
        None => from_store(call, &to).await?,
    };
    call.output.result(&report, |output| {
        let mut table = Table::pairs();
        table.pair("exported", format!("{} events into {}", count(report.events), to.display()));
        table.pair("files", format!("{}, {} bytes", count(report.files), count(report.bytes)));
        let rate = per_second(report.events, report.elapsed) as u64;
        table.pair("took", format!("{}, {} events/s", span(report.elapsed), count(rate)));
        table.print(output);
    });
    Ok(Exit::Done)
}

async fn from_store(call: &Call<'_>, to: &Path) -> Result<ExportReport, Failure> {
    let store = call.open().await?;
    let size = sealed_head(&mut store.begin_read().await?.conn()).await?.size;
    let bar = progress::bar(call.output, "export", size);
    let exported = export_parquet(&store, to, &mut |events| bar.set_position(events)).await;
    bar.finish_and_clear();
    Ok(exported?)
}

fn from_archive(call: &Call<'_>, archive: &Archive, to: &Path) -> Result<ExportReport, Failure> {
    let bar = progress::bar(call.output, "export", archive.manifest().size);
    let exported = export_parquet_of_archive(archive, to, &mut |events| bar.set_position(events));
    bar.finish_and_clear();
    Ok(exported?)
}
