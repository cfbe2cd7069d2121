//! `bpc passport show`: what a version says, and why.

use bpc_eventstore::Store;
use bpc_passport::compile::Compiled;
use bpc_passport::pack::{PassportVersion, document, replay_version, snapshot, stated_facts, stored_bytes};
use bpc_passport::qr::QrCode;
use bpc_passport::rules::eval::{NodeKind, Trace, TraceValue};
use bpc_passport::rules::{EmissionState, RuleResult};
use bpc_worker::TenantId;
use serde_json::{Value, json};

use crate::call::Call;
use crate::error::Failure;
use crate::output::{Output, Table};

use super::verdicts::painted;

pub async fn run(
    call: &Call<'_>,
    store: &Store,
    tenant: TenantId,
    version: &PassportVersion,
    why: Option<&str>,
    payload: bool,
    qr: bool,
) -> Result<(), Failure> {
    if payload {
        let bytes = stored_bytes(store, version.payload_hash).await?;
        call.output.text(&String::from_utf8_lossy(&bytes));
        return Ok(());
    }
    let (_, compiled) = replay_version(store, tenant, &call.passports(), version.id).await?;
    if let Some(pointer) = why {
        return derivation(call, store, tenant, version, &compiled, pointer).await;
    }
    let rules: Vec<Value> = compiled.results.rules.iter().map(rule_line).collect();
    let line = json!({
        "passport_version_id": version.id, "passport_id": version.passport_id, "status": version.status.as_str(),
        "issued_at": version.issued_at.to_string(), "as_of": version.as_of, "snapshot_id": version.snapshot_id,
        "rule_package_version_id": version.rule_version_id, "payload_hash": version.payload_hash.to_string(),
        "proof_root": version.proof_root.to_string(), "receipt_hash": version.receipt_hash.to_string(),
        "signing_key_id": version.signing_key_id, "revoked_because": version.revoked_because,
        "qr": version.qr.as_ref().map(|qr| json!({"text": qr.text, "link": qr.link})), "rules": rules,
        "held": held(&compiled),
    });
    call.output.result(&line, |output| print(output, version, &compiled));
    if let (true, Some(codes)) = (qr, &version.qr) {
        let code =
            QrCode::new(&codes.text).map_err(|error| Failure::refused(error.code(), error.to_string()))?;
        call.output.line(code.terminal());
    }
    Ok(())
}

fn print(output: &Output, version: &PassportVersion, compiled: &Compiled) {
    let mut about = Table::pairs();
    about.pair("version", version.id);
    about.pair("passport", version.passport_id);
    about.pair("status", version.status);
    about.pair("as of", &version.as_of);
    about.pair("payload", version.payload_hash);
    about.pair("proof root", version.proof_root);
    about.pair("receipt", version.receipt_hash);
    about.pair("key", &version.signing_key_id);
    if let Some(qr) = &version.qr {
        about.pair("link", &qr.link);
    }
    if let Some(reason) = &version.revoked_because {
        about.pair("revoked", reason);
    }
    about.print(output);
    print_verdicts(output, compiled);
}

/// Every verdict with its citation, and the values that are held.
pub fn print_verdicts(output: &Output, compiled: &Compiled) {
    let paint = output.paint();
    let mut table = Table::new(["VERDICT", "RULE", "CITES", "WHY"]);
    for rule in &compiled.results.rules {
        let outcome = &rule.outcome;
        let mut why = outcome.message.clone().unwrap_or_default();
        if let Some(from) = outcome.from {
            why = format!("{why} from {from}").trim().to_owned();
        }
        if !outcome.missing.is_empty() {
            why = format!("{why} missing {}", outcome.missing.join(", ")).trim().to_owned();
        }
        if !rule.witnesses.is_empty() {
            why = format!("{why} ({})", rule.witnesses.join("; "));
        }
        table.row([painted(paint, outcome.verdict.as_str()), rule.rule.clone(), rule.cites.join(", "), why]);
    }
    table.print(output);
    for it in held(compiled) {
        let from = it["from"].as_str().map_or_else(|| "a day to be set".to_owned(), str::to_owned);
        output.line(
            paint.faint(format_args!("data point {} at {} is held until {from}", it["dp"], it["pointer"])),
        );
    }
}

fn rule_line(rule: &RuleResult) -> Value {
    json!({"rule": rule.rule, "verdict": rule.outcome.verdict.as_str(), "code": rule.outcome.code,
           "message": rule.outcome.message, "missing": rule.outcome.missing, "cites": rule.cites,
           "from": rule.outcome.from.map(|day| day.to_string())})
}

/// Values that are there and not displayed yet.
fn held(compiled: &Compiled) -> Vec<Value> {
    let held = compiled.results.emissions.iter().filter_map(|it| match &it.state {
        EmissionState::Held { from, .. } => {
            Some(json!({"pointer": it.pointer, "dp": it.dp, "from": from.map(|day| day.to_string())}))
        }
        _ => None,
    });
    held.collect()
}

/// How a rule came to its verdict, step by step.
pub fn rule_steps(compiled: &Compiled, rule: &str) -> Vec<String> {
    let mut steps = Vec::new();
    if let Some(result) = compiled.results.rule(rule) {
        walk(&compiled.results.trace, result.trace, 0, &mut steps);
    }
    steps
}

/// What is derived: a value by its pointer, or a verdict by its rule.
struct Derived<'a> {
    name: &'a str,
    value: String,
    about: String,
    trace: u32,
    inputs: &'a [u32],
}

fn derived<'a>(compiled: &'a Compiled, name: &'a str) -> Result<Derived<'a>, Failure> {
    if let Some(rule) = compiled.results.rule(name) {
        let value = rule.outcome.verdict.to_string();
        let about = format!("rule [{}]", rule.cites.join(", "));
        return Ok(Derived { name, value, about, trace: rule.trace, inputs: &rule.inputs });
    }
    let Some(emission) = compiled.results.emission(name) else {
        let known: Vec<&str> = compiled.results.emissions.iter().map(|it| it.pointer.as_str()).collect();
        let problem = format!("the rules emit nothing at {name:?}; they emit {}", known.join(", "));
        return Err(Failure::refused("VALIDATION_ERROR", problem));
    };
    let value = match &emission.state {
        EmissionState::Shown(value) => value.as_str().to_owned(),
        EmissionState::Held { value, from } => {
            let from = from.map_or_else(|| "a day to be set".to_owned(), |day| day.to_string());
            format!("{} (held until {from})", value.as_str())
        }
        EmissionState::Absent { missing, .. } => format!("absent, missing {}", missing.join(", ")),
    };
    let about = format!("data point {} (Annex XIII point {})", emission.dp, emission.point);
    Ok(Derived { name, value, about, trace: emission.trace, inputs: &emission.inputs })
}

/// One value back to the bytes it was read from.
async fn derivation(
    call: &Call<'_>,
    store: &Store,
    tenant: TenantId,
    version: &PassportVersion,
    compiled: &Compiled,
    pointer: &str,
) -> Result<(), Failure> {
    let derived = derived(compiled, pointer)?;
    let sources = sources(store, tenant, version, derived.inputs).await?;
    let mut steps = Vec::new();
    walk(&compiled.results.trace, derived.trace, 0, &mut steps);
    let line = json!({"pointer": derived.name, "about": derived.about, "value": derived.value,
                      "steps": steps, "facts": sources});
    call.output.result(&line, |output| {
        let mut about = Table::pairs();
        about.pair("what", derived.name);
        about.pair("value", &derived.value);
        about.pair("about", &derived.about);
        about.print(output);
        steps.iter().for_each(|step| output.line(step));
        for source in &sources {
            let text = |name: &str| source[name].as_str().unwrap_or_default().to_owned();
            output.line(format_args!("{} {}", text("type"), text("key")));
            output.line(format_args!("  document  {} sha256 {}", text("document"), text("document_sha256")));
            for (field, at) in source["from"].as_object().into_iter().flatten() {
                output.line(format_args!("  {field:<24}  {}", at.as_str().unwrap_or_default()));
            }
        }
    });
    Ok(())
}

/// Steps of a derivation, what they rest on below them.
fn walk(trace: &Trace, index: u32, depth: usize, steps: &mut Vec<String>) {
    let node = trace.node(index);
    let value = match node.value {
        TraceValue::Shown(value) => format!(" = {}", plain(value)),
        TraceValue::Hidden(hash) => format!(" = (salted hash {})", &hash.to_string()[..12]),
        TraceValue::Unknown => " is unknown".to_owned(),
        TraceValue::Fault(code) => format!(" has no result: {code}"),
        TraceValue::Unsaid => String::new(),
    };
    let kind = match node.kind {
        NodeKind::Const => "constant",
        NodeKind::Fact => "fact",
        NodeKind::Field => "field",
        NodeKind::Op => "step",
        NodeKind::Table => "table",
        NodeKind::Assert => "rule",
    };
    // Parts of a name are apart by a control character.
    let name = node.name.replace(char::is_control, " ");
    steps.push(format!("{}{kind} {name}{value}", "  ".repeat(depth)));
    node.children.iter().for_each(|child| walk(trace, *child, depth + 1, steps));
}

/// A value for people: `69.3 kgCO2e/kWh` for a quantity, everything else as it is.
fn plain(value: &str) -> String {
    let quantity: Option<Value> = serde_json::from_str(value).ok();
    match quantity.as_ref().and_then(|it| Some((it.get("v")?.as_str()?, it.get("u")?.as_str()?))) {
        Some((number, unit)) => format!("{number} {unit}"),
        None => value.to_owned(),
    }
}

/// The facts at these places of the snapshot, with document and pointers.
async fn sources(
    store: &Store,
    tenant: TenantId,
    version: &PassportVersion,
    places: &[u32],
) -> Result<Vec<Value>, Failure> {
    let snapshot = snapshot(store, tenant, version.snapshot_id).await?;
    let mut found = Vec::new();
    for (fact_type, key, hash, document_id) in snapshot
        .items()
        .enumerate()
        .filter(|(place, _)| places.contains(&(*place as u32)))
        .map(|(_, item)| item)
    {
        let document = document(store, tenant, document_id).await?;
        let stated = stated_facts(store, &document).await?;
        let stated = stated.iter().find(|it| it.fact.payload_hash() == hash && it.fact.key() == key);
        found.push(json!({"type": fact_type, "key": key, "payload_hash": hash.to_string(),
                          "document": document.name, "document_id": document_id,
                          "document_sha256": document.sha256.to_string(),
                          "from": stated.map(|it| &it.sources)}));
    }
    Ok(found)
}
