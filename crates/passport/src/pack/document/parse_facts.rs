//! PARSE_FACTS: a document to facts, or to everything that is wrong with it.

use bpc_core::{CanonicalJson, StreamId};
use bpc_worker::{Context, Effects, Handler, HandlerError, Job, JobPolicy};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::events::{FactName, Located, PARSED, Parsed, REJECTED, Rejected, STREAM};
use super::state::{Document, DocumentStatus, document};
use super::stated;
use crate::facts::Problem;
use crate::import::{ImportError, Imported, Request, import};
use crate::json::Json;
use crate::pack::event::{blob, draft};

/// Parses documents.
#[derive(Clone, Copy, Debug)]
pub struct ParseFacts;

/// Which document.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Its id.
    pub document_version_id: Uuid,
}

/// Bytes of one event that are spent on facts or problems; the limit is 256 KiB for all of it.
const EVENT_SHARE: usize = 160 * 1024;

impl ParseFacts {
    /// The key of the one job per document.
    pub(super) fn key(document: Uuid) -> String {
        format!("parse-{document}")
    }
}

#[derive(Serialize)]
struct Outcome {
    status: &'static str,
    facts: u64,
    problems: u64,
}

impl Handler for ParseFacts {
    const TYPE: &'static str = "PARSE_FACTS";
    type Payload = Payload;

    fn policy(&self) -> JobPolicy {
        JobPolicy { cpu_bound: true, ..JobPolicy::default() }
    }

    /// What a document states follows from its bytes alone, so a second run wants the same. A document
    /// that was parsed already is left alone.
    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let document = document(cx.store(), job.tenant_id, job.payload.document_version_id).await?;
        if document.status != DocumentStatus::Uploaded {
            let (facts, problems) = (document.fact_count() as u64, document.problems_total);
            let outcome = Outcome { status: document.status.as_str(), facts, problems };
            return Ok(Effects::none().result(&outcome)?);
        }
        let bytes = blob(cx.store(), document.sha256).await?;
        let request = Request {
            bytes: &bytes,
            kind: document.kind,
            format: document.format,
            sku: document.sku.as_deref(),
        };
        match import(request) {
            Ok(imported) => Ok(parsed(job, &document, &imported)?),
            Err(ImportError::Rejected(problems)) => Ok(rejected(job, &document, &problems)?),
            Err(error @ ImportError::UnsupportedKind(_)) => {
                Err(HandlerError::permanent(error.code(), error.to_string()))
            }
        }
    }
}

fn parsed(job: &Job<Payload>, document: &Document, imported: &Imported) -> Result<Effects, HandlerError> {
    let (effects, stated) = Effects::none().blob(stated::written(imported)?.into_bytes());
    let names: Vec<FactName> = imported.facts.iter().map(|it| stated::name(&it.fact)).collect();
    let parts = in_shares(&names, FactName::size);
    let part = |(index, facts): (usize, &&[FactName])| {
        let (part, count) = (index as u64 + 1, parts.len() as u64);
        let format = imported.format.name().to_owned();
        draft(PARSED, &Parsed { format, part, parts: count, facts: facts.to_vec(), stated })
    };
    let drafts = parts.iter().enumerate().map(part).collect::<Result<_, _>>()?;
    let outcome = Outcome {
        status: DocumentStatus::Validated.as_str(),
        facts: imported.facts.len() as u64,
        problems: 0,
    };
    let effects = effects.emit(job.tenant_id, STREAM, StreamId(document.id), document.version, drafts);
    Ok(effects.result(&outcome)?)
}

fn rejected(job: &Job<Payload>, document: &Document, problems: &[Problem]) -> Result<Effects, HandlerError> {
    let (effects, report) = Effects::none().blob(report(problems)?.into_bytes());
    let located: Vec<Located> = problems.iter().map(Located::from).collect();
    let size = |it: &Located| 80 + 2 * (it.pointer.len() + it.expected.len() + it.found.len());
    let first = in_shares(&located, size).first().map_or_else(Vec::new, |first| first.to_vec());
    let rejected = Rejected { problems_total: problems.len() as u64, problems: first, report };
    let drafts = vec![draft(REJECTED, &rejected)?];
    let outcome =
        Outcome { status: DocumentStatus::Rejected.as_str(), facts: 0, problems: problems.len() as u64 };
    let effects = effects.emit(job.tenant_id, STREAM, StreamId(document.id), document.version, drafts);
    Ok(effects.result(&outcome)?)
}

fn report(problems: &[Problem]) -> Result<CanonicalJson, HandlerError> {
    let problem = |it: &Problem| {
        Json::object([
            ("code", Json::text(it.code)),
            ("expected", Json::text(it.expected.as_str())),
            ("found", Json::text(it.found.as_str())),
            ("pointer", Json::text(it.pointer.as_str())),
        ])
    };
    Ok(Json::Array(problems.iter().map(problem).collect()).canonical()?)
}

/// Cut so that each piece fits an event; at least one piece, even of nothing.
pub(in crate::pack) fn in_shares<T>(items: &[T], size: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut shares, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (index, item) in items.iter().enumerate() {
        let size = size(item);
        if bytes + size > EVENT_SHARE && index > start {
            shares.push(&items[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += size;
    }
    shares.push(&items[start..]);
    shares
}
