//! What bench/compare computes and writes, by its own tests in Python; and what it refuses.

use std::path::Path;
use std::process::{Command, Output};

#[test]
fn figures_tables_and_documents_are_as_their_python_tests_say() {
    let output = python(&["-m", "unittest", "discover", "-t", ".", "-s", "tests"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // Finding no test at all would be a success, too.
    let count = said.split("Ran ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(count.is_some_and(|tests| tests >= 20), "{said}");
}

#[test]
fn a_wrong_name_or_peers_that_are_not_there_are_refused_before_anything_is_built() {
    let empty = std::env::temp_dir();
    let mut compare = command(&["compare"]);
    let output = compare.env("BPC_PEERS", empty.join("no-such-peers")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("BPC_PEERS"), "{said}");
    let output = python(&["compare", "--rounds", "0"]);
    assert_eq!(output.status.code(), Some(2));
}

fn python(arguments: &[&str]) -> Output {
    command(arguments).output().expect("python3 can be run")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).arg("-B").args(arguments);
    command
}
