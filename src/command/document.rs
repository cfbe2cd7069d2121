//! `bpc document`: what facts are read from.

use bpc_passport::pack::{Document, NewDocument, add_document, document, documents};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::call::Call;
use crate::cli::{DocumentAddArgs, DocumentCommand};
use crate::error::{Exit, Failure};
use crate::output::{Table, count, moment};

pub async fn run(call: &Call<'_>, command: DocumentCommand) -> Result<Exit, Failure> {
    match command {
        DocumentCommand::Add(args) => add(call, args).await,
        DocumentCommand::List { limit } => list(call, limit).await,
        DocumentCommand::Show { id } => show(call, id).await,
    }
}

async fn add(call: &Call<'_>, args: DocumentAddArgs) -> Result<Exit, Failure> {
    let bytes = std::fs::read(&args.file).map_err(|error| {
        let problem = format!("the document cannot be read from {}: {error}", args.file.display());
        Failure::wrong_use("INPUT_UNREADABLE", problem)
    })?;
    let named = args.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = args.name.or(named).unwrap_or_else(|| "document".to_owned());
    let new = NewDocument { name, kind: args.kind, format: args.format, sku: args.sku, bytes };
    let store = call.open_or_create().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let added = add_document(&call.engine(&store), tenant, &call.actor, new).await?;
    let job_id = added.job_id.map(|job| job.to_string());
    let line = json!({"document_id": added.id, "job_id": job_id, "created": added.created});
    call.output.result(&line, |output| {
        let verb = if added.created { "uploaded" } else { "exists already" };
        output.line(format_args!("document  {} {}", added.id, output.paint().faint(verb)));
        match job_id {
            Some(job) => output.line(format_args!("job       {job}")),
            None => output.line("kept as it is: documents of kind OTHER are not parsed"),
        }
    });
    Ok(Exit::Done)
}

async fn list(call: &Call<'_>, limit: u32) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let mut table = Table::new(["ID", "KIND", "FORMAT", "STATUS", ">FACTS", ">PROBLEMS", "UPLOADED", "NAME"]);
    for row in documents(&store, tenant, limit).await? {
        let line = json!({
            "document_id": row.id, "name": row.name, "kind": row.kind, "format": row.format,
            "status": row.status, "facts": row.facts, "problems": row.problems,
            "uploaded_at": row.uploaded_at.to_string(),
        });
        call.output.result(&line, |_| {
            table.row([
                row.id.to_string(),
                row.kind,
                row.format,
                row.status,
                count(row.facts as u64),
                count(row.problems as u64),
                moment(row.uploaded_at),
                row.name,
            ]);
        });
    }
    table.print(call.output);
    Ok(Exit::Done)
}

async fn show(call: &Call<'_>, id: Uuid) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let document = document(&store, tenant, id).await?;
    call.output.result(&DocumentLine::of(&document), |output| {
        let paint = output.paint();
        let mut table = Table::pairs();
        table.pair("document", document.id);
        table.pair("name", &document.name);
        table.pair("kind", document.kind);
        table.pair("format", document.format);
        table.pair("sku", document.sku.as_deref().unwrap_or("-"));
        table.pair("sha256", document.sha256);
        table.pair("bytes", count(document.length));
        table.pair("uploaded", moment(document.uploaded_at));
        table.pair("status", document.status);
        table.pair("facts", count(document.fact_count() as u64));
        table.pair("problems", count(document.problems_total));
        table.print(output);
        for problem in &document.problems {
            let at = if problem.pointer.is_empty() { "the document" } else { &problem.pointer };
            output.line(format_args!("{} at {at}", paint.bad(&problem.code)));
            output
                .line(paint.faint(format_args!("  expected {}, found {}", problem.expected, problem.found)));
        }
    });
    Ok(Exit::Done)
}

/// The names are part of the contract.
#[derive(Serialize)]
struct DocumentLine<'a> {
    document_id: Uuid,
    name: &'a str,
    kind: &'a str,
    format: &'a str,
    sku: Option<&'a str>,
    sha256: String,
    length: u64,
    uploaded_at: String,
    status: &'a str,
    facts: usize,
    problems_total: u64,
    problems: Vec<serde_json::Value>,
}

impl<'a> DocumentLine<'a> {
    fn of(document: &'a Document) -> Self {
        DocumentLine {
            document_id: document.id,
            name: &document.name,
            kind: document.kind.name(),
            format: document.format.name(),
            sku: document.sku.as_deref(),
            sha256: document.sha256.to_string(),
            length: document.length,
            uploaded_at: document.uploaded_at.to_string(),
            status: document.status.as_str(),
            facts: document.fact_count(),
            problems_total: document.problems_total,
            problems: document.problems.iter().map(|problem| json!(problem)).collect(),
        }
    }
}
