//! The guided tour.

use std::process::Command;
use std::time::{Duration, Instant};

use std::path::Path;

use bpc_testkit::process::Bpc;

use crate::harness::{BINARY, error};

/// A tour tests the whole EU rule package, which takes a while without optimisation.
const PATIENCE: Duration = Duration::from_secs(600);

/// Two decoders that nobody here wrote read the same from a picture: `rqrr` and `zbarimg`.
#[track_caller]
pub fn assert_scans(picture: &Path, said: &str) {
    let bytes = std::fs::read(picture).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes[..])).read_info().unwrap();
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let row_bytes = width.div_ceil(8);
    let light = |x: usize, y: usize| pixels[y * row_bytes + x / 8] >> (7 - x % 8) & 1 == 1;
    let mut image =
        rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| if light(x, y) { 255 } else { 0 });
    let found: Vec<String> = image.detect_grids().iter().map(|grid| grid.decode().unwrap().1).collect();
    assert_eq!(found, [said], "{}", picture.display());
    let output = Command::new("zbarimg").args(["--quiet", "--raw"]).arg(picture).output();
    let output = output.expect("zbarimg is there: `./test` installs zbar-tools");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), said, "{}", picture.display());
}

#[test]
fn the_tour_shows_every_fate_and_its_commands_work_when_pasted() {
    let bpc = Bpc::without_database(BINARY).timeout(PATIENCE);
    let start = Instant::now();
    let tour = bpc.run(["demo", "--directory", "tour"]).expect_success().stdout;
    // What it takes is the gate of the rules; with optimisation all of it is to be over in five seconds.
    assert!(start.elapsed() < if cfg!(debug_assertions) { PATIENCE } else { Duration::from_secs(10) });
    for part in [
        "RETRY_SCHEDULED",
        "DEAD_LETTERED",
        "a dead letter",
        "bpc jobs replay",
        "bpc seal --once",
        "bpc rules publish",
        "PCF.STAGE_SUM",
        "69.3 kgCO2e/kWh",
        "is held until",
        "is ACTIVE",
        "bpc verify --passports",
        "2 versions compiled again, 2 signatures checked",
        "L1 held",
        "bpc replay --check",
        "every row is what the log says",
        "To go on from here:",
    ] {
        assert!(tour.contains(part), "{part:?} in:\n{tour}");
    }
    assert!(!tour.contains('\u{1b}'), "no colour off a terminal");

    for sku in ["09521234010012", "09521002005004"] {
        let link = tour.lines().filter(|line| line.starts_with("https://")).find(|link| {
            let picture = bpc.directory().join(format!("tour/{sku}-link.png"));
            std::panic::catch_unwind(|| assert_scans(&picture, link)).is_ok()
        });
        assert!(link.is_some(), "no link of the tour is on the picture of {sku}");
    }
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
    let bpc = Bpc::without_database(BINARY).timeout(PATIENCE);
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
