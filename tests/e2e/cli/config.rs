//! Settings by environment, and wrong use.

use bpc_testkit::process::Bpc;

use crate::harness::{BINARY, error};

#[test]
fn a_bad_setting_stops_the_program_and_names_the_variable() {
    for (variable, value) in [
        ("BPC_DATABASE_URL", "mysql://user:secret@localhost/bpc"),
        ("BPC_JOBS_POLL_INTERVAL_MS", "soon"),
        ("BPC_JOBS_LEASE_SECONDS", "0"),
        ("BPC_JOBS_LEASE_RENEW_SECONDS", "60"),
        ("BPC_JOBS_CONCURRENCY", "-1"),
        ("BPC_QUEUE_ENABLED", "maybe"),
        ("BPC_QUEUE_URL", "http://user:secret@localhost"),
        ("BPC_LOG_LEVEL", "loud"),
        ("BPC_LOG_JSON", "yes please"),
    ] {
        let bpc = Bpc::without_database(BINARY).env(variable, value);
        for command in [&["worker", "--until-idle", "--json"][..], &["jobs", "list", "--json"]] {
            let output = bpc.run(command).expect_code(2);
            let (code, message) = error(&output);
            assert_eq!(code, "CONFIG_INVALID", "{variable}");
            assert!(message.starts_with(variable), "{message}");
            assert!(!output.stderr.contains("secret"), "{}", output.stderr);
        }
        assert_untouched(&bpc);
    }
}

#[test]
fn a_queue_without_an_address_is_a_bad_setting() {
    let bpc = Bpc::without_database(BINARY).env("BPC_QUEUE_ENABLED", "true");
    let (code, message) = error(&bpc.run(["worker", "--json"]).expect_code(2));
    assert_eq!(code, "CONFIG_INVALID");
    assert!(message.starts_with("BPC_QUEUE_URL"), "{message}");
}

#[test]
fn wrong_use_exits_with_two_in_the_form_that_was_asked_for() {
    let bpc = Bpc::without_database(BINARY);
    let id = "0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55";
    for arguments in [
        &["frobnicate"][..],
        &["jobs", "list", "--frobnicate"],
        &["jobs"],
        &["tenant"],
        &["enqueue"],
        &["jobs", "show", "not-an-id"],
        &["jobs", "list", "--status", "SLEEPY"],
        &["jobs", "list", "--limit", "0"],
        &["jobs", "list", "--from", "yesterday"],
        &["jobs", "replay", id],
        &["jobs", "resolve", id],
        &["jobs", "replay", id, "--reason", "  "],
        &["replay"],
        &["worker", "--concurrency", "0"],
        &["worker", "--grace", "a while"],
        &["bench", "--jobs", "0"],
    ] {
        let told = bpc.run([&["--json"], arguments].concat()).expect_code(2);
        let (code, message) = error(&told);
        assert_eq!(code, "USAGE", "{arguments:?}: {message}");
        assert_eq!(told.stderr.lines().count(), 1, "{arguments:?}: {}", told.stderr);
        assert!(told.stdout.is_empty(), "{arguments:?}");
        let for_people = bpc.run(arguments).expect_code(2);
        assert!(!for_people.stderr.is_empty() && for_people.stdout.is_empty(), "{arguments:?}");
    }
    bpc.run([] as [&str; 0]).expect_code(2);
    assert_untouched(&bpc);
}

#[test]
fn a_database_that_cannot_be_reached_is_told_without_its_password() {
    let bpc = Bpc::without_database(BINARY);
    for (url, code) in [
        ("postgres://user:secret@127.0.0.1:1/bpc", "DATABASE_UNAVAILABLE"),
        ("mysql://user:secret@localhost/bpc", "DATABASE_URL_INVALID"),
        ("sqlite://no/such/directory/bpc.db", "DATABASE_UNAVAILABLE"),
    ] {
        let call = ["enqueue", "DRILL_NOOP", "--database", url];
        let output = bpc.run(call.into_iter().chain(["--json"])).expect_code(2);
        let (found, message) = error(&output);
        assert_eq!(found, code, "{url}: {message}");
        let for_people = bpc.run(call).expect_code(2).stderr;
        assert!(for_people.contains(code), "{for_people}");
        assert!(!output.stderr.contains("secret") && !for_people.contains("secret"), "{for_people}");
    }
    assert_untouched(&bpc);
}

#[test]
fn the_worker_takes_its_settings_from_the_environment() {
    let bpc = Bpc::without_database(BINARY).env("BPC_WORKER_ID", "desk-7").env("BPC_JOBS_CONCURRENCY", "3");
    bpc.run(["enqueue", "DRILL_NOOP", "--count", "10"]).expect_success();
    let output = bpc.run(["worker", "--until-idle", "--json"]).expect_success();
    assert_eq!((&output.json()["worker_id"], &output.json()["succeeded"]), (&"desk-7".into(), &10.into()));
    assert!(output.stderr.contains("concurrency=3"), "{}", output.stderr);
    assert!(bpc.directory().join("bpc.db").exists(), "the default database is a file where it is called");
    // Arguments come before the environment.
    let output = bpc.run(["worker", "--until-idle", "--concurrency", "5"]).expect_success();
    assert!(output.stderr.contains("concurrency=5"), "{}", output.stderr);
    let quiet = Bpc::without_database(BINARY).env("BPC_LOG_LEVEL", "error");
    assert_eq!(quiet.run(["worker", "--until-idle"]).expect_success().stderr, "");
}

#[track_caller]
fn assert_untouched(bpc: &Bpc) {
    let left: Vec<_> = std::fs::read_dir(bpc.directory()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
