//! A log with something in it, and its key.

use std::path::PathBuf;

use bpc_testkit::TestDatabase;
use bpc_testkit::process::{Bpc, Output};

use crate::harness::{BINARY, enqueue, initialised, text};

/// A log in which one job has succeeded, sealed and signed.
pub fn sealed(db: &TestDatabase) -> (Bpc, String) {
    let bpc = initialised(db);
    let job = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
    bpc.run(["worker", "--until-idle"]).expect_success();
    bpc.run(["seal", "--once"]).expect_success();
    (bpc, job)
}

/// What its checkpoints are checked with.
#[track_caller]
pub fn vkey(bpc: &Bpc) -> String {
    let keys = bpc.run(["keys", "list", "--json"]).expect_success().json_lines();
    text(keys.last().expect("a key"), "vkey")
}

/// A file with what a command printed.
pub fn file(bpc: &Bpc, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = bpc.directory().join(name);
    std::fs::write(&path, content).expect("a file in the working directory");
    path
}

/// `bpc check` somewhere else, told of no database: what a customer does.
pub fn check(arguments: &[&str]) -> Output {
    let elsewhere =
        Bpc::without_database(BINARY).env("BPC_DATABASE_URL", "postgres://nobody@127.0.0.1:1/none");
    let output = elsewhere.run([&["check"], arguments, &["--json"]].concat());
    let left = std::fs::read_dir(elsewhere.directory()).expect("its directory").count();
    assert_eq!(left, 0, "a check makes no files");
    output
}
