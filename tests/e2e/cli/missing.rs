//! Commands on a database that is not there, or is empty.

use bpc_testkit::on_both_databases;
use bpc_testkit::process::Bpc;

use crate::harness::{BINARY, bpc, error};

const ID: &str = "0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55";

/// Those that look, and those that command what must be there already.
const READING: [&[&str]; 10] = [
    &["jobs", "list"],
    &["jobs", "show", ID],
    &["jobs", "why", ID],
    &["jobs", "stats"],
    &["jobs", "cancel", ID],
    &["jobs", "replay", ID, "--reason", "x"],
    &["jobs", "resolve", ID, "--reason", "x"],
    &["tenant", "list"],
    &["verify"],
    &["replay", "--check"],
];

on_both_databases! {
    async fn commands_that_read_make_nothing(db) {
        let bpc = bpc(&db);
        for command in READING {
            let output = bpc.run([command, &["--json"]].concat()).expect_code(2);
            let (code, message) = error(&output);
            assert_eq!(code, "NOT_INITIALISED", "{command:?}");
            assert!(message.contains("bpc init"), "{message}");
            assert!(output.stdout.is_empty(), "{command:?}");
        }
        assert!(db.path().is_none_or(|file| !file.exists()), "no file is made by looking for it");
    }
}

#[test]
fn a_typing_error_in_the_type_makes_no_database() {
    let bpc = Bpc::without_database(BINARY);
    let output = bpc.run(["enqueue", "DRILL_NOPE", "--json"]).expect_code(1);
    assert_eq!(error(&output).0, "UNSUPPORTED_JOB_TYPE");
    assert!(!bpc.directory().join("bpc.db").exists());
}

#[test]
fn an_empty_sqlite_file_is_not_initialised() {
    let bpc = Bpc::without_database(BINARY);
    std::fs::write(bpc.directory().join("bpc.db"), "").unwrap();
    let output = bpc.run(["jobs", "list", "--json"]).expect_code(2);
    assert_eq!(error(&output).0, "NOT_INITIALISED");
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let bpc = Bpc::without_database(BINARY);
    let letter = "Dear database, ".repeat(100);
    std::fs::write(bpc.directory().join("bpc.db"), &letter).unwrap();
    for command in
        [&["jobs", "list", "--json"][..], &["enqueue", "DRILL_NOOP", "--json"], &["init", "--json"]]
    {
        let output = bpc.run(command);
        assert_ne!(output.code, 0, "{command:?}");
        error(&output);
        assert!(!output.stderr.contains("panic"), "{}", output.stderr);
    }
    assert_eq!(std::fs::read_to_string(bpc.directory().join("bpc.db")).unwrap(), letter);
}
