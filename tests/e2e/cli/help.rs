//! `--help` and `--version`.

use bpc_testkit::process::Bpc;

use crate::harness::BINARY;

#[test]
fn every_command_has_help_with_an_example() {
    let bpc = Bpc::without_database(BINARY);
    let mut seen = Vec::new();
    explore(&bpc, &[], &mut seen);
    for command in [
        "demo",
        "init",
        "worker",
        "enqueue",
        "verify",
        "replay",
        "bench",
        "tenant add",
        "tenant list",
        "seal",
        "checkpoint",
        "log",
        "prove job",
        "prove event",
        "check",
        "keys list",
        "keys rotate",
        "keys reopen",
        "report completeness",
        "archive",
        "export parquet",
        "witness serve",
        "witness ask",
    ] {
        assert!(seen.iter().any(|it| it == command), "{command} in {seen:?}");
    }
    for command in ["list", "show", "cancel", "replay", "resolve", "why", "stats"] {
        assert!(seen.contains(&format!("jobs {command}")), "{command} in {seen:?}");
    }
}

fn explore(bpc: &Bpc, path: &[String], seen: &mut Vec<String>) {
    let help = bpc.run(path.iter().map(String::as_str).chain(["--help"])).expect_success();
    assert!(help.stderr.is_empty() && !help.stdout.contains('\u{1b}'), "{path:?}");
    assert!(help.stdout.contains("Usage: bpc"), "{path:?}: {}", help.stdout);
    let examples = help.stdout.lines().filter(|line| line.starts_with("  bpc "));
    assert!(examples.count() > 0, "no example in the help of {path:?}:\n{}", help.stdout);
    seen.push(path.join(" "));
    let commands = help.stdout.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in commands.take_while(|line| !line.is_empty()) {
        if let Some(name) = line.split_whitespace().next() {
            explore(bpc, &[path, &[name.to_owned()]].concat(), seen);
        }
    }
}

#[test]
fn the_help_of_enqueue_names_every_type_with_a_payload_that_works() {
    let bpc = Bpc::without_database(BINARY);
    let help = bpc.run(["enqueue", "--help"]).expect_success().stdout;
    let mut lines = help.lines();
    let mut tried = 0;
    while let Some(line) = lines.next() {
        let Some(name) = line.split_whitespace().next().filter(|word| word.starts_with("DRILL_")) else {
            continue;
        };
        let Some((_, payload)) = lines.next().and_then(|line| line.split_once("--payload ")) else {
            panic!("{name} has no example")
        };
        bpc.run(["enqueue", name, "--payload", payload.trim_matches('\'')]).expect_success();
        tried += 1;
    }
    assert!(tried >= 7, "{help}");
}

#[test]
fn the_version_is_told() {
    let told = Bpc::without_database(BINARY).run(["--version"]).expect_success().stdout;
    assert_eq!(told, format!("bpc {}\n", env!("CARGO_PKG_VERSION")));
}
