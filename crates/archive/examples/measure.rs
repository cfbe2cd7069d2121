//! How fast archives are written, read, folded and verified here:
//!
//! ```sh
//! cargo run --release -p bpc-archive --example measure -- [EVENTS [DIRECTORY [PART ...]]]
//! ```
//!
//! Parts are `write`, `read`, `fold` and `verify`; without any, all of them. The log is made up of random jobs, the files
//! are warm. Beside the time that passed stands the time that cores worked: on a machine that others use too, the
//! second one says more.

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bpc_archive::{Archive, ArchiveWriter, CacheKey, Caches, Commit, fold_archive, verify_archive};
use bpc_core::merkle::Frontier;
use bpc_core::{Hash, chain_hash};
use bpc_eventstore::verify::VerifyOptions;
use bpc_projections::replay::Until;
use bpc_testkit::used::{cpu_seconds, memory_max};
use common::{SyntheticLog, leaf, sealed, signed, signer};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let events: u64 = arguments.next().map_or(1_000_000, |text| text.parse().expect("a number of events"));
    let directory: Option<PathBuf> = arguments.next().map(PathBuf::from);
    let parts: Vec<String> = arguments.collect();
    let is_wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let scratch = tempfile::TempDir::new().expect("a temporary directory");
    let directory = directory.unwrap_or_else(|| scratch.path().to_owned());

    if is_wanted("write") {
        write(&directory, events);
    }
    let archive = Archive::open(&directory).expect("an archive");
    assert_eq!(archive.manifest().size, events, "the archive holds another number of events");
    if is_wanted("read") {
        read(&archive);
    }
    if is_wanted("fold") {
        fold(&archive);
    }
    if is_wanted("verify") {
        for _ in 0..3 {
            rate("verify", events, || {
                let report = verify_archive(&archive, &VerifyOptions::default(), None, |_| {});
                let report = report.expect("it could be checked");
                assert!(report.is_sound(), "{:#?}", report.findings);
            });
        }
        println!("most memory used: {} MB", memory_max() / 1024);
    }
}

fn write(directory: &Path, events: u64) {
    let mut tree = Frontier::new();
    let mut writer = ArchiveWriter::open(directory).expect("an archive");
    let mut log = SyntheticLog::new(1, 5000);
    rate("make events up and archive them", events, || {
        while writer.position() < events {
            let event = log.next().expect("events for ever");
            tree.push(leaf(&event));
            writer.push(&sealed(&event), Some(&event.previous)).expect("pushed");
        }
    });
    let (note, keys) = (signed(events, tree.root()), [signer().verifier().to_string()]);
    writer.commit(Commit { note: &note, older: &[], keys: &keys }, None).expect("committed");
    let bytes: u64 = writer.manifest().segments.iter().map(|entry| entry.bytes).sum();
    println!("segments: {:.1} bytes an event", bytes as f64 / events as f64);
}

fn read(archive: &Archive) {
    let events = archive.manifest().size;
    rate("decompress, and hash the files, on one core", events, || {
        for entry in &archive.manifest().segments {
            let segment = archive.segment(entry).expect("a segment");
            let mut frames = segment.frames().expect("frames");
            while frames.next_frame().expect("a frame").is_some() {}
            assert_eq!(frames.finish().expect("a hash"), entry.sha256);
        }
    });
    let log: Vec<_> = SyntheticLog::new(1, 5000).take(events.min(200_000) as usize).collect();
    let bytes: usize = log.iter().map(|event| event.event_bytes.len()).sum();
    println!("{} bytes an event", bytes / log.len());
    rate("SHA-256 of such events, on one core", log.len() as u64 * 5, || {
        let hash = |sum: u8, event: &common::Event| sum ^ chain_hash(&Hash::ZERO, &event.event_bytes).0[0];
        (0..5).fold(0, |sum, _| log.iter().fold(sum, hash))
    });
}

fn fold(archive: &Archive) {
    let events = archive.manifest().size;
    let key = CacheKey::load_or_create(&archive.path("measure.key")).expect("a key");
    let caches = || Caches::new(archive.clone(), key.clone());
    let fold = || {
        let folded = AtomicU64::new(0);
        fold_archive(&caches(), Until::Newest, |part| {
            assert!(part.objections.is_empty(), "{:?}", part.objections);
            folded.fetch_add(part.events, Ordering::Relaxed);
            true
        })
        .expect("folded");
        assert_eq!(folded.into_inner(), events);
    };
    rate("build what caches are missing, and fold", events, fold);
    for _ in 0..3 {
        rate("fold from caches", events, fold);
    }
    let entries =
        fs::read_dir(archive.path("segments")).expect("segments").map(|entry| entry.expect("an entry"));
    let caches = entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "fold"));
    let bytes: u64 = caches.map(|entry| entry.metadata().expect("its length").len()).sum();
    println!("caches: {:.1} bytes an event", bytes as f64 / events as f64);
}

fn rate<T>(what: &str, events: u64, work: impl FnOnce() -> T) -> T {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let done = work();
    let (elapsed, cpu) = (start.elapsed(), cpu_seconds() - cpu);
    let rate = events as f64 / elapsed.as_secs_f64() / 1e6;
    let work = cpu * 1e9 / events as f64;
    println!("{what}: {rate:.2} million events/s ({elapsed:.2?}); {work:.0} ns of a core each");
    done
}
