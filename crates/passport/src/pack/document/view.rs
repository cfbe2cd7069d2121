//! The views `documents` and `facts`.

use std::pin::Pin;

use bpc_core::Envelope;
use bpc_eventstore::{Conn, StoreError, portable};
use bpc_projections::{Projection, ViewTable};

use super::events::{PARSED, Parsed, REJECTED, Rejected, STREAM, UPLOADED, Uploaded};
use super::state::DocumentStatus;
use crate::pack::event::payload;

/// Fills both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Documents;

const TABLES: &[ViewTable] = &[
    ViewTable {
        name: "documents",
        columns: &[
            "document_id",
            "tenant_id",
            "name",
            "kind",
            "format",
            "sku",
            "sha256",
            "length",
            "status",
            "facts",
            "problems",
            "uploaded_at",
        ],
        key_columns: 1,
    },
    ViewTable {
        name: "facts",
        columns: &[
            "tenant_id",
            "fact_type",
            "fact_key",
            "schema_version",
            "payload_hash",
            "document_id",
            "place",
        ],
        key_columns: 6,
    },
];

impl Projection for Documents {
    fn name(&self) -> &'static str {
        "documents"
    }

    fn stream_types(&self) -> &'static [&'static str] {
        &[STREAM]
    }

    fn tables(&self) -> &'static [ViewTable] {
        TABLES
    }

    fn apply<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        event: &'a Envelope<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        Box::pin(take_in(conn, event))
    }
}

async fn take_in(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    match &*event.event_type {
        UPLOADED => uploaded(conn, event, payload(event)?).await,
        PARSED => parsed(conn, event, payload(event)?).await,
        REJECTED => rejected(conn, event, payload(event)?).await,
        _ => Ok(()),
    }
}

async fn uploaded(conn: &mut Conn<'_>, event: &Envelope<'_>, it: Uploaded) -> Result<(), StoreError> {
    let sql = "INSERT INTO documents (document_id, tenant_id, name, kind, format, sku, sha256, length, status, \
               facts, problems, uploaded_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10)";
    portable!(conn, c => {
        sqlx::query(sql)
            .bind(event.stream_id.0)
            .bind(event.tenant_id.0)
            .bind(it.name)
            .bind(it.kind)
            .bind(it.format)
            .bind(it.sku)
            .bind(&it.sha256.0[..])
            .bind(it.length as i64)
            .bind(DocumentStatus::Uploaded.as_str())
            .bind(event.occurred_at.as_micros())
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// All facts of an event at once, as the list that the event has. They go on counting where the events before
/// stopped.
const FACTS_POSTGRES: &str = "INSERT INTO facts (tenant_id, fact_type, fact_key, schema_version, payload_hash, document_id, place) \
     SELECT $1, it.fact->>'t', it.fact->>'k', (it.fact->>'s')::bigint, decode(it.fact->>'h', 'hex'), $2, d.facts + it.number - 1 \
     FROM documents d, json_array_elements($3::text::json) WITH ORDINALITY AS it(fact, number) WHERE d.document_id = $2";
const FACTS_SQLITE: &str = "INSERT INTO facts (tenant_id, fact_type, fact_key, schema_version, payload_hash, document_id, place) \
     SELECT $1, it.value->>'t', it.value->>'k', it.value->>'s', unhex(it.value->>'h'), $2, d.facts + it.key \
     FROM documents d, json_each($3) it WHERE d.document_id = $2";

async fn parsed(conn: &mut Conn<'_>, event: &Envelope<'_>, it: Parsed) -> Result<(), StoreError> {
    let count = "UPDATE documents SET status = $2, format = $3, facts = facts + $4 WHERE document_id = $1";
    let facts = match conn {
        Conn::Postgres(_) => FACTS_POSTGRES,
        Conn::Sqlite(_) => FACTS_SQLITE,
    };
    let (id, tenant, number) = (event.stream_id.0, event.tenant_id.0, it.facts.len() as i64);
    let list = serde_json::to_string(&it.facts).expect("names and hashes are JSON");
    portable!(conn, c => {
        sqlx::query(facts).bind(tenant).bind(id).bind(list).execute(&mut **c).await?;
        sqlx::query(count)
            .bind(id)
            .bind(DocumentStatus::Validated.as_str())
            .bind(it.format)
            .bind(number)
            .execute(&mut **c)
            .await?;
    });
    Ok(())
}

async fn rejected(conn: &mut Conn<'_>, event: &Envelope<'_>, it: Rejected) -> Result<(), StoreError> {
    let sql = "UPDATE documents SET status = $2, problems = $3 WHERE document_id = $1";
    portable!(conn, c => {
        sqlx::query(sql)
            .bind(event.stream_id.0)
            .bind(DocumentStatus::Rejected.as_str())
            .bind(it.problems_total as i64)
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}
