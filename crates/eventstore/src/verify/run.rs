//! The run: the quick check of everything, the exact look at what it did not like, then the signatures.

use std::time::{Duration, Instant};

use bpc_core::merkle::EMPTY_ROOT;
use bpc_core::note::{Checkpoint, SignedNote};
use bpc_core::{StreamId, Timestamp};
use tokio::task::JoinHandle;

use crate::database::{Conn, Database};
use crate::error::StoreError;
use crate::postgres;
use crate::seal::{
    IdRange, Keyring, SealedHead, Standing, Unsealed, highest_sealed_id, position_of, read_sealed,
    sealed_head,
};
use crate::store::Store;

use super::exact::{self, Checked};
use super::finding::{Finding, Findings, L0, L1, L2, L3};
use super::lookup::stream_of;
use super::quick::{Batch, Batches, Gather, Keys, Leaves, ScanError, Suspects, scan};
use super::sealed::{
    OrderCheck, Ordered, Seal, check_checkpoints, check_kept, check_keys, check_surplus, check_witnesses,
    checkpoint_sizes,
};
use super::source::{Route, postgres_batches, postgres_count, sqlite_batches};
use super::{Anchor, Reopened, VerifyOptions, VerifyReport};

/// Memory for streams that are open at once. With what else a run needs it stays below 200 MB.
const LIVE_BYTES_MAX: usize = 125 << 20;
/// Streams for which the exact look is taken one by one; beyond that the whole log is looked at.
const STREAMS_MAX: usize = 20_000;

/// Check the log as it is at this moment; what is appended meanwhile is not looked at, and nobody has
/// to wait. `progress` hears now and then how many events are checked.
pub async fn verify(
    store: &Store,
    options: &VerifyOptions,
    mut progress: impl FnMut(u64) + Send,
) -> Result<VerifyReport, StoreError> {
    let started = Instant::now();
    let now = store.now().await?;
    let mut tx = store.begin_read().await?;
    if let Some(tenant) = options.tenant {
        let mut conn = tx.conn();
        let checked = exact::check_all(&mut conn, Some(tenant), options.findings_max, progress).await?;
        return Ok(report_of_tenant(checked, started));
    }
    let mut damage = Findings::keeping(options.findings_max);
    let head = lenient(sealed_head(&mut tx.conn()).await, &mut damage)?
        .unwrap_or(SealedHead { size: 0, root: EMPTY_ROOT });
    let keyring = lenient(Keyring::load(&mut tx.conn()).await, &mut damage)?.unwrap_or_default();
    let mut source = Source::at(store, &mut tx.conn()).await?;
    let wanted = wanted_roots(&mut tx.conn(), head, &keyring, options).await?;
    let keys = Keys::default();
    let live_bytes = options.live_bytes_max.unwrap_or(LIVE_BYTES_MAX);

    let seal = seal(&mut tx.conn(), head).await?;
    let (tallies, ordered, count) = loop {
        let count = source.count();
        let (seal, wanted) = (seal.clone(), wanted.iter().copied());
        let mut order = OrderCheck::new(tx.conn(), seal, wanted, options.findings_max, &mut progress);
        match scan(source.batches(), &keys, 0..=u64::MAX, live_bytes, &mut order).await {
            Ok(tallies) => break (tallies, order.finish().await?, count),
            Err(error) => source.instead(error)?,
        }
    };
    let Ordered { roots, findings: of_order, unsealed, events, rows } = ordered;

    let mut quick = Quick::default();
    let mut followed_to = quick.add(tallies);
    while followed_to < u64::MAX {
        let next = followed_to + 1..=u64::MAX;
        match scan(source.batches(), &keys, next, live_bytes, &mut Nothing).await {
            Ok(tallies) => followed_to = quick.add(tallies),
            Err(error) => source.instead(error)?,
        }
    }

    let mut conn = tx.conn();
    let mut findings = Findings::keeping(options.findings_max);
    let other = match count {
        Some(count) => count.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?,
        None => rows,
    };
    let is_whole = other == rows;
    let counted = look(&mut conn, is_whole, quick, options.findings_max, &mut findings).await?;
    if !is_whole && !findings.kept.iter().any(Finding::is_of_hidden_rows) {
        // The exact look goes by another index, which knows of them.
        findings.add(|| Finding::hidden_rows(other.max(rows), other.min(rows)));
    }
    findings.append(damage);
    findings.append(of_order);
    check_surplus(&mut conn, head.size, &mut findings).await?;
    check_keys(&keyring, &options.keys, &roots, &mut findings);
    let mut notes = Notes { are_wanted: !options.witnesses.is_empty(), notes: Vec::new() };
    let signed = check_checkpoints(&mut conn, head, &keyring, &roots, &mut findings, |note, checkpoint| {
        notes.add(note, checkpoint);
    })
    .await?;
    let kept = check_kept(&options.checkpoints, &options.keys, head, &keyring, &roots, &mut findings);
    options.checkpoints.iter().for_each(|kept| notes.add(&kept.note, &kept.checkpoint));
    let witnessed = check_witnesses(&options.witnesses, &notes.notes, &roots, &mut findings);

    let up_to = signed.as_ref().map_or(0, |signed| signed.size);
    let uncovered = uncovered(&mut conn, head, up_to, unsealed).await?;
    if let (Some(max), Some(age)) = (options.unsealed_age_max, age(now, uncovered.oldest_at))
        && age > max
    {
        findings.add(|| sealer_behind(uncovered.events, age));
    }
    let level = match () {
        () if !options.witnesses.is_empty() => L3,
        () if !options.checkpoints.is_empty() => L2,
        () if head.size > 0 || signed.is_some() => L1,
        () => L0,
    };
    let anchor = [kept, witnessed].into_iter().flatten().max().map(|(size, at)| Anchor {
        size,
        age: at.map(|at| now.since(Timestamp::from_micros(at as i64 * 1_000_000))),
    });
    locate(&mut conn, &mut findings.kept).await?;
    Ok(VerifyReport {
        level,
        held: held(level, &findings),
        events,
        streams: counted.streams,
        jobs: counted.jobs,
        origin: keyring.at_size(head.size).map(|epoch| epoch.origin.clone()),
        sealed: head.size,
        up_to_position: up_to,
        checkpoint_age: signed.map(|signed| now.since(signed.at)),
        unsealed: uncovered.events,
        unsealed_age: age(now, uncovered.oldest_at),
        anchor,
        reopened: reopened(&keyring),
        findings_total: findings.total,
        findings: findings.kept,
        elapsed: started.elapsed(),
    })
}

/// What cannot even be read is a finding, not a reason to give up.
fn lenient<T>(read: Result<T, StoreError>, damage: &mut Findings) -> Result<Option<T>, StoreError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error @ StoreError::Damaged(_)) => {
            damage.add(|| Finding { message: error.to_string(), ..Finding::at_level(L1, error.code()) });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Where events come from, as often as they are needed.
enum Source {
    Postgres { pool: sqlx::PgPool, snapshot: String, route: Route },
    Sqlite { pool: sqlx::SqlitePool },
}

impl Source {
    /// The events that the transaction on `conn` sees; on SQLite perhaps some more.
    async fn at(store: &Store, conn: &mut Conn<'_>) -> Result<Self, StoreError> {
        match (&store.database, conn) {
            (Database::Postgres(pool), Conn::Postgres(conn)) => {
                let snapshot = postgres::export_snapshot(conn).await?;
                Ok(Source::Postgres { pool: pool.clone(), snapshot, route: Route::Table })
            }
            (Database::Sqlite(pools), _) => Ok(Source::Sqlite { pool: pools.readers.clone() }),
            (Database::Postgres(_), Conn::Sqlite(_)) => unreachable!("a connection of the same store"),
        }
    }

    /// How many rows there are by the other of table and index: where they differ, the index hides some.
    fn count(&self) -> Option<JoinHandle<sqlx::Result<u64>>> {
        match self {
            Source::Postgres { pool, snapshot, route } => {
                Some(postgres_count(pool, snapshot.clone(), *route))
            }
            Source::Sqlite { .. } => None,
        }
    }

    fn batches(&self) -> Batches {
        match self {
            Source::Postgres { pool, snapshot, route } => postgres_batches(pool, snapshot.clone(), *route),
            Source::Sqlite { pool } => sqlite_batches(pool),
        }
    }

    /// After a run that ended early: can events be read another way?
    fn instead(&mut self, error: ScanError) -> Result<(), StoreError> {
        match (error, self) {
            (ScanError::Failed(error), _) => Err(error),
            (ScanError::Disordered, Source::Postgres { route, .. }) => {
                *route = Route::Index;
                Ok(())
            }
            (ScanError::Disordered, Source::Sqlite { .. }) => unreachable!("read in order"),
        }
    }
}

/// Nothing is gathered when events are read again for streams that did not fit.
struct Nothing;

impl Gather for Nothing {
    async fn take(&mut self, _: &Batch, _: Leaves) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What the quick checks saw, all together.
#[derive(Default)]
struct Quick {
    streams: u64,
    jobs: u64,
    suspects: Suspects,
}

impl Quick {
    /// Returns up to where all streams were followed. Where one checker had to let go, the next run begins
    /// for all of them.
    fn add(&mut self, tallies: Vec<super::quick::Tally>) -> u64 {
        let followed_to = tallies.iter().map(|tally| tally.followed_to).min().unwrap_or(u64::MAX);
        for tally in tallies {
            let (streams, jobs) = tally.streams_and_jobs(followed_to);
            self.streams += streams;
            self.jobs += jobs;
            self.suspects.extend(tally.suspects);
        }
        followed_to
    }
}

struct Counted {
    streams: u64,
    jobs: u64,
}

/// The exact look at what the quick check did not like.
async fn look(
    conn: &mut Conn<'_>,
    is_whole: bool,
    quick: Quick,
    findings_max: usize,
    findings: &mut Findings,
) -> Result<Counted, StoreError> {
    let Quick { mut streams, mut jobs, suspects } = quick;
    if is_whole && !suspects.all && suspects.streams.len() <= STREAMS_MAX {
        let mut ids: Vec<StreamId> = suspects.streams.keys().copied().collect();
        ids.sort_unstable();
        let seen = suspects.streams.into_values().flatten().collect();
        let (checked, unseen) = exact::check_streams(conn, &ids, seen, findings_max).await?;
        if unseen == 0 {
            streams += checked.streams;
            jobs += checked.jobs;
            findings.append(checked.findings);
            return Ok(Counted { streams, jobs });
        }
    }
    let Checked { streams, jobs, findings: found, .. } =
        exact::check_all(conn, None, findings_max, |_| {}).await?;
    findings.append(found);
    Ok(Counted { streams, jobs })
}

/// Notes for the witnesses' part: only those that somebody else signed too are worth keeping.
struct Notes {
    are_wanted: bool,
    notes: Vec<(SignedNote, Checkpoint)>,
}

impl Notes {
    fn add(&mut self, note: &SignedNote, checkpoint: &Checkpoint) {
        if self.are_wanted && note.signatures.iter().any(|line| line.name != checkpoint.origin) {
            self.notes.push((note.clone(), checkpoint.clone()));
        }
    }
}

async fn seal(conn: &mut Conn<'_>, head: SealedHead) -> Result<Seal, StoreError> {
    let highest_id = highest_sealed_id(conn, head.size).await?;
    let mut gaps: Vec<IdRange> = Vec::new();
    if let Conn::Postgres(conn) = conn {
        let generations = postgres::seal::generations(conn).await?;
        gaps.extend(generations.into_iter().flat_map(|generation| generation.ranges));
        gaps.sort_unstable_by_key(|range| range.first);
    }
    Ok(Seal { head, highest_id, gaps })
}

async fn wanted_roots(
    conn: &mut Conn<'_>,
    head: SealedHead,
    keyring: &Keyring,
    options: &VerifyOptions,
) -> Result<Vec<u64>, StoreError> {
    let mut wanted = checkpoint_sizes(conn).await?;
    wanted.push(head.size);
    wanted.extend(options.checkpoints.iter().map(|kept| kept.checkpoint.size));
    wanted.extend(keyring.epochs.iter().filter_map(|epoch| match &epoch.standing {
        Standing::Reopened { event, .. } => Some(event.size),
        _ => None,
    }));
    Ok(wanted)
}

/// What no checkpoint covers: not sealed, or sealed and not signed for.
async fn uncovered(
    conn: &mut Conn<'_>,
    head: SealedHead,
    up_to: u64,
    unsealed: Unsealed,
) -> Result<Unsealed, StoreError> {
    let unsigned = head.size.saturating_sub(up_to);
    let first = match unsigned {
        0 => None,
        // Damage is a finding elsewhere.
        _ => read_sealed(conn, up_to, 1)
            .await
            .ok()
            .and_then(|events| events.first().map(|it| it.event.occurred_at)),
    };
    let oldest_at = [unsealed.oldest_at, first].into_iter().flatten().min();
    Ok(Unsealed { events: unsealed.events + unsigned, oldest_at })
}

fn age(now: Timestamp, at: Option<i64>) -> Option<Duration> {
    at.map(|at| now.since(Timestamp::from_micros(at)))
}

fn sealer_behind(events: u64, age: Duration) -> Finding {
    Finding {
        found: Some(format!("{} s", age.as_secs())),
        message: format!("{events} events wait for their seal: is a worker with the log's key running?"),
        ..Finding::at_level(L1, "SEALER_BEHIND")
    }
}

/// The highest level that was checked and has no finding at or below it.
fn held(level: &'static str, findings: &Findings) -> Option<&'static str> {
    // Those of lower levels come first, so they are among those that are kept.
    match findings.kept.iter().map(|finding| finding.level).min() {
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

/// Say which stream and version, or which position, findings are about.
async fn locate(conn: &mut Conn<'_>, findings: &mut [Finding]) -> Result<(), StoreError> {
    for finding in findings {
        let Some(id) = finding.event_id else { continue };
        if finding.position.is_none() {
            finding.position = position_of(conn, id).await?;
        }
        if finding.version.is_none()
            && let Some((stream_type, stream, version)) = stream_of(conn, id).await?
        {
            (finding.stream_type, finding.stream, finding.version) = (stream_type, stream, Some(version));
        }
    }
    Ok(())
}

/// One tenant's events alone are no tree: level L0.
fn report_of_tenant(checked: Checked, started: Instant) -> VerifyReport {
    let Checked { events, streams, jobs, findings } = checked;
    VerifyReport {
        level: L0,
        held: held(L0, &findings),
        events,
        streams,
        jobs,
        origin: None,
        sealed: 0,
        up_to_position: 0,
        checkpoint_age: None,
        unsealed: events,
        unsealed_age: None,
        anchor: None,
        reopened: Vec::new(),
        findings_total: findings.total,
        findings: findings.kept,
        elapsed: started.elapsed(),
    }
}
