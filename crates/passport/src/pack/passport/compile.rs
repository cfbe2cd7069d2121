//! COMPILE_PASSPORT: facts and rules to payload, proof and receipt.

use bpc_core::{StreamId, Timestamp, Version};
use bpc_worker::{Context, Effects, Enqueue, Handler, HandlerError, Job, JobPolicy};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::events::{COMPILED, Compiled, VERSION};
use super::input::{Materials, day};
use super::order::day_of;
use super::product::product;
use super::sign::{self, SignPassport};
use super::state::{find, passport};
use crate::compile::{self, CompileError, Input, compile};
use crate::pack::Settings;
use crate::pack::event::draft;
use crate::pack::rules::Library;

/// Compiles passport versions.
#[derive(Clone, Debug)]
pub struct CompilePassport {
    settings: Settings,
    library: Library,
}

/// What to compile. What is not said comes from the job and the worker; a compilation that is to give the
/// same bytes on every worker says all of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// The passport.
    pub passport_id: Uuid,
    /// The facts.
    pub snapshot_id: Uuid,
    /// The rules.
    pub rule_package_version_id: Uuid,
    /// When it was ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued_at: Option<Timestamp>,
    /// The day it is judged on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// The version it takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior_version: Option<Uuid>,
    /// The build that compiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The key that will sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key_id: Option<String>,
}

#[derive(Serialize)]
struct Outcome {
    passport_version_id: Uuid,
}

impl CompilePassport {
    /// With these settings.
    pub fn new(settings: Settings) -> Self {
        CompilePassport { settings, library: Library::default() }
    }

    fn check_sizes(&self, compiled: &compile::Compiled) -> Result<(), CompileError> {
        let settings = &self.settings;
        let (payload, proof) = (compiled.payload.len(), compiled.proof.len());
        let receipt = compiled.receipt_bytes.len();
        if payload > settings.payload_bytes_max {
            return Err(CompileError::PayloadTooLarge { found: payload });
        }
        if proof > settings.proof_bytes_max {
            return Err(CompileError::ProofTooLarge { found: proof });
        }
        if receipt > settings.receipt_bytes_max {
            return Err(CompileError::ReceiptTooLarge { found: receipt });
        }
        Ok(())
    }
}

impl Handler for CompilePassport {
    const TYPE: &'static str = "COMPILE_PASSPORT";
    type Payload = Payload;

    fn policy(&self) -> JobPolicy {
        JobPolicy { priority: 1, cpu_bound: true, ..JobPolicy::default() }
    }

    /// The version's id and bytes follow from the job, so a second run wants the same; a version that exists
    /// already is left alone.
    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let (store, tenant, order) = (cx.store(), job.tenant_id, &job.payload);
        let passport = passport(store, tenant, order.passport_id).await?;
        let product = product(store, tenant, passport.product_id).await?;
        let (snapshot, rules) = (order.snapshot_id, order.rule_package_version_id);
        let materials =
            Materials::read(store, tenant, &self.settings, &self.library, snapshot, rules).await?;
        let issued_at = order.issued_at.unwrap_or(job.created_at);
        let as_of = match &order.as_of {
            Some(text) => day(text)?,
            None => day_of(issued_at),
        };
        let signing_key_id = match &order.signing_key_id {
            Some(id) => id.clone(),
            None => self.settings.signing_key_id()?,
        };
        let input = Input {
            tenant_id: tenant,
            passport_id: passport.id,
            battery_product_id: product.id,
            sku: &product.sku,
            prior_version: order.prior_version,
            snapshot: &materials.snapshot,
            rules: materials.rules(),
            as_of,
            issued_at,
            build_id: order.build_id.as_deref().unwrap_or(&self.settings.build_id),
            signing_key_id: &signing_key_id,
        };
        let compiled = compile(&input).map_err(refused)?;
        self.check_sizes(&compiled).map_err(refused)?;
        let outcome = Outcome { passport_version_id: compiled.passport_version_id };
        if find(store, tenant, compiled.passport_version_id).await?.is_some() {
            return Ok(Effects::none().result(&outcome)?);
        }
        Ok(recorded(job, &input, &compiled)?.result(&outcome)?)
    }
}

fn recorded(
    job: &Job<Payload>,
    input: &Input<'_>,
    compiled: &compile::Compiled,
) -> Result<Effects, HandlerError> {
    let version = compiled.passport_version_id;
    let (effects, payload_hash) = Effects::none().blob(compiled.payload.as_bytes().to_vec());
    let (effects, receipt_hash) = effects.blob(compiled.receipt_bytes.as_bytes().to_vec());
    let (effects, proof) = effects.blob(compiled.proof.as_bytes().to_vec());
    let (effects, public) = effects.blob(compiled.public_attributes().canonical()?.into_bytes());
    let event = Compiled {
        passport_id: input.passport_id,
        product_id: input.battery_product_id,
        sku: input.sku.to_owned(),
        snapshot_id: input.snapshot.id(),
        rule_package_version_id: input.rules.version_id,
        prior_version: input.prior_version,
        issued_at: input.issued_at,
        as_of: input.as_of.to_string(),
        build_id: input.build_id.to_owned(),
        signing_key_id: input.signing_key_id.to_owned(),
        payload_hash,
        proof,
        proof_root: compiled.tree.roots.proof,
        receipt_hash,
        public,
    };
    let sign = Enqueue::new(SignPassport::TYPE, &sign::Payload { passport_version_id: version })?;
    Ok(effects
        .emit(job.tenant_id, VERSION, StreamId(version), Version::NONE, vec![draft(COMPILED, &event)?])
        .enqueue(sign.key(format!("sign-{version}"))))
}

/// Why there is no passport, with every rule that stands in the way.
fn refused(error: CompileError) -> HandlerError {
    let mut message = error.to_string();
    if let CompileError::Evaluate(cause) = &error {
        message = format!("{message}: {cause}");
    }
    let refused = HandlerError::permanent(error.code(), message);
    match &error {
        CompileError::Blocked { rules, .. } => {
            let rules: Vec<String> =
                rules.iter().map(|rule| format!("{rule} [{}]", rule.cites.join(", "))).collect();
            refused.with_detail(rules.join("\n"))
        }
        _ => refused,
    }
}
