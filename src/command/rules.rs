//! `bpc rules`: what passports are judged by.

use std::path::{Path, PathBuf};

use bpc_eventstore::Store;
use bpc_passport::pack::{
    PassportRow, RuleText, RuleVersion, RulesComparison, add_rules, explain_rule, load_rules, passports,
    publish_rules, rule_version, rule_versions, test_rules,
};
use bpc_passport::rules::diff::{Change, Diff, OutcomeDiff};
use bpc_worker::TenantId;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::call::Call;
use crate::cli::RulesCommand;
use crate::error::{Exit, Failure};
use crate::output::{Table, count, moment};

/// More than anybody looks at.
const LIST_MAX: u32 = 200;
/// Passports that a comparison of rules looks at.
const PASSPORTS_MAX: u32 = 10_000;

pub async fn run(call: &Call<'_>, command: RulesCommand) -> Result<Exit, Failure> {
    let store = call.open_or_create().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let (engine, output, actor) = (call.engine(&store), call.output, call.actor.as_str());
    match command {
        RulesCommand::Add { path, seed } => {
            let sources = load_rules(&first_file(&path))?;
            let added = add_rules(&engine, tenant, actor, &sources, seed).await?;
            if !added.warnings.is_empty() {
                output.remark(&added.warnings);
            }
            let job = added.job_id.map(|job| job.to_string());
            let line = json!({"rule_package_version_id": added.id, "package": added.package,
                              "version": added.version, "created": added.created, "job_id": job});
            output.result(&line, |output| {
                let verb = if added.created { "added as a draft" } else { "exists already" };
                let (package, version) = (&added.package, &added.version);
                output.line(format_args!(
                    "rules  {} {package} {version} {}",
                    added.id,
                    output.paint().faint(verb)
                ));
                if let Some(job) = job {
                    output.line(format_args!("job    {job}"));
                }
            });
        }
        RulesCommand::Test { id, seed } => {
            let job = test_rules(&engine, tenant, actor, id, seed).await?;
            output.result(&json!({"job_id": job.to_string()}), |output| {
                output.line(format_args!("job  {job}"))
            });
        }
        RulesCommand::Publish { id } => {
            publish_rules(&engine, tenant, actor, id).await?;
            output.result(&json!({"rule_package_version_id": id, "status": "PUBLISHED"}), |output| {
                output.line(format_args!("{id} is PUBLISHED"));
            });
        }
        RulesCommand::Show { id } => show(call, &rule_version(&store, tenant, id).await?),
        RulesCommand::Explain { rule, rules } => explain(call, &store, tenant, &rule, rules).await?,
        RulesCommand::Diff { a, b } => diff(call, &store, tenant, a, b).await?,
        RulesCommand::List => {
            let mut table = Table::new(["VERSION", "PACKAGE", "", "STATUS", "SINCE"]);
            for row in rule_versions(&store, tenant, LIST_MAX).await? {
                let line = json!({"rule_package_version_id": row.id, "package": row.package, "version": row.version,
                                  "status": row.status, "created_at": row.created_at.to_string()});
                output.result(&line, |_| {
                    let (id, since) = (row.id.to_string(), moment(row.created_at));
                    table.row([id, row.package.clone(), row.version.clone(), row.status.clone(), since]);
                });
            }
            table.print(output);
        }
    }
    Ok(Exit::Done)
}

/// A folder stands for the file in it that a package begins with.
fn first_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("package.rules") } else { path.to_owned() }
}

fn show(call: &Call<'_>, version: &RuleVersion) {
    let runs: Vec<Value> = version.runs.iter().map(|run| json!(run)).collect();
    let line = json!({"rule_package_version_id": version.id, "package": version.package,
                      "version": version.version, "status": version.status.as_str(),
                      "rules_hash": version.rules_hash.to_string(),
                      "source_hash": version.source_hash.to_string(), "runs": runs});
    call.output.result(&line, |output| {
        let paint = output.paint();
        let mut about = Table::pairs();
        about.pair("version", version.id);
        about.pair("package", format!("{} {}", version.package, version.version));
        about.pair("status", version.status);
        about.pair("rules", version.rules_hash);
        about.pair("sources", version.source_hash);
        about.print(output);
        let mut table =
            Table::new(["SEED", ">PASSED", ">DISTINCT", ">FAILED", ">COVERAGE", ">MUTANTS FOUND", "GATE"]);
        for run in &version.runs {
            table.row([
                run.seed.clone(),
                count(run.total),
                count(run.distinct),
                count(run.failed),
                format!("{} %", run.coverage),
                format!("{} %", run.mutation_score),
                if run.passed { paint.good("passed") } else { paint.bad("refused") },
            ]);
        }
        table.print(output);
        version.runs.iter().flat_map(|run| &run.missing).for_each(|missing| output.line(missing));
    });
}

async fn explain(
    call: &Call<'_>,
    store: &Store,
    tenant: TenantId,
    rule: &str,
    id: Uuid,
) -> Result<(), Failure> {
    let RuleText { place, text, cites } = explain_rule(store, tenant, id, rule).await?;
    call.output.result(&json!({"rule": rule, "place": place, "cites": cites, "text": text}), |output| {
        output.line(output.paint().faint(&place));
        output.line(&text);
    });
    Ok(())
}

/// What two versions differ in, and what that means for each passport version of the tenant.
async fn diff(call: &Call<'_>, store: &Store, tenant: TenantId, a: Uuid, b: Uuid) -> Result<(), Failure> {
    let comparison = RulesComparison::new(store, tenant, a, b).await?;
    let (items, rules) = items(call, &comparison.items());
    let settings = call.passports();
    let mut table = Table::new(["VERSION", "SKU", "RULE OR ATTRIBUTE", "A", "B"]);
    let (mut looked_at, mut changed, mut shown) = (0_u64, 0_u64, 0_u64);
    for PassportRow { version_id, sku, .. } in passports(store, tenant, PASSPORTS_MAX).await? {
        let Some(id) = version_id else { continue };
        looked_at += 1;
        let OutcomeDiff { verdicts, attributes } = comparison.outcomes(store, &settings, id).await?;
        changed += u64::from(!verdicts.is_empty());
        shown += u64::from(!attributes.is_empty());
        for (rule, in_a, in_b) in verdicts {
            let line = json!({"passport_version_id": id, "sku": sku, "rule": rule, "a": in_a, "b": in_b});
            call.output.result(&line, |_| {
                let said = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
                table.row([id.to_string(), sku.clone(), rule, said(in_a), said(in_b)]);
            });
        }
        for (pointer, in_a, in_b) in attributes {
            let line =
                json!({"passport_version_id": id, "sku": sku, "pointer": pointer, "a": in_a, "b": in_b});
            call.output.result(&line, |_| {
                table.row([id.to_string(), sku.clone(), pointer, shortened(&in_a), shortened(&in_b)]);
            });
        }
    }
    print_unless_empty(call, &table);
    call.output.line(format_args!(
        "{} items differ, {} rules among them or using them; of {} passport versions {} change verdict, {} show something else",
        count(items),
        count(rules),
        count(looked_at),
        count(changed),
        count(shown)
    ));
    Ok(())
}

/// Tells which items differ. Returns how many do, and how many rules are among them or use one.
fn items(call: &Call<'_>, diff: &Diff) -> (u64, u64) {
    let mut table = Table::new(["CHANGE", "WHAT", "NAME", ""]);
    for item in &diff.items {
        call.output.result(&json!(item), |_| {
            let change = match item.change {
                Change::Added => "only in B",
                Change::Removed => "only in A",
                Change::Changed => "changed",
            };
            let mut details = item.details.iter().map(|detail| shortened(detail));
            let first = details.next().unwrap_or_default();
            table.row([change.to_owned(), item.kind.to_owned(), item.name.clone(), first]);
            details.for_each(|detail| table.row([String::new(), String::new(), String::new(), detail]));
        });
    }
    for rule in &diff.affected {
        let line = json!({"kind": "rule", "name": rule, "change": "affected", "details": []});
        call.output.result(&line, |_| {
            let why = "reads the same and uses something above".to_owned();
            table.row(["affected".to_owned(), "rule".to_owned(), rule.clone(), why]);
        });
    }
    print_unless_empty(call, &table);
    let rules = diff.items.iter().filter(|item| item.kind == "rule").count() + diff.affected.len();
    (diff.items.len() as u64, rules as u64)
}

/// With a line behind it, as more follows.
fn print_unless_empty(call: &Call<'_>, table: &Table) {
    if !table.is_empty() {
        table.print(call.output);
        call.output.line("");
    }
}

/// At most as much as fits beside other columns.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 2).chain("..".chars()).collect()
}
