//! The tables that are compared.

use std::sync::Arc;

use crate::domain::{Projection, ViewTable};

/// The views of the engine itself.
pub const ENGINE_VIEWS: &[ViewTable] = &[
    ViewTable { name: "tenants", columns: &["tenant_id", "slug", "name", "created_at"], key_columns: 1 },
    ViewTable { name: "log_keys", columns: &["public_key", "origin", "added_at"], key_columns: 1 },
    ViewTable {
        name: "job_queue",
        columns: &[
            "job_id",
            "tenant_id",
            "created_at",
            "scheduled_at",
            "lease_expires_at",
            "progressed_at",
            "version",
            "fence",
            "max_attempts",
            "attempts",
            "priority",
            "progress_percent",
            "running",
            "cancel_requested",
            "job_type",
            "queue",
            "head_hash",
            "worker_id",
            "error_code",
            "error_message",
        ],
        key_columns: 1,
    },
    ViewTable {
        name: "finished_jobs",
        columns: &[
            "tenant_id",
            "created_at",
            "job_id",
            "scheduled_at",
            "finished_at",
            "version",
            "attempts",
            "max_attempts",
            "priority",
            "resolved",
            "status",
            "job_type",
            "queue",
            "error_code",
            "error_message",
        ],
        key_columns: 3,
    },
];

/// What shows the rows of a view, one for each job. PostgreSQL keeps jobs that are alike in fewer.
pub(super) fn shown_by(view: &ViewTable) -> &'static str {
    match view.name {
        "job_queue" => "live_jobs",
        "finished_jobs" => "ended_jobs",
        name => name,
    }
}

/// Every view: those of the engine, then those of the projections.
pub fn view_tables(projections: &[Arc<dyn Projection>]) -> Vec<ViewTable> {
    let of_projections = projections.iter().flat_map(|projection| projection.tables());
    ENGINE_VIEWS.iter().chain(of_projections).copied().collect()
}
