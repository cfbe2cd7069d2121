//! How fast archives are written, read and folded here:
//!
//! ```sh
//! cargo run --release -p bpc-archive --example measure -- [EVENTS [DIRECTORY]]
//! ```
//!
//! The log is made up of random jobs, the files are warm. Beside the time that passed stands the time that cores
//! worked on it: on a machine that others use too, the second one says more.

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bpc_archive::{Archive, ArchiveWriter, CacheKey, Caches, fold_archive, verify_archive};
use bpc_core::chain_hash;
use bpc_eventstore::verify::VerifyOptions;
use bpc_projections::replay::Until;
use common::{Event, Source, SyntheticLog};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let events: usize = arguments.next().map_or(1_000_000, |text| text.parse().expect("a number of events"));
    let directory: Option<PathBuf> = arguments.next().map(PathBuf::from);
    let scratch = tempfile::TempDir::new().expect("a temporary directory");
    let directory = directory.unwrap_or_else(|| scratch.path().to_owned());

    let log: Vec<Event> = SyntheticLog::new(1, 5000).take(events).collect();
    let raw: usize = log.iter().map(|event| event.event_bytes.len()).sum();
    println!("{events} events, {} bytes each", raw / events);

    rate("SHA-256 of the same bytes, one core", events, || {
        log.iter().fold(0, |sum, event| sum ^ chain_hash(&event.previous, &event.event_bytes).0[0])
    });
    let source = Source::new(&log);
    if !directory.join("manifest.json").exists() {
        rate("archive, one core", events, || {
            let mut writer = ArchiveWriter::open(&directory).expect("an archive");
            source.archive(&mut writer, events).expect("archived");
        });
    }
    let archive = Archive::open(&directory).expect("an archive");
    let bytes: u64 = archive.manifest().segments.iter().map(|entry| entry.bytes).sum();
    println!("segments: {:.1} bytes an event", bytes as f64 / events as f64);

    rate("decompress and hash the file, one core", events, || {
        for entry in &archive.manifest().segments {
            let segment = archive.segment(entry).expect("a segment");
            let mut frames = segment.frames().expect("frames");
            while frames.next_frame().expect("a frame").is_some() {}
            assert_eq!(frames.finish().expect("a hash"), entry.sha256);
        }
    });
    let key = CacheKey::random();
    let fold = || {
        let (folded, jobs) = (AtomicU64::new(0), AtomicU64::new(0));
        let caches = Caches::new(archive.clone(), key.clone());
        fold_archive(&caches, Until::Newest, |part| {
            assert!(part.objections.is_empty(), "{:?}", part.objections);
            folded.fetch_add(part.events, Ordering::Relaxed);
            jobs.fetch_add(part.jobs.len() as u64, Ordering::Relaxed);
            true
        })
        .expect("folded");
        assert_eq!(folded.into_inner(), events as u64);
        jobs.into_inner()
    };
    rate("build caches and fold", events, fold);
    for _ in 0..3 {
        rate("fold from caches", events, fold);
    }
    let caches: u64 = std::fs::read_dir(directory.join("segments"))
        .expect("segments")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "fold"))
        .map(|entry| entry.metadata().expect("its length").len())
        .sum();
    for _ in 0..2 {
        rate("verify", events, || {
            let report = verify_archive(&archive, &VerifyOptions::default(), false, |_| {});
            assert_eq!((report.findings, report.events), (Vec::new(), events as u64));
        });
    }
    println!("caches: {:.1} bytes an event", caches as f64 / events as f64);
}

fn rate<T>(what: &str, events: usize, work: impl FnOnce() -> T) -> T {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let done = work();
    let (elapsed, cpu) = (start.elapsed(), cpu_seconds() - cpu);
    let rate = events as f64 / elapsed.as_secs_f64() / 1e6;
    let work = cpu * 1e9 / events as f64;
    println!("{what}: {rate:.2} million events/s ({elapsed:.2?}); {work:.0} ns of a core each");
    done
}

/// What this process has used of all cores, as Linux counts it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}
