//! The guided tour.

use std::process::Command;
use std::time::{Duration, Instant};

use bpc_testkit::process::Bpc;

use crate::harness::{BINARY, error};

#[test]
fn the_tour_shows_every_fate_and_its_commands_work_when_pasted() {
    let bpc = Bpc::without_database(BINARY);
    let start = Instant::now();
    let tour = bpc.run(["demo"]).expect_success().stdout;
    assert!(start.elapsed() < Duration::from_secs(60));
    for part in [
        "RETRY_SCHEDULED",
        "DEAD_LETTERED",
        "a dead letter",
        "bpc jobs replay",
        "bpc seal --once",
        "bpc verify",
        "L1 held",
        "bpc replay --check",
        "every row is what the log says",
        "To go on from here:",
    ] {
        assert!(tour.contains(part), "{part:?} in:\n{tour}");
    }
    assert!(!tour.contains('\u{1b}'), "no colour off a terminal");

    let (_, commands) = tour.split_once("To go on from here:").unwrap();
    let commands: Vec<&str> = commands.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let pasted = Command::new("sh").args(["-c", command]).current_dir(bpc.directory()).output().unwrap();
        let said = String::from_utf8_lossy(&pasted.stderr).into_owned();
        assert!(pasted.status.success(), "{command}: {said}");
        assert!(!pasted.stdout.is_empty(), "{command} says something");
    }
}

#[test]
fn the_tour_in_json_is_one_object() {
    let bpc = Bpc::without_database(BINARY);
    let summary = bpc.run(["demo", "--directory", "a tour's place", "--json"]).expect_success().json();
    assert_eq!((&summary["findings"], &summary["drift"]), (&0.into(), &0.into()), "{summary}");
    assert!(summary["jobs"]["SUCCEEDED"].as_u64() >= Some(5), "{summary}");
    assert!(bpc.directory().join("a tour's place/bpc.db").exists());
}

#[test]
fn the_tour_leaves_a_directory_in_use_alone() {
    let bpc = Bpc::without_database(BINARY);
    std::fs::create_dir(bpc.directory().join("mine")).unwrap();
    std::fs::write(bpc.directory().join("mine/letter"), "dear").unwrap();
    let refused = bpc.run(["demo", "--directory", "mine", "--json"]).expect_code(2);
    assert_eq!(error(&refused).0, "DIRECTORY_UNUSABLE");
    assert_eq!(std::fs::read_dir(bpc.directory().join("mine")).unwrap().count(), 1);
}
