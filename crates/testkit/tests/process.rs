//! Running programs and signalling them.

use std::time::Duration;

use bpc_testkit::process::{Bpc, Running, Signal};
use bpc_testkit::{TestDatabase, eventually};
use serde_json::json;

const SOON: Duration = Duration::from_secs(10);

/// The shell stands in for the program, so that these tests need nothing built first.
fn shell(db: &TestDatabase) -> Bpc {
    Bpc::new("/bin/sh", db)
}

/// The state letter the kernel shows: `S` sleeping, `T` stopped.
fn state(process: &Running) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name.chars().next()
}

#[test]
fn the_outcome_is_reported() {
    let db = TestDatabase::sqlite();
    let output = shell(&db).run(["-c", "echo out; echo err >&2; exit 3"]);
    assert_eq!(output.code, 3);
    assert_eq!(output.stdout, "out\n");
    assert_eq!(output.stderr, "err\n");
}

#[test]
fn the_program_sees_its_database_and_an_empty_directory() {
    let db = TestDatabase::sqlite();
    let bpc = shell(&db).env("BPC_EXTRA", "more");
    let script = r#"env | grep '^BPC_' | sort; ls -A; pwd"#;
    let output = bpc.run(["-c", script]).expect_success();
    let url = db.url();
    let directory = bpc.directory().display();
    let expected = format!("BPC_DATABASE_URL={url}\nBPC_EXTRA=more\n{directory}\n");
    assert_eq!(output.stdout, expected);
}

#[test]
fn json_is_parsed_by_line() {
    let db = TestDatabase::sqlite();
    let script = r#"echo '{"n":1}'; echo '{"n":2}'"#;
    let lines = shell(&db).run(["-c", script]).json_lines();
    assert_eq!(lines, [json!({"n": 1}), json!({"n": 2})]);
}

#[test]
#[should_panic(expected = "still running after 50ms")]
fn a_run_has_a_time_limit() {
    let db = TestDatabase::sqlite();
    let bpc = shell(&db).timeout(Duration::from_millis(50));
    bpc.run(["-c", "sleep 60"]);
}

#[tokio::test]
async fn a_process_is_stopped_continued_and_killed() {
    let sleep = Bpc::without_database("/bin/sleep");
    let mut process = sleep.spawn(["60"]);
    eventually(SOON, || async { state(&process) == Some('S') }).await;
    process.signal(Signal::Stop);
    eventually(SOON, || async { state(&process) == Some('T') }).await;
    process.signal(Signal::Cont);
    eventually(SOON, || async { state(&process) == Some('S') }).await;
    assert_eq!(process.try_wait(), None);
    process.signal(Signal::Kill);
    assert_eq!(process.wait(SOON).code, 128 + 9);
}

#[tokio::test]
async fn output_is_readable_while_it_runs() {
    let db = TestDatabase::sqlite();
    let script = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
    let mut process = shell(&db).spawn(["-c", script]);
    eventually(SOON, || async { process.stdout() == "ready\n" }).await;
    process.signal(Signal::Term);
    let output = process.wait(SOON);
    assert_eq!((output.code, output.stdout.as_str()), (7, "ready\nbye\n"));
}

#[tokio::test]
async fn a_dropped_process_is_killed_with_its_children() {
    let db = TestDatabase::sqlite();
    let process = shell(&db).spawn(["-c", "sleep 60 & echo $!; wait"]);
    let child = eventually(SOON, || async {
        let stdout = process.stdout();
        stdout.strip_suffix('\n').map(str::to_owned)
    })
    .await;
    drop(process);
    let alive = format!("/proc/{child}/cmdline");
    // What remains of a killed process until somebody collects it has no command line.
    eventually(SOON, || async { std::fs::read(&alive).unwrap_or_default().is_empty() }).await;
}
