//! `verify` of an archive: is it what was signed? Levels L0 to L3, from files alone.
//!
//! Every event is read once and checked on all cores ([`scan`]): file against manifest, bytes, chain, dense
//! versions, legal histories, leaf against tile; tiles against each other and against every signed root on the
//! way ([`tiles`]). If all of it holds that is the answer. If anything does not, the [`exact`] look at everything
//! says what and where. Nothing in the manifest is believed that a signature does not bear out.

mod batch;
mod blobs;
mod exact;
mod finding;
mod notes;
mod report;
mod scan;
mod tiles;

use std::collections::HashSet;
use std::time::Instant;

use bpc_core::tile::TILE_WIDTH;
use bpc_core::{BlobFields, Envelope, Hash, StreamId};
use bpc_eventstore::Clock;
use bpc_eventstore::seal::{KeyEpoch, Keyring, Standing, log_stream};
use bpc_eventstore::verify::quick::{Keys, Tally};
use bpc_eventstore::verify::{Anchor, Reopened, VerifyOptions};

use crate::archive::Archive;
use crate::error::ArchiveError;

use batch::Batch;
use blobs::Named;
use exact::Counted;
use finding::{Findings, L0, L1, L2, L3};
use scan::{Scanned, scan};
use tiles::TileCheck;

pub use finding::ArchiveFinding;
pub use report::ArchiveVerifyReport;

/// Memory for streams that are open at once. With what else a run needs it stays below 200 MB.
const LIVE_BYTES_MAX: usize = 125 << 20;

/// Check an archive. An error means that it could not be checked, for want of room for temporary files; what is
/// wrong with the archive is a finding. Of the options, those about tenants and unsealed events mean nothing here. With `blobs`,
/// which says what fields of events name some, their bytes are read too, and looked for. `progress` hears now and then how many events are checked.
pub fn verify_archive(
    archive: &Archive,
    options: &VerifyOptions,
    blobs: Option<&BlobFields>,
    mut progress: impl FnMut(u64),
) -> Result<ArchiveVerifyReport, ArchiveError> {
    let started = Instant::now();
    let now = Clock::default().host();
    let size = archive.manifest().size;
    let mut findings = Findings::keeping(options.findings_max);
    let mut of_notes = Findings::keeping(options.findings_max);
    let notes = notes::read_notes(archive, &mut of_notes);

    let wanted = notes.iter().map(|note| note.checkpoint.size);
    let wanted = wanted.chain(options.checkpoints.iter().map(|kept| kept.checkpoint.size)).chain([size]);
    let wanted: Vec<u64> = wanted.filter(|wanted| *wanted <= size).collect();
    let mut quick = Quick::new(archive, wanted.clone());
    quick.named = blobs.map(|fields| Named::new(fields.clone()));
    quick.run(options.live_bytes_max.unwrap_or(LIVE_BYTES_MAX), &mut progress);
    let Counted { streams, jobs, right } = quick.look(&mut findings)?;

    let Quick { keyring, tiles, named, .. } = quick;
    // What was signed is not blamed for tiles that are wrong.
    let roots = if right.is_empty() { tiles.roots } else { TileCheck::roots_with(archive, wanted, right) };
    findings.append(of_notes);
    check_manifest(archive, &keyring, &notes, &mut findings);
    notes::check_keys(&keyring, &options.keys, &roots, &mut findings);
    let signed = notes::check_notes(&notes, size, &keyring, &roots, &mut findings);
    let kept = notes::check_kept(&options.checkpoints, &options.keys, size, &keyring, &roots, &mut findings);
    let at_hand = notes.iter().map(|note| (&note.note, &note.checkpoint));
    let at_hand: Vec<_> =
        at_hand.chain(options.checkpoints.iter().map(|kept| (&kept.note, &kept.checkpoint))).collect();
    let witnessed = notes::check_witnesses(&options.witnesses, &at_hand, &roots, &mut findings);
    let blobs = named.map(|named| blobs::check_blobs(archive, named, &mut findings));

    let level = match () {
        () if !options.witnesses.is_empty() => L3,
        () if !options.checkpoints.is_empty() => L2,
        () => L1,
    };
    let up_to_position = signed.as_ref().map_or(0, |signed| signed.size);
    let anchor = [kept, witnessed].into_iter().flatten().max().map(|(size, at)| Anchor {
        size,
        age: at.map(|at| now.since(bpc_core::Timestamp::from_micros(at as i64 * 1_000_000))),
    });
    Ok(ArchiveVerifyReport {
        level,
        held: held(level, findings.lowest),
        events: size,
        streams,
        jobs,
        origin: keyring.at_size(size).map(|epoch| epoch.origin.clone()),
        sealed: size,
        up_to_position,
        checkpoint_age: signed.and_then(|signed| signed.at).map(|at| now.since(at)),
        unsealed: size - up_to_position.min(size),
        anchor,
        reopened: reopened(&keyring),
        blobs,
        findings_total: findings.total,
        findings: findings.kept,
        elapsed: started.elapsed(),
    })
}

/// The quick check of everything.
struct Quick<'a> {
    archive: &'a Archive,
    tiles: TileCheck<'a>,
    keyring: Keyring,
    streams: u64,
    jobs: u64,
    /// Events whose leaf was compared with the tile.
    compared: u64,
    /// Is nothing known to be wrong?
    is_clean: bool,
    /// Streams that only an exact look can judge, such as jobs that went on after their end.
    suspects: HashSet<StreamId>,
    suspects_all: bool,
    /// Blobs that events name, if they are asked for.
    named: Option<Named>,
}

/// More streams than these are not looked for one by one.
const SUSPECTS_MAX: usize = 20_000;

impl<'a> Quick<'a> {
    fn new(archive: &'a Archive, wanted: Vec<u64>) -> Self {
        let tiles = TileCheck::new(archive, wanted);
        let keyring = Keyring::default();
        Quick {
            archive,
            tiles,
            keyring,
            streams: 0,
            jobs: 0,
            compared: 0,
            is_clean: true,
            suspects: HashSet::new(),
            suspects_all: false,
            named: None,
        }
    }

    /// As often as the streams that are open at once need to fit into memory.
    fn run(&mut self, bytes_max: usize, progress: &mut impl FnMut(u64)) {
        let (archive, keys) = (self.archive, Keys::default());
        let scanned = scan(archive, &keys, 0..=u64::MAX, bytes_max, |batch, leaves| {
            self.learn_keys(batch);
            self.named.iter_mut().for_each(|named| named.take(batch));
            for (index, leaves) in frames(batch, leaves) {
                self.tiles.catch_up(index);
                let stored = self.tiles.take(index, leaves);
                self.compare(&stored, leaves);
            }
            progress(batch.first + batch.len() as u64);
        });
        self.tiles.finish();
        let mut followed_to = self.add(scanned);
        while followed_to < u64::MAX {
            let scanned = scan(archive, &keys, followed_to + 1..=u64::MAX, bytes_max, |batch, leaves| {
                for (index, leaves) in frames(batch, leaves) {
                    let stored = self.tiles.leaves(index).unwrap_or_default();
                    self.compare(&stored, leaves);
                }
            });
            followed_to = self.add(scanned);
        }
    }

    fn compare(&mut self, stored: &[Hash], leaves: &[Option<Hash>]) {
        for (number, leaf) in leaves.iter().enumerate().filter_map(|(at, leaf)| Some((at, leaf.as_ref()?))) {
            self.compared += 1;
            self.is_clean &= stored.get(number) == Some(leaf);
        }
    }

    /// Returns up to where all streams were followed.
    fn add(&mut self, scanned: Scanned) -> u64 {
        let Scanned { tallies, broken, is_linked } = scanned;
        self.is_clean &= is_linked && broken.is_empty();
        let followed_to = tallies.iter().map(|tally: &Tally| tally.followed_to).min().unwrap_or(u64::MAX);
        for tally in tallies {
            let (streams, jobs) = tally.streams_and_jobs(followed_to);
            self.streams += streams;
            self.jobs += jobs;
            self.suspects_all |= tally.suspects.all;
            self.suspects.extend(tally.suspects.streams.into_keys());
        }
        followed_to
    }

    /// The log's own stream says which keys speak for it.
    fn learn_keys(&mut self, batch: &Batch) {
        let own = log_stream();
        let is_own = |number: &usize| batch.events[*number].place.is_some_and(|(stream, _)| stream == own);
        if !(0..batch.len()).any(|number| is_own(&number)) {
            return;
        }
        for (_, position, event_bytes) in batch.iter().filter(|(number, ..)| is_own(number)) {
            if let Ok(envelope) = Envelope::read(event_bytes) {
                self.keyring.take(&envelope, Some(position));
            }
        }
    }

    /// Take the exact look that is needed: none, or at some streams, or at everything.
    fn look(&self, findings: &mut Findings) -> Result<Counted, ArchiveError> {
        let Quick { archive, streams, jobs, .. } = *self;
        let are_tiles_right = self.tiles.missing.is_empty() && self.tiles.wrong.is_empty();
        let is_clean = self.is_clean && are_tiles_right;
        let has_suspects = self.suspects_all || !self.suspects.is_empty();
        let is_whole = self.compared >= archive.manifest().size;
        if is_clean && is_whole && !has_suspects {
            return Ok(Counted { streams, jobs, ..Counted::default() });
        }
        if is_clean && has_suspects && !self.suspects_all && self.suspects.len() <= SUSPECTS_MAX {
            let counted = exact::look(archive, &self.tiles, Some(&self.suspects), findings)?;
            return Ok(Counted { streams: streams + counted.streams, jobs: jobs + counted.jobs, ..counted });
        }
        let before = findings.total;
        let counted = exact::look(archive, &self.tiles, None, findings)?;
        if findings.total == before && !(is_clean && has_suspects) {
            // Nothing is passed over in silence: what the quick check knows to be wrong, the exact look must
            // name.
            let message =
                "something is wrong that could not be put into words; keep this archive and report it";
            findings.add(ArchiveFinding::new(L1, "ARCHIVE_UNSOUND", message));
        }
        Ok(counted)
    }
}

/// The frames of a batch with the indexes of their tiles.
fn frames<'l>(batch: &Batch, leaves: &'l [Option<Hash>]) -> impl Iterator<Item = (u64, &'l [Option<Hash>])> {
    (batch.first / TILE_WIDTH..).zip(leaves.chunks(TILE_WIDTH as usize))
}

/// What the manifest says beyond what was checked already.
fn check_manifest(archive: &Archive, keyring: &Keyring, notes: &[notes::Note], findings: &mut Findings) {
    let manifest = archive.manifest();
    let keys = keyring.epochs.iter().filter_map(KeyEpoch::verifiers).map(|[key, _]| key.to_string());
    let keys: Vec<String> = keys.collect();
    let of_manifest =
        |message: &str| ArchiveFinding::of_file("MANIFEST_MISMATCH", crate::layout::MANIFEST, message);
    if manifest.keys != keys {
        let message = "it names other keys than the log itself does";
        findings.add(of_manifest(message).instead(keys.join(" "), manifest.keys.join(" ")));
    }
    let newest = notes.iter().rev().find(|note| note.checkpoint.size == manifest.size);
    if let Some(note) = newest.filter(|note| note.checkpoint.origin != manifest.origin) {
        let message = "it names another origin than the newest checkpoint";
        findings.add(of_manifest(message).instead(&note.checkpoint.origin, &manifest.origin));
    }
}

/// The highest level that was checked and has no finding at or below it.
fn held(level: &'static str, lowest: Option<&'static str>) -> Option<&'static str> {
    match lowest {
        None => Some(level),
        Some(L0) => None,
        Some(L1) => Some(L0),
        Some(L2) => Some(L1),
        Some(_) => Some(L2),
    }
}

fn reopened(keyring: &Keyring) -> Vec<Reopened> {
    let reopened = keyring.epochs.iter().filter_map(|epoch| match &epoch.standing {
        Standing::Reopened { event, is_vouched } => Some(Reopened {
            position: event.size,
            origin: epoch.origin.clone(),
            checkpoint: event.checkpoint.clone(),
            is_vouched: *is_vouched,
        }),
        _ => None,
    });
    reopened.collect()
}
