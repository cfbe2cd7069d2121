//! `bpc snapshot`: which facts a passport is made from.

use bpc_passport::pack::{
    add_to_snapshot, build_snapshot, create_snapshot, remove_from_snapshot, seal_snapshot, snapshot,
    snapshots,
};
use serde_json::json;

use crate::call::Call;
use crate::cli::SnapshotCommand;
use crate::error::{Exit, Failure};
use crate::output::{Table, count, moment};

/// More than anybody looks at.
const LIST_MAX: u32 = 200;

pub async fn run(call: &Call<'_>, command: SnapshotCommand) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let (engine, output, actor) = (call.engine(&store), call.output, call.actor.as_str());
    match command {
        SnapshotCommand::Create { name, document } => {
            let id = create_snapshot(&engine, tenant, actor, &name, &document).await?;
            output.result(&json!({"snapshot_id": id}), |output| output.line(format_args!("snapshot  {id}")));
        }
        SnapshotCommand::Add { id, document, fact } => {
            let added = add_to_snapshot(&engine, tenant, actor, id, document, &fact).await?;
            output.result(&json!({"snapshot_id": id, "added": added}), |output| {
                output.line(format_args!("added {} facts", count(added as u64)));
            });
        }
        SnapshotCommand::Remove { id, fact } => {
            let removed = remove_from_snapshot(&engine, tenant, actor, id, &fact).await?;
            output.result(&json!({"snapshot_id": id, "removed": removed}), |output| {
                output.line(format_args!("removed {} facts", count(removed as u64)));
            });
        }
        SnapshotCommand::Build { id } => {
            let job = build_snapshot(&engine, tenant, actor, id).await?;
            output.result(&json!({"snapshot_id": id, "job_id": job.to_string()}), |output| {
                output.line(format_args!("job  {job}"));
            });
        }
        SnapshotCommand::Seal { id } => {
            let seal = seal_snapshot(&engine, tenant, actor, &call.passports(), id).await?;
            let hash = seal.hash.to_string();
            output.result(
                &json!({"snapshot_id": id, "snapshot_hash": hash, "items": seal.items}),
                |output| {
                    output.line(format_args!("sealed {} facts as {hash}", count(seal.items as u64)));
                },
            );
        }
        SnapshotCommand::Show { id } => {
            let snapshot = snapshot(&store, tenant, id).await?;
            let hash = snapshot.hash().map(|hash| hash.to_string());
            let items: Vec<_> = snapshot
                .items()
                .map(|(fact_type, key, hash, document)| {
                    json!({"type": fact_type, "key": key, "payload_hash": hash.to_string(), "document_id": document})
                })
                .collect();
            let line = json!({"snapshot_id": id, "name": snapshot.name, "status": snapshot.status.as_str(),
                              "snapshot_hash": hash, "items": items});
            output.result(&line, |output| {
                let mut about = Table::pairs();
                about.pair("snapshot", id);
                about.pair("name", &snapshot.name);
                about.pair("status", snapshot.status);
                about.pair("hash", hash.as_deref().unwrap_or("-"));
                about.print(output);
                let mut facts = Table::new(["TYPE", "KEY", "HASH", "DOCUMENT"]);
                for (fact_type, key, hash, document) in snapshot.items() {
                    let hash = hash.to_string()[..12].to_owned();
                    facts.row([fact_type.to_owned(), key.to_owned(), hash, document.to_string()]);
                }
                facts.print(output);
            });
        }
        SnapshotCommand::List => {
            let mut table = Table::new(["SNAPSHOT", "STATUS", ">FACTS", "SINCE", "NAME"]);
            for row in snapshots(&store, tenant, LIST_MAX).await? {
                let line = json!({"snapshot_id": row.id, "name": row.name, "status": row.status,
                                  "items": row.items, "created_at": row.created_at.to_string()});
                output.result(&line, |_| {
                    let facts = count(row.items as u64);
                    table.row([
                        row.id.to_string(),
                        row.status.clone(),
                        facts,
                        moment(row.created_at),
                        row.name.clone(),
                    ]);
                });
            }
            table.print(output);
        }
    }
    Ok(Exit::Done)
}
