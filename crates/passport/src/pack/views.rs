//! The views of snapshots, rules, products, passports, versions and keys.

use std::pin::Pin;

use bpc_core::Envelope;
use bpc_eventstore::{Conn, StoreError};
use bpc_projections::{Projection, ViewTable};
use bpc_worker::SqlValue::{Bytes, Integer, Text, Uuid};

use super::event::payload;
use super::passport::VersionStatus;
use super::passport::events as passport;
use super::rules::RuleStatus;
use super::rules::events as rules;
use super::snapshot::SnapshotStatus;
use super::snapshot::events as snapshot;
use super::sql::run;

/// Fills all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passports;

const TABLES: &[ViewTable] = &[
    ViewTable {
        name: "snapshots",
        columns: &["snapshot_id", "tenant_id", "name", "status", "items", "snapshot_hash", "created_at"],
        key_columns: 1,
    },
    ViewTable {
        name: "rule_versions",
        columns: &[
            "rule_version_id",
            "tenant_id",
            "package",
            "version",
            "status",
            "source_hash",
            "rules_hash",
            "created_at",
        ],
        key_columns: 1,
    },
    ViewTable {
        name: "products",
        columns: &["product_id", "tenant_id", "sku", "name", "created_at"],
        key_columns: 1,
    },
    ViewTable {
        name: "passports",
        columns: &["passport_id", "tenant_id", "product_id", "active_version", "created_at"],
        key_columns: 1,
    },
    ViewTable {
        name: "passport_versions",
        columns: &[
            "passport_version_id",
            "tenant_id",
            "passport_id",
            "snapshot_id",
            "rule_version_id",
            "status",
            "issued_at",
            "as_of",
            "payload_hash",
            "proof_root",
            "receipt_hash",
            "signing_key_id",
            "has_qr",
        ],
        key_columns: 1,
    },
    ViewTable {
        name: "signing_keys",
        columns: &["tenant_id", "key_id", "public_key", "since"],
        key_columns: 2,
    },
];

impl Projection for Passports {
    fn name(&self) -> &'static str {
        "passports"
    }

    fn stream_types(&self) -> &'static [&'static str] {
        &[
            snapshot::STREAM,
            rules::STREAM,
            passport::PRODUCT,
            passport::PASSPORT,
            passport::VERSION,
            passport::SIGNING_KEY,
        ]
    }

    fn tables(&self) -> &'static [ViewTable] {
        TABLES
    }

    fn apply<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        event: &'a Envelope<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        Box::pin(async move {
            match &*event.stream_type {
                snapshot::STREAM => of_snapshot(conn, event).await,
                rules::STREAM => of_rules(conn, event).await,
                passport::VERSION => of_version(conn, event).await,
                _ => of_the_rest(conn, event).await,
            }
        })
    }
}

async fn of_snapshot(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    let (id, status) = (Uuid(event.stream_id.0), |status: SnapshotStatus| Text(status.as_str().to_owned()));
    match &*event.event_type {
        snapshot::CREATED => {
            let it: snapshot::Created = payload(event)?;
            let sql = "INSERT INTO snapshots (snapshot_id, tenant_id, name, status, items, created_at) \
                       VALUES ($1, $2, $3, $4, 0, $5)";
            let at = Integer(event.occurred_at.as_micros());
            let tenant = Uuid(event.tenant_id.0);
            run(conn, sql, [id, tenant, Text(it.name), status(SnapshotStatus::Building), at]).await
        }
        snapshot::READY => {
            let it: snapshot::Ready = payload(event)?;
            let sql = "UPDATE snapshots SET status = $2, items = $3 WHERE snapshot_id = $1";
            run(conn, sql, [id, status(SnapshotStatus::Ready), Integer(it.items as i64)]).await
        }
        snapshot::SEALED => {
            let it: snapshot::Sealed = payload(event)?;
            let sql = "UPDATE snapshots SET status = $2, snapshot_hash = $3 WHERE snapshot_id = $1";
            run(conn, sql, [id, status(SnapshotStatus::Sealed), Bytes(it.snapshot_hash.0.to_vec())]).await
        }
        _ => Ok(()),
    }
}

async fn of_rules(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    let (id, status) = (Uuid(event.stream_id.0), |status: RuleStatus| Text(status.as_str().to_owned()));
    match &*event.event_type {
        rules::ADDED => {
            let it: rules::Added = payload(event)?;
            let sql = "INSERT INTO rule_versions (rule_version_id, tenant_id, package, version, status, \
                       source_hash, rules_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
            let values = [
                id,
                Uuid(event.tenant_id.0),
                Text(it.package),
                Text(it.version),
                status(RuleStatus::Draft),
                Bytes(it.source_hash.0.to_vec()),
                Bytes(it.rules_hash.0.to_vec()),
                Integer(event.occurred_at.as_micros()),
            ];
            run(conn, sql, values).await
        }
        rules::TESTS_RUN => {
            let it: rules::TestsRun = payload(event)?;
            let sql = "UPDATE rule_versions SET status = $2 WHERE rule_version_id = $1 AND status = $3";
            if it.passed {
                run(conn, sql, [id, status(RuleStatus::Validated), status(RuleStatus::Draft)]).await?;
            }
            Ok(())
        }
        rules::PUBLISHED => {
            let sql = "UPDATE rule_versions SET status = $2 WHERE rule_version_id = $1";
            run(conn, sql, [id, status(RuleStatus::Published)]).await
        }
        _ => Ok(()),
    }
}

async fn of_version(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    let id = Uuid(event.stream_id.0);
    let status = match &*event.event_type {
        passport::COMPILED => return compiled(conn, event).await,
        passport::QR_GENERATED => {
            let sql = "UPDATE passport_versions SET has_qr = 1 WHERE passport_version_id = $1";
            return run(conn, sql, [id]).await;
        }
        passport::SIGNED => VersionStatus::Signed,
        passport::ACTIVATED => VersionStatus::Active,
        passport::SUPERSEDED => VersionStatus::Superseded,
        passport::REVOKED => VersionStatus::Revoked,
        _ => return Ok(()),
    };
    let sql = "UPDATE passport_versions SET status = $2 WHERE passport_version_id = $1";
    run(conn, sql, [id, Text(status.as_str().to_owned())]).await
}

async fn compiled(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    let it: passport::Compiled = payload(event)?;
    let sql = "INSERT INTO passport_versions (passport_version_id, tenant_id, passport_id, snapshot_id, \
               rule_version_id, status, issued_at, as_of, payload_hash, proof_root, receipt_hash, \
               signing_key_id, has_qr) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0)";
    let values = [
        Uuid(event.stream_id.0),
        Uuid(event.tenant_id.0),
        Uuid(it.passport_id),
        Uuid(it.snapshot_id),
        Uuid(it.rule_package_version_id),
        Text(VersionStatus::Compiling.as_str().to_owned()),
        Integer(it.issued_at.as_micros()),
        Text(it.as_of),
        Bytes(it.payload_hash.0.to_vec()),
        Bytes(it.proof_root.0.to_vec()),
        Bytes(it.receipt_hash.0.to_vec()),
        Text(it.signing_key_id),
    ];
    run(conn, sql, values).await
}

async fn of_the_rest(conn: &mut Conn<'_>, event: &Envelope<'_>) -> Result<(), StoreError> {
    let (id, tenant) = (Uuid(event.stream_id.0), Uuid(event.tenant_id.0));
    let at = Integer(event.occurred_at.as_micros());
    match &*event.event_type {
        passport::PRODUCT_ADDED => {
            let it: passport::ProductAdded = payload(event)?;
            let sql = "INSERT INTO products (product_id, tenant_id, sku, name, created_at) \
                       VALUES ($1, $2, $3, $4, $5)";
            run(conn, sql, [id, tenant, Text(it.sku), Text(it.name), at]).await
        }
        passport::CREATED => {
            let it: passport::Created = payload(event)?;
            let sql = "INSERT INTO passports (passport_id, tenant_id, product_id, created_at) \
                       VALUES ($1, $2, $3, $4)";
            run(conn, sql, [id, tenant, Uuid(it.product_id), at]).await
        }
        passport::ACTIVE_VERSION_SET => {
            let it: passport::ActiveVersionSet = payload(event)?;
            match it.to {
                Some(version) => {
                    let sql = "UPDATE passports SET active_version = $2 WHERE passport_id = $1";
                    run(conn, sql, [id, Uuid(version)]).await
                }
                None => {
                    run(conn, "UPDATE passports SET active_version = NULL WHERE passport_id = $1", [id]).await
                }
            }
        }
        passport::KEY_ADDED => {
            let it: passport::KeyAdded = payload(event)?;
            let damaged = |_| StoreError::Damaged(format!("public key {}", it.signing_key_id));
            let key = hex::decode(&it.public_key).map_err(damaged)?;
            let sql =
                "INSERT INTO signing_keys (tenant_id, key_id, public_key, since) VALUES ($1, $2, $3, $4)";
            run(conn, sql, [tenant, Text(it.signing_key_id), Bytes(key), at]).await
        }
        _ => Ok(()),
    }
}
