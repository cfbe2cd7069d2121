//! `bpc init`: schema, default tenant, log key. Safe to repeat: it does what is missing and says what
//! it found.

mod key;

use bpc_eventstore::Store;
use serde::Serialize;

use crate::call::{Call, ensure_default_tenant, schema_version};
use crate::error::{Exit, Failure};
use crate::output::{Output, Table};

use key::LogKey;

pub async fn run(call: &Call<'_>) -> Result<Exit, Failure> {
    let store = call.connect(true).await?;
    let report = initialise(call, &store).await?;
    call.output.result(&report, |output| print(output, &report));
    Ok(Exit::Done)
}

/// What was done or found. The names are part of the contract.
#[derive(Serialize)]
pub struct InitReport {
    database: &'static str,
    schema_version: i64,
    schema_created: bool,
    tenant_id: String,
    tenant: String,
    tenant_created: bool,
    log_key: LogKey,
}

/// Do what is missing.
pub async fn initialise(call: &Call<'_>, store: &Store) -> Result<InitReport, Failure> {
    let former = schema_version(store).await?;
    store.migrate().await?;
    let (tenant, tenant_created) = ensure_default_tenant(store, &call.actor).await?;
    let schema_version = schema_version(store).await?;
    Ok(InitReport {
        database: store.kind(),
        schema_version,
        schema_created: former < schema_version,
        tenant_id: tenant.tenant_id.to_string(),
        tenant: tenant.slug,
        tenant_created,
        log_key: key::ensure(call, store).await?,
    })
}

/// Say it.
pub fn print(output: &Output, report: &InitReport) {
    let paint = output.paint();
    let mark = |is_new: bool| if is_new { paint.good("new") } else { paint.faint("found") };
    let mut table = Table::bare(3);
    let schema = format!("version {} on {}", report.schema_version, report.database);
    table.row(["schema".to_owned(), mark(report.schema_created), schema]);
    let tenant = format!("{} ({})", report.tenant, report.tenant_id);
    table.row(["tenant".to_owned(), mark(report.tenant_created), tenant]);
    let key = &report.log_key;
    table.row([
        "log key".to_owned(),
        mark(key.created),
        format!("{}, public key {}", key.origin, key.public_key),
    ]);
    table.print(output);
    output.line(key.advice());
}
