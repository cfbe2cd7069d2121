//! Everything a passport version is made from.

use bpc_core::{Hash, TenantId, Timestamp};
use uuid::Uuid;

use crate::receipt::TestRun;
use crate::rules::Checked;
use crate::snapshot::SealedSnapshot;
use crate::value::Date;

/// What to compile. Equal inputs give equal bytes.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Whose passport it is.
    pub tenant_id: TenantId,
    /// The passport.
    pub passport_id: Uuid,
    /// The product it is for.
    pub battery_product_id: Uuid,
    /// The SKU under which the snapshot has the product.
    pub sku: &'a str,
    /// The version that this one takes the place of.
    pub prior_version: Option<Uuid>,
    /// The facts.
    pub snapshot: &'a SealedSnapshot,
    /// The rules.
    pub rules: Rules<'a>,
    /// The day the passport is judged on.
    pub as_of: Date,
    /// When it was ordered.
    pub issued_at: Timestamp,
    /// The build that compiles.
    pub build_id: &'a str,
    /// The key that will sign.
    pub signing_key_id: &'a str,
}

/// A published version of a rule package, and the test run that let it be published.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The version.
    pub version_id: Uuid,
    /// Its rules.
    pub checked: &'a Checked,
    /// SHA-256 of its tests.
    pub tests_sha256: Hash,
    /// The run.
    pub test_run: &'a TestRun,
}
