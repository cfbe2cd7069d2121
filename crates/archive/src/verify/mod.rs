//! `verify` of an archive: is it what was signed? Levels L0 to L3, from files alone.
//!
//! Every event is read once. Segments are checked each by itself, on all cores ([`segment`]): file against manifest,
//! bytes, chain, leaf against tile. What they say is put together in order ([`scan`]): dense versions, unbroken
//! chains, legal histories; tiles against each other and against every signed root ([`tiles`]). If all of it holds that is the answer. If anything does not, the [`exact`] look at everything
//! says what and where. Nothing in the manifest is believed that a signature does not bear out.

mod blobs;
mod exact;
mod finding;
mod notes;
mod report;
mod scan;
mod segment;
mod tiles;

use std::collections::HashSet;
use std::time::Instant;

use bpc_core::{BlobFields, Envelope, StreamId};
use bpc_eventstore::Clock;
use bpc_eventstore::seal::{KeyEpoch, Keyring, Standing};
use bpc_eventstore::verify::quick::{Keys, Tally};
use bpc_eventstore::verify::{Anchor, Reopened, VerifyOptions};

use crate::archive::Archive;
use crate::error::ArchiveError;

use blobs::Named;
use exact::Counted;
use finding::{Findings, L0, L1, L2, L3};
use scan::scan;
use segment::{Checked, Wanted};
use tiles::TileCheck;

pub use finding::ArchiveFinding;
pub use report::ArchiveVerifyReport;

/// Memory for streams that are open at once. With what else a run needs it stays below 200 MB.
const LIVE_BYTES_MAX: usize = 108 << 20;

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
    let mut wanted: Vec<u64> = wanted.filter(|wanted| *wanted <= size).collect();
    wanted.sort_unstable();
    let mut quick = Quick::new(archive, wanted.clone());
    let bytes_max = options.live_bytes_max.unwrap_or(LIVE_BYTES_MAX);
    quick.run(&Wanted::new(&wanted, blobs), bytes_max, &mut progress);
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
    let blobs = blobs.map(|_| blobs::check_blobs(archive, named, &mut findings));

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
    named: Named,
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
            named: Named::default(),
        }
    }

    /// As often as the streams that are open at once need to fit into memory.
    fn run(&mut self, wanted: &Wanted<'_>, bytes_max: usize, progress: &mut impl FnMut(u64)) {
        let (archive, keys) = (self.archive, Keys::default());
        let tally = scan(archive, &keys, 0..=u64::MAX, bytes_max, Some(wanted), |number, checked| {
            self.take(checked);
            let entry = &archive.manifest().segments[number];
            progress(entry.first + entry.events);
        });
        self.tiles.finish();
        let mut followed_to = self.add(tally);
        while followed_to < u64::MAX {
            let rest = followed_to + 1..=u64::MAX;
            let tally = scan(archive, &keys, rest, bytes_max, None, |_, checked| self.take(checked));
            followed_to = self.add(tally);
        }
    }

    /// What a segment says beside its runs.
    fn take(&mut self, checked: Checked) {
        self.is_clean &= checked.is_right && checked.runs.is_linked && checked.broken.is_none();
        self.compared += checked.compared;
        checked.tiles.into_iter().for_each(|tile| self.tiles.take(tile));
        self.named.take(checked.named);
        // The log's own stream says which keys speak for it.
        for (position, event_bytes) in checked.own {
            if let Ok(envelope) = Envelope::read(&event_bytes) {
                self.keyring.take(&envelope, Some(position));
            }
        }
    }

    /// Returns up to where all streams were followed.
    fn add(&mut self, tally: Tally) -> u64 {
        let (streams, jobs) = tally.streams_and_jobs(tally.followed_to);
        self.streams += streams;
        self.jobs += jobs;
        self.suspects_all |= tally.suspects.all;
        self.suspects.extend(tally.suspects.streams.into_keys());
        tally.followed_to
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
