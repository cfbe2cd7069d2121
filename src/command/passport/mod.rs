//! `bpc product` and `bpc passport`.

mod show;
mod verdicts;
mod verify;

use bpc_passport::pack::{
    CompileOrder, activate, add_product, compile_passport, create_passport, disclose, passport_version,
    passports, product_by_sku, replay_version, revoke, stored_bytes, what_if,
};
use serde_json::json;

use crate::call::Call;
use crate::cli::{PassportCommand, ProductCommand};
use crate::error::{Exit, Failure};
use crate::output::Table;

pub use show::{print_verdicts, rule_steps};
pub use verify::{PassportsReport, print as print_report, verify_all};

/// More than anybody looks at.
const LIST_MAX: u32 = 500;

pub async fn product(call: &Call<'_>, command: ProductCommand) -> Result<Exit, Failure> {
    let ProductCommand::Add { sku, name } = command;
    let store = call.open_or_create().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let name = name.as_deref().unwrap_or(&sku);
    let (product, created) = add_product(&call.engine(&store), tenant, &call.actor, &sku, name).await?;
    call.output.result(
        &json!({"product_id": product.id, "sku": product.sku, "created": created}),
        |output| {
            let verb = if created { "added" } else { "exists already" };
            output.line(format_args!("product  {} {}", product.id, output.paint().faint(verb)));
        },
    );
    Ok(Exit::Done)
}

pub async fn run(call: &Call<'_>, command: PassportCommand) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let (engine, output, actor) = (call.engine(&store), call.output, call.actor.as_str());
    let settings = call.passports();
    match command {
        PassportCommand::Create { product } => {
            let product = product_by_sku(&store, tenant, &product).await?;
            let id = create_passport(&engine, tenant, actor, product.id).await?;
            output.result(&json!({"passport_id": id}), |output| output.line(format_args!("passport  {id}")));
        }
        PassportCommand::Compile(args) => {
            let order = CompileOrder {
                passport_id: args.id,
                snapshot_id: args.snapshot,
                rule_version_id: args.rules,
                as_of: args.as_of,
            };
            let job = compile_passport(&engine, tenant, actor, &settings, order).await?;
            output.result(&json!({"job_id": job.to_string()}), |output| {
                output.line(format_args!("job  {job}"))
            });
        }
        PassportCommand::List => {
            let mut table = Table::new(["PASSPORT", "SKU", "VERSION", "STATUS", "AS OF", "QR"]);
            for row in passports(&store, tenant, LIST_MAX).await? {
                let line = json!({"passport_id": row.passport_id, "sku": row.sku,
                                  "passport_version_id": row.version_id, "status": row.status,
                                  "as_of": row.as_of, "has_qr": row.has_qr});
                output.result(&line, |_| {
                    table.row([
                        row.passport_id.to_string(),
                        row.sku.clone(),
                        row.version_id.map_or_else(|| "-".to_owned(), |id| id.to_string()),
                        row.status.clone().unwrap_or_default(),
                        row.as_of.clone().unwrap_or_default(),
                        if row.has_qr { "yes".to_owned() } else { String::new() },
                    ]);
                });
            }
            table.print(output);
        }
        PassportCommand::Show { id, why, payload, qr } => {
            let version = passport_version(&store, tenant, id).await?;
            show::run(call, &store, tenant, &version, why.as_deref(), payload, qr).await?;
        }
        PassportCommand::Activate { id } => {
            let former = activate(&engine, tenant, actor, id).await?;
            output.result(&json!({"passport_version_id": id, "superseded": former}), |output| {
                output.line(format_args!("{id} is ACTIVE"));
                if let Some(former) = former {
                    output.line(format_args!("{former} is SUPERSEDED"));
                }
            });
        }
        PassportCommand::Revoke { id, reason } => {
            revoke(&engine, tenant, actor, id, &reason).await?;
            output.result(&json!({"passport_version_id": id, "status": "REVOKED"}), |output| {
                output.line(format_args!("{id} is REVOKED"));
            });
        }
        PassportCommand::Replay { id } => {
            let (version, compiled) = replay_version(&store, tenant, &settings, id).await?;
            let line = json!({"passport_version_id": id, "payload_hash": compiled.payload_hash.to_string(),
                              "proof_root": compiled.tree.roots.proof.to_string(),
                              "receipt_hash": compiled.receipt_hash.to_string(),
                              "signed": version.credential.is_some()});
            output.result(&line, |output| {
                let mut table = Table::pairs();
                table.pair("payload", compiled.payload_hash);
                table.pair("proof root", compiled.tree.roots.proof);
                table.pair("receipt", compiled.receipt_hash);
                let signed = if version.credential.is_some() { "valid" } else { "not signed yet" };
                table.pair("signature", signed);
                table.print(output);
                output.line("the same bytes as when it was issued");
            });
        }
        PassportCommand::Disclose { id, role } => {
            let bundle = disclose(&store, tenant, &settings, id, role).await?;
            output.text(bundle.canonical().as_str());
        }
        PassportCommand::WhatIf { id, as_of, rules } => {
            let (before, after) = what_if(&store, tenant, &settings, id, as_of, rules).await?;
            verdicts::compare(output, &before, &after);
        }
        PassportCommand::Qr { id, directory } => {
            let version = passport_version(&store, tenant, id).await?;
            let Some(qr) = &version.qr else {
                let problem = format!("version {id} has no codes yet: run `bpc worker --until-idle`");
                return Err(Failure::refused("INVALID_PASSPORT_STATUS", problem));
            };
            for (name, hash) in [("proof", qr.png), ("link", qr.link_png)] {
                let path = directory.join(format!("{id}-{name}.png"));
                let bytes = stored_bytes(&store, hash).await?;
                std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&path, bytes)).map_err(
                    |error| {
                        Failure::wrong_use(
                            "OUTPUT_FAILED",
                            format!("{} cannot be written: {error}", path.display()),
                        )
                    },
                )?;
                output.result(&json!({"file": path}), |output| output.line(path.display()));
            }
        }
    }
    Ok(Exit::Done)
}
