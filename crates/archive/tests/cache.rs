//! Caches: they fold to what the events fold to, and one that was tampered with is never believed.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bpc_archive::{Archive, CacheKey, Caches, Objection, fold_archive};
use bpc_core::job::fold_stream;
use bpc_core::{Envelope, Hash, Job, JobId, StreamId};
use bpc_projections::replay::Until;
use common::{Event, Source, SyntheticLog};
use proptest::prelude::*;
use tempfile::TempDir;

const KEY: &str = "cache.key";

#[derive(Debug, Default, PartialEq)]
struct Folded {
    jobs: BTreeMap<JobId, Job>,
    others: Vec<u64>,
    events: u64,
    objections: Vec<Objection>,
}

#[test]
fn streams_that_go_on_in_later_segments_fold_whole() {
    // So many jobs at once that most of them are enqueued in one segment and end in another.
    let events: Vec<Event> = SyntheticLog::new(1, 20_000).take(67_000).collect();
    let scratch = archived(&events);
    let folded = fold(scratch.path(), Until::Newest);
    assert_eq!(folded.objections, []);
    assert_eq!(folded, expected(&events));
    assert_eq!(fold(scratch.path(), Until::Newest), folded, "the second time from caches");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_fold_up_to_any_size_is_that_of_the_first_events(
        seed: u64, count in 1usize..1500, jobs_max in 1usize..300, size: prop::sample::Index,
    ) {
        let events: Vec<Event> = SyntheticLog::new(seed, jobs_max).take(count).collect();
        let scratch = archived(&events);
        let size = size.index(count + 1);
        prop_assert_eq!(fold(scratch.path(), Until::Size(size as u64)), expected(&events[..size]));
    }

    #[test]
    fn a_fold_up_to_any_moment_is_that_of_the_events_until_then(
        seed: u64, count in 1usize..1500, at: prop::sample::Index,
    ) {
        let events: Vec<Event> = SyntheticLog::new(seed, 100).take(count).collect();
        let scratch = archived(&events);
        let moment = Envelope::read(&events[at.index(count)].event_bytes).unwrap().occurred_at;
        let is_within = |event: &&Event| Envelope::read(&event.event_bytes).unwrap().occurred_at <= moment;
        let until: Vec<Event> = events.iter().filter(is_within).cloned().collect();
        let folded = fold(scratch.path(), Until::Moment(moment));
        prop_assert_eq!(folded.events as usize, count, "all are read");
        prop_assert_eq!(Folded { events: until.len() as u64, ..folded }, expected(&until));
    }

    #[test]
    fn a_flipped_bit_anywhere_in_a_cache_changes_nothing(at: prop::sample::Index, bit in 0u8..8) {
        let (scratch, events) = small();
        let cache = cache_of(scratch.path());
        let sound = fs::read(&cache).unwrap();
        let mut bytes = sound.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        fs::write(&cache, &bytes).unwrap();
        prop_assert_eq!(fold(scratch.path(), Until::Newest), expected(&events));
        // Padding between parts belongs to nobody and may stay.
        let rebuilt = fs::read(&cache).unwrap();
        prop_assert!(rebuilt == sound || rebuilt == bytes);
    }

    #[test]
    fn a_cache_cut_off_changes_nothing(keep: prop::sample::Index) {
        let (scratch, events) = small();
        let cache = cache_of(scratch.path());
        let sound = fs::read(&cache).unwrap();
        fs::write(&cache, &sound[..keep.index(sound.len())]).unwrap();
        prop_assert_eq!(fold(scratch.path(), Until::Newest), expected(&events));
        prop_assert_eq!(fs::read(&cache).unwrap(), sound);
    }
}

#[test]
fn the_cache_of_another_segment_is_not_believed() {
    let (scratch, events) = small();
    let other: Vec<Event> = SyntheticLog::new(99, 50).take(events.len()).collect();
    let foreign = archived(&other);
    // By the same user, with the same key, in the right place.
    fs::copy(scratch.path().join(KEY), foreign.path().join(KEY)).unwrap();
    assert_eq!(fold(foreign.path(), Until::Newest), expected(&other));
    fs::copy(cache_of(foreign.path()), cache_of(scratch.path())).unwrap();
    assert_eq!(fold(scratch.path(), Until::Newest), expected(&events));
}

#[test]
fn a_cache_made_by_somebody_else_is_not_believed() {
    let (scratch, events) = small();
    // An archive that came with caches: whole, valid, of the right segment, and yet anybody could have
    // written anything into them.
    let elsewhere = archived(&events);
    assert_eq!(fold(elsewhere.path(), Until::Newest), expected(&events), "with a key of its own");
    let foreign = fs::read(cache_of(elsewhere.path())).unwrap();
    let ours = fs::read(cache_of(scratch.path())).unwrap();
    assert_ne!(foreign, ours);
    fs::write(cache_of(scratch.path()), &foreign).unwrap();
    assert_eq!(fold(scratch.path(), Until::Newest), expected(&events));
    assert_eq!(fs::read(cache_of(scratch.path())).unwrap(), ours, "ours took its place");
}

#[test]
fn an_archive_that_cannot_be_written_to_is_folded_all_the_same() {
    let (scratch, events) = small();
    fs::remove_file(cache_of(scratch.path())).unwrap();
    // Where a cache belongs is a directory, which no file can replace.
    fs::create_dir(cache_of(scratch.path())).unwrap();
    assert_eq!(fold(scratch.path(), Until::Newest), expected(&events));
}

#[test]
fn a_segment_that_was_changed_gets_no_cache() {
    let (scratch, _) = small();
    fs::remove_file(cache_of(scratch.path())).unwrap();
    let archive = Archive::open(scratch.path()).unwrap();
    let segment = archive.path(&archive.manifest().segments[0].file);
    let mut bytes = fs::read(&segment).unwrap();
    let at = bytes.len() / 3;
    bytes[at] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let caches = Caches::new(archive, CacheKey::random());
    assert!(fold_archive(&caches, Until::Newest, |_| true).is_err());
    assert!(!cache_of(scratch.path()).exists());
}

#[test]
fn the_key_of_caches_is_kept_for_its_owner_only() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("state/bpc/cache.key");
    CacheKey::load_or_create(&path).unwrap();
    let made = fs::read(&path).unwrap();
    assert_eq!(made.len(), 32);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    CacheKey::load_or_create(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), made);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft stays");
}

/// A small archive with its cache.
fn small() -> (TempDir, Vec<Event>) {
    let events: Vec<Event> = SyntheticLog::new(7, 50).take(700).collect();
    let scratch = archived(&events);
    assert_eq!(fold(scratch.path(), Until::Newest), expected(&events));
    (scratch, events)
}

fn archived(events: &[Event]) -> TempDir {
    let scratch = TempDir::new().unwrap();
    Source::new(events).whole(scratch.path());
    scratch
}

fn cache_of(directory: &Path) -> PathBuf {
    let archive = Archive::open(directory).unwrap();
    let segment = archive.path(&archive.manifest().segments[0].file);
    PathBuf::from(segment.to_str().unwrap().replace(".jsonl.zst", ".fold"))
}

fn fold(directory: &Path, until: Until) -> Folded {
    let key = CacheKey::load_or_create(&directory.join(KEY)).unwrap();
    let caches = Caches::new(Archive::open(directory).unwrap(), key);
    let folded = Mutex::new(Folded::default());
    fold_archive(&caches, until, |part| {
        let mut folded = folded.lock().unwrap();
        folded.events += part.events;
        folded.others.extend(part.others);
        folded.objections.extend(part.objections);
        folded.jobs.extend(part.jobs.into_iter().map(|job| (job.job_id, job)));
        true
    })
    .unwrap();
    let mut folded = folded.into_inner().unwrap();
    folded.others.sort_unstable();
    folded
}

/// The same by reading every event.
fn expected(events: &[Event]) -> Folded {
    let mut streams: BTreeMap<StreamId, Vec<(Envelope<'_>, Hash)>> = BTreeMap::new();
    let mut folded = Folded { events: events.len() as u64, ..Folded::default() };
    for event in events {
        if event.stream_type == "Job" {
            let envelope = Envelope::read(&event.event_bytes).unwrap();
            streams.entry(event.stream_id).or_default().push((envelope, event.event_hash));
        } else {
            folded.others.push(event.position);
        }
    }
    for stream in streams.values() {
        let job = fold_stream(stream.iter().map(|(envelope, hash)| (envelope, *hash))).unwrap().unwrap();
        folded.jobs.insert(job.job_id, job);
    }
    folded
}
