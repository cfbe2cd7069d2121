//! Documents to passports by commands alone, on both databases.

mod diff;
mod pipeline;
mod refused;
mod webhook;

use bpc_testkit::TestDatabase;
use bpc_testkit::process::Bpc;
use serde_json::Value;

use crate::harness::{BINARY, PATIENCE, text};

/// A public sample of a passport; see the SOURCES file beside it.
pub const EV: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/crates/passport/tests/data/batterypass-ready/ev.gefeg.json");
pub const SKU: &str = "09521234010012";
/// A small package that passes the gate.
const RULES: &str = include_str!("../../../crates/passport/tests/house/small.rules");

/// The program with keys of its own, on a log with schema, tenant and key.
pub fn desk(db: &TestDatabase) -> Bpc {
    let bpc = Bpc::new(BINARY, db)
        .timeout(PATIENCE * 3)
        .env("BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64", "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=")
        .env("BPC_SECRETS_KEY_BASE64", "BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=");
    bpc.run(["init"]).expect_success();
    bpc
}

/// Run a command and return its one object.
#[track_caller]
pub fn told(bpc: &Bpc, words: &[&str]) -> Value {
    bpc.run([words, &["--json"]].concat()).expect_success().json()
}

/// Work until nothing is left.
#[track_caller]
pub fn work(bpc: &Bpc) {
    bpc.run(["worker", "--until-idle"]).expect_success();
}

/// The three documents of the sample, parsed.
#[track_caller]
pub fn documents(bpc: &Bpc) -> Vec<String> {
    let add = |kind: &&str| text(&told(bpc, &["document", "add", EV, "--kind", kind]), "document_id");
    let ids = ["bom", "pcf", "due-diligence"].iter().map(add).collect();
    work(bpc);
    ids
}

/// A sealed snapshot of the sample.
#[track_caller]
pub fn snapshot(bpc: &Bpc) -> String {
    let documents = documents(bpc);
    let mut words = vec!["snapshot", "create", "--name", "ev"];
    documents.iter().for_each(|id| words.extend(["--document", id]));
    let id = text(&told(bpc, &words), "snapshot_id");
    told(bpc, &["snapshot", "build", &id]);
    work(bpc);
    let sealed = told(bpc, &["snapshot", "seal", &id]);
    assert_eq!(text(&sealed, "snapshot_hash").len(), 64);
    id
}

/// Published rules.
#[track_caller]
pub fn rules(bpc: &Bpc) -> String {
    let id = draft(bpc, "small", RULES);
    work(bpc);
    told(bpc, &["rules", "publish", &id]);
    id
}

/// Rules of that text, not tested yet.
#[track_caller]
pub fn draft(bpc: &Bpc, folder: &str, rules: &str) -> String {
    let directory = bpc.directory().join(folder);
    std::fs::create_dir_all(&directory).expect("a folder");
    std::fs::write(directory.join("package.rules"), rules).expect("written");
    text(&told(bpc, &["rules", "add", folder]), "rule_package_version_id")
}

/// A passport of the sample's product.
#[track_caller]
pub fn passport(bpc: &Bpc) -> String {
    told(bpc, &["product", "add", SKU, "--name", "A battery"]);
    text(&told(bpc, &["passport", "create", "--product", SKU]), "passport_id")
}

/// A version of it, compiled, signed and drawn; judged on a day.
#[track_caller]
pub fn version(bpc: &Bpc, passport: &str, snapshot: &str, rules: &str, day: &str) -> String {
    let words = ["passport", "compile", passport, "--snapshot", snapshot, "--rules", rules, "--as-of", day];
    let job = text(&told(bpc, &words), "job_id");
    work(bpc);
    let shown = crate::harness::show(bpc, &job);
    assert_eq!(text(&shown, "status"), "SUCCEEDED", "{shown}");
    let rows = bpc.run(["passport", "list", "--json"]).expect_success().json_lines();
    let row = rows.iter().find(|row| row["as_of"] == day && row["passport_id"] == passport);
    text(row.expect("a version of that day"), "passport_version_id")
}
