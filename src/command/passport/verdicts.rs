//! Verdicts for people.

use std::collections::BTreeMap;

use bpc_passport::pack::Compilation;
use bpc_passport::rules::{EmissionState, RuleResult, Verdict};
use serde_json::json;

use crate::output::{Output, Paint, Table};

/// A verdict in its colour.
pub fn painted(paint: Paint, verdict: &str) -> String {
    match Verdict::named(verdict) {
        Some(Verdict::Pass) => paint.good(verdict),
        Some(Verdict::Fail | Verdict::Unknown) => paint.bad(verdict),
        _ => verdict.to_owned(),
    }
}

/// What changes between two compilations of the same facts.
pub fn compare(output: &Output, before: &Compilation, after: &Compilation) {
    let by_rule = |it: &Compilation| -> BTreeMap<String, RuleResult> {
        it.results.rules.iter().map(|rule| (rule.rule.clone(), rule.clone())).collect()
    };
    let (old, new) = (by_rule(before), by_rule(after));
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut table = Table::new(["RULE", "NOW", "THEN", "CITES", "WHY"]);
    let said = |rule: Option<&RuleResult>| {
        rule.map_or_else(|| "-".to_owned(), |rule| rule.outcome.verdict.to_string())
    };
    let mut changed = 0;
    for name in names {
        let (now, then) = (old.get(name), new.get(name));
        if said(now) == said(then) {
            continue;
        }
        changed += 1;
        let newest = then.or(now);
        let cites = newest.map_or_else(String::new, |rule| rule.cites.join(", "));
        let why = newest.and_then(|rule| rule.outcome.message.clone()).unwrap_or_default();
        let missing = newest.map_or_else(Vec::new, |rule| rule.outcome.missing.clone());
        let line = json!({"rule": name, "now": said(now), "then": said(then), "cites": cites, "message": why,
                          "missing": missing});
        output.result(&line, |output| {
            let paint = output.paint();
            let why = if missing.is_empty() { why.clone() } else { format!("{why} {}", missing.join(", ")) };
            table.row([
                name.clone(),
                painted(paint, &said(now)),
                painted(paint, &said(then)),
                cites.clone(),
                why,
            ]);
        });
    }
    table.print(output);
    let shown = |it: &Compilation| -> Vec<String> {
        let shown = it.results.emissions.iter().filter(|it| matches!(it.state, EmissionState::Shown(_)));
        shown.map(|it| it.pointer.clone()).collect()
    };
    let (before_shown, after_shown) = (shown(before), shown(after));
    for pointer in after_shown.iter().filter(|pointer| !before_shown.contains(pointer)) {
        output.result(&json!({"pointer": pointer, "change": "begins to be shown"}), |output| {
            output.line(format_args!("{pointer} begins to be shown"));
        });
    }
    for pointer in before_shown.iter().filter(|pointer| !after_shown.contains(pointer)) {
        output.result(&json!({"pointer": pointer, "change": "is no longer shown"}), |output| {
            output.line(format_args!("{pointer} is no longer shown"));
        });
    }
    let line =
        json!({"rules_changed": changed, "compiles_now": before.compiles, "compiles_then": after.compiles});
    output.result(&line, |output| {
        let verb = |compiles: bool| if compiles { "compiles" } else { "does not compile" };
        output.line(format_args!(
            "{changed} verdicts change; it {} now and {} then",
            verb(before.compiles),
            verb(after.compiles)
        ));
    });
}
