//! `bpc facts`: what documents state, down to the place in the bytes.

use bpc_passport::pack::{FactFilter, FactRow, document, facts, stated_facts};
use serde_json::{Value, json};

use crate::call::Call;
use crate::cli::{FactsArgs, FactsCommand};
use crate::error::{Exit, Failure};
use crate::output::Table;

pub async fn run(call: &Call<'_>, command: FactsCommand) -> Result<Exit, Failure> {
    match command {
        FactsCommand::List(args) => list(call, args).await,
        FactsCommand::Show { name } => show(call, name).await,
    }
}

async fn list(call: &Call<'_>, args: FactsArgs) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    if let Some(id) = args.document {
        // Whether there is such a document at all.
        document(&store, tenant, id).await?;
    }
    let filter = FactFilter { fact_type: args.fact_type, document: args.document, ..FactFilter::default() };
    let mut table = Table::new(["TYPE", "KEY", "HASH", "DOCUMENT"]);
    for row in facts(&store, tenant, &filter, args.limit).await? {
        let FactRow { fact_type, key, payload_hash, document_id, .. } = row;
        let hash = payload_hash.to_string();
        let line = json!({"type": fact_type, "key": key, "payload_hash": hash, "document_id": document_id});
        call.output.result(&line, |_| {
            table.row([fact_type, key, hash[..12].to_owned(), document_id.to_string()]);
        });
    }
    table.print(call.output);
    Ok(Exit::Done)
}

async fn show(call: &Call<'_>, name: String) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let is_hash = name.len() >= 6 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let filter = if is_hash {
        FactFilter { hash: Some(name.to_ascii_lowercase()), ..FactFilter::default() }
    } else {
        FactFilter { key: Some(name.clone()), ..FactFilter::default() }
    };
    let rows = facts(&store, tenant, &filter, u32::MAX).await?;
    if rows.is_empty() {
        let problem = format!("there is no fact {name:?}: see `bpc facts list`");
        return Err(Failure::refused("FACT_NOT_FOUND", problem));
    }
    for row in rows {
        let document = document(&store, tenant, row.document_id).await?;
        let stated = stated_facts(&store, &document).await?;
        let Some(stated) = usize::try_from(row.place).ok().and_then(|place| stated.get(place)) else {
            continue;
        };
        let payload: Value = serde_json::from_str(stated.fact.payload().as_str()).unwrap_or_default();
        let line = json!({
            "type": row.fact_type, "key": row.key, "payload_hash": row.payload_hash.to_string(),
            "payload": payload, "document_id": document.id, "document_sha256": document.sha256.to_string(),
            "sources": stated.sources,
        });
        call.output.result(&line, |output| {
            let mut about = Table::pairs();
            about.pair("fact", format!("{} {}", row.fact_type, row.key));
            about.pair("hash", row.payload_hash);
            about.pair("document", format!("{} ({})", document.name, document.id));
            about.pair("sha256", document.sha256);
            about.print(output);
            let mut fields = Table::new(["FIELD", "VALUE", "READ FROM"]);
            for (field, value) in payload.as_object().into_iter().flatten() {
                let from = stated.sources.get(field).map_or("-", String::as_str);
                fields.row([field.clone(), shown(value), from.to_owned()]);
            }
            fields.print(output);
        });
    }
    Ok(Exit::Done)
}

/// A value as people write it: quantities as number and unit.
fn shown(value: &Value) -> String {
    match (value.get("v").and_then(Value::as_str), value.get("u").and_then(Value::as_str)) {
        (Some(number), Some(unit)) => format!("{number} {unit}"),
        _ => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}
