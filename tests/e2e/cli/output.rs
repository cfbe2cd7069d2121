//! Where output goes and what it looks like: pipes, colour, logs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use bpc_testkit::process::Bpc;
use serde_json::Value;

use crate::harness::{BINARY, enqueue};

#[test]
fn off_a_terminal_there_is_no_colour_unless_it_is_asked_for() {
    let bpc = Bpc::without_database(BINARY);
    let job = enqueue(&bpc, "DRILL_FAIL", "{}", &[]);
    let failing = bpc.run(["worker", "--until-idle"]).expect_success();
    assert!(failing.stderr.contains("DRILL_FAILURE"), "{}", failing.stderr);
    let outputs = [
        failing,
        bpc.run(["jobs", "list"]),
        bpc.run(["jobs", "show", &job]),
        bpc.run(["jobs", "stats"]),
        bpc.run(["verify"]),
        bpc.run(["replay", "--check"]),
        bpc.run(["jobs", "list", "--color", "never"]),
        bpc.run(["jobs", "cancel", &job]),
        bpc.run(["frobnicate"]),
    ];
    for output in outputs {
        assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
        assert!(!output.stderr.contains('\u{1b}'), "{}", output.stderr);
    }
    let asked = bpc.run(["jobs", "list", "--color", "always"]).expect_success();
    assert!(asked.stdout.contains('\u{1b}'), "{}", asked.stdout);
    let json = bpc.run(["jobs", "list", "--json", "--color", "always"]).expect_success();
    assert_eq!(json.json()["status"], "FAILED", "JSON is never coloured");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bpc = Bpc::without_database(BINARY);
    bpc.run(["enqueue", "DRILL_NOOP", "--count", "2000"]).expect_success();
    // More than a pipe holds, so that writing goes on when nobody reads any more.
    let call = ["jobs", "list", "--limit", "2000", "--json"];
    let mut child = Command::new(BINARY)
        .args(call)
        .current_dir(bpc.directory())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(serde_json::from_str::<Value>(&first).is_ok(), "{first}");
}

#[test]
fn a_job_is_enqueued_even_if_nobody_reads_the_receipt() {
    let bpc = Bpc::without_database(BINARY);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let call = ["enqueue", "DRILL_NOOP", "--json"];
    let output = Command::new(BINARY).args(call).current_dir(bpc.directory()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a full disk is worth a word");
    assert!(String::from_utf8_lossy(&output.stderr).contains("OUTPUT_FAILED"));
    assert_eq!(bpc.run(["jobs", "list", "--json"]).expect_success().json_lines().len(), 1);
}

#[test]
fn logs_are_json_lines_if_asked_for_and_never_on_stdout() {
    let bpc = Bpc::without_database(BINARY).env("BPC_LOG_JSON", "true");
    enqueue(&bpc, "DRILL_FAIL", r#"{"code":"PRINTER_ON_FIRE"}"#, &[]);
    enqueue(&bpc, "DRILL_PANIC", "{}", &["--max-attempts", "1"]);
    let output = bpc.run(["worker", "--until-idle", "--json"]).expect_success();
    assert_eq!(output.json_lines().len(), 1, "the report and nothing else: {}", output.stdout);
    let lines: Vec<Value> =
        output.stderr.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    for line in &lines {
        for field in ["timestamp", "level", "message"] {
            assert!(line[field].is_string(), "{field} in {line}");
        }
    }
    let failed = lines.iter().find(|line| line["code"] == "PRINTER_ON_FIRE").expect("the failure is told");
    assert_eq!((&failed["level"], &failed["job.type"]), (&"WARN".into(), &"DRILL_FAIL".into()));
    assert!(lines.iter().any(|line| line["panic.message"] == "it was asked to panic"), "{lines:?}");
}
