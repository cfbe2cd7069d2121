//! `bpc tenant`: whose jobs there are.

use bpc_eventstore::{Tenant, add_tenant, tenants};
use serde::Serialize;

use crate::call::Call;
use crate::cli::TenantCommand;
use crate::error::{Exit, Failure};
use crate::output::{Table, moment};

pub async fn run(call: &Call<'_>, command: TenantCommand) -> Result<Exit, Failure> {
    match command {
        TenantCommand::Add { slug, name } => add(call, &slug, name.as_deref().unwrap_or(&slug)).await,
        TenantCommand::List => list(call).await,
    }
}

async fn add(call: &Call<'_>, slug: &str, name: &str) -> Result<Exit, Failure> {
    let store = call.open_or_create().await?;
    let tenant = add_tenant(&store, slug, name, &call.actor).await?;
    call.output.result(&TenantLine::of(&tenant), |output| {
        output.line(format_args!("added tenant {} with id {}", tenant.slug, tenant.tenant_id));
    });
    Ok(Exit::Done)
}

async fn list(call: &Call<'_>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let mut table = Table::new(["SLUG", "ID", "SINCE", "NAME"]);
    for tenant in tenants(&store).await? {
        call.output.result(&TenantLine::of(&tenant), |_| {
            let Tenant { tenant_id, slug, name, created_at } = &tenant;
            table.row([slug.clone(), tenant_id.to_string(), moment(*created_at), name.clone()]);
        });
    }
    table.print(call.output);
    Ok(Exit::Done)
}

/// The names are part of the contract.
#[derive(Serialize)]
struct TenantLine<'a> {
    tenant_id: String,
    slug: &'a str,
    name: &'a str,
    created_at: String,
}

impl<'a> TenantLine<'a> {
    fn of(tenant: &'a Tenant) -> Self {
        TenantLine {
            tenant_id: tenant.tenant_id.to_string(),
            slug: &tenant.slug,
            name: &tenant.name,
            created_at: tenant.created_at.to_string(),
        }
    }
}
