//! The sealer: gives the whole log one order and one root, and signs them.

use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

use crate::database::{Conn, Database};
use crate::error::StoreError;
use crate::store::Store;

use super::error::SealError;
use super::key_file::LogSecret;
use super::key_state::{KeyState, LastSigned};
use super::keyring::{KeyEpoch, Keyring};
use super::plan::{Edge, plan};
use super::sign::{Signed, publish, sign};
use super::stored::{SealedHead, StoredCheckpoint, load_edge, newest_checkpoint, root_at, sealed_head};
use super::take::{head_and_work, lock, take, write};

/// How to seal.
#[derive(Clone, Debug)]
pub struct SealOptions {
    /// Most events sealed in one transaction; memory follows from it.
    pub batch_max: usize,
    /// An unchanged log is signed again after this long, so that it can be told from a forgotten one.
    pub heartbeat: Duration,
    /// While a backlog is sealed, sign only so often.
    pub sign_interval: Duration,
    /// Wait for another sealer to finish, instead of leaving it to them.
    pub waits: bool,
    /// Wait one pass for transactions that are about to commit before events behind theirs are sealed.
    /// For sealers that pass often.
    pub is_patient: bool,
}

impl Default for SealOptions {
    fn default() -> Self {
        SealOptions {
            batch_max: 16_384,
            heartbeat: Duration::from_secs(60),
            sign_interval: Duration::from_secs(1),
            waits: false,
            is_patient: false,
        }
    }
}

/// What came of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// Events sealed.
    pub events: usize,
    /// How far the log is sealed now; `None` if another sealer was at work.
    pub head: Option<SealedHead>,
    /// The checkpoint that was published, if it was time for one.
    pub checkpoint: Option<StoredCheckpoint>,
    /// Did the limit of a pass leave anything for another?
    pub has_more: bool,
    /// Did a patient pass leave anything for the next, because something before it was about to be committed?
    pub is_waiting: bool,
    /// Did somebody else seal since the last pass?
    pub others_seal: bool,
}

/// Seals one log with one key. Any number may run, in any number of processes: one at a time gets the
/// lock, which ends with its transaction, and so with its process. Keeps the right edge of the tree
/// between passes, a few kilobytes.
#[derive(Debug)]
pub struct Sealer {
    store: Store,
    secret: LogSecret,
    state: KeyState,
    options: SealOptions,
    known: Option<Known>,
    /// What the key signed last and this log is known to continue.
    vetted: Option<LastSigned>,
    published: Option<(u64, Instant)>,
    /// What was visible at the last pass.
    visible_to: i64,
    /// How far others had sealed at the last pass.
    seen: u64,
}

/// What is known of the log since the last pass.
#[derive(Debug)]
struct Known {
    edge: Edge,
    keyring: Keyring,
}

impl Sealer {
    /// A sealer of that log.
    pub fn new(store: Store, secret: LogSecret, state: KeyState, options: SealOptions) -> Self {
        let (known, vetted, published) = (None, None, None);
        Sealer { store, secret, state, options, known, vetted, published, visible_to: 0, seen: 0 }
    }

    /// From now on leave nothing for later, nor to others: for the last pass before the end.
    pub fn leave_nothing(&mut self) {
        self.options.waits = true;
        self.options.is_patient = false;
    }

    /// Is this a log that the key can go on with? Changes nothing.
    pub async fn check(&mut self) -> Result<(), SealError> {
        let mut doubt = Doubt::default();
        loop {
            let mut tx = self.store.begin_read().await?;
            let head = sealed_head(&mut tx.conn()).await?;
            match self.know(&mut tx.conn(), head).await {
                Err(error) if doubt.is_worth_another_look(&error) => {}
                done => return done.map(drop),
            }
        }
    }

    /// Seal what is committed and sign. Durable when it returns: what is sealed stays sealed, and what is
    /// signed is committed. Cut off anywhere it leaves the log as it was, or sealed and not yet
    /// signed for; the next pass goes on from there.
    pub async fn pass(&mut self) -> Result<Sealed, SealError> {
        let mut doubt = Doubt::default();
        let sealed = loop {
            match self.seal().await {
                Err(error) if doubt.is_worth_another_look(&error) => {}
                done => break done?,
            }
        };
        let Some(head) = sealed.head else {
            return Ok(sealed);
        };
        if !self.is_due(head, sealed.has_more) {
            return Ok(sealed);
        }
        let checkpoint = loop {
            match self.sign(head).await {
                // Others signed between the look at the clock and the look at what was signed. A clock that is
                // wrong is still behind at the next look.
                Err(SealError::ClockWentBack { signed_at, .. }) if self.store.now().await? >= signed_at => {}
                done => break done?,
            }
        };
        Ok(Sealed { checkpoint, ..sealed })
    }

    /// Passes until everything that was committed when this was called is sealed and signed for.
    pub async fn seal_all(&mut self) -> Result<Sealed, SealError> {
        let mut total = self.pass().await?;
        while total.has_more {
            let pass = self.pass().await?;
            total = Sealed { events: total.events + pass.events, ..pass };
        }
        Ok(total)
    }

    /// One transaction.
    async fn seal(&mut self) -> Result<Sealed, SealError> {
        if let Some(idle) = self.idle().await? {
            return Ok(idle);
        }
        let is_postgres = matches!(self.store.database, Database::Postgres(_));
        // SQLite has one writer: it is not kept waiting while events are read and hashed.
        let mut tx = if is_postgres { self.store.begin().await? } else { self.store.begin_read().await? };
        let Some(before) = lock(&mut tx.conn(), self.options.waits).await? else {
            return Ok(Sealed { others_seal: true, ..Sealed::default() });
        };
        let others_seal = self.know(&mut tx.conn(), before).await?;
        let edge = &self.known.as_ref().expect("just made known").edge;
        let waited_to = self.options.is_patient.then_some(self.visible_to);
        let highest_id = edge.order.highest_id;
        let taken = take(&mut tx.conn(), highest_id, self.options.batch_max, waited_to).await?;
        self.visible_to = taken.visible_to;
        let (events, has_more, is_waiting) = (taken.pending.len(), taken.has_more, taken.is_waiting);
        if taken.is_empty() {
            return Ok(Sealed { head: Some(before), is_waiting, others_seal, ..Sealed::default() });
        }
        let plan = plan(edge.clone(), &taken.pending);
        if !is_postgres {
            drop(tx);
            tx = self.store.begin().await?;
            if sealed_head(&mut tx.conn()).await? != before {
                return Ok(Sealed { others_seal: true, ..Sealed::default() });
            }
        }
        if !write(&mut tx.conn(), before, &taken, &plan).await? {
            return Err(StoreError::Damaged("log_state changed under its lock".to_owned()).into());
        }
        // Whatever becomes of the commit, the next pass looks what is there.
        let known = self.known.take().expect("still known");
        tx.commit().await?;
        let head = SealedHead { size: plan.edge.tree.size(), root: plan.edge.tree.root() };
        // Keys may have changed hands among these events.
        let keyring = if taken.has_log_events { None } else { Some(known.keyring) };
        let keyring = match keyring {
            Some(keyring) => keyring,
            None => Keyring::load(&mut self.store.begin_read().await?.conn()).await?,
        };
        self.known = Some(Known { edge: plan.edge, keyring });
        tracing::debug!(events, log.position = head.size, "sealed");
        Ok(Sealed { events, head: Some(head), checkpoint: None, has_more, is_waiting, others_seal })
    }

    /// The common cases of a quiet log, and of one that somebody else seals: nothing to do, nothing locked.
    ///
    /// Whoever takes turns with others loads the edge of the tree and the keys anew each time, so a patient sealer
    /// leaves a log that grows to whoever makes it grow, and goes on with it once it does not.
    async fn idle(&mut self) -> Result<Option<Sealed>, SealError> {
        let Some(Known { edge, .. }) = &self.known else {
            return Ok(None);
        };
        let mut tx = self.store.glance().await?;
        let known = SealedHead { size: edge.tree.size(), root: edge.tree.root() };
        let (head, is_work) = head_and_work(&mut tx.conn(), edge.order.highest_id).await?;
        tx.commit().await?;
        if is_work {
            let has_grown = head.size > self.seen.max(known.size);
            self.seen = head.size;
            let others_seal = Sealed { others_seal: true, ..Sealed::default() };
            return Ok((self.options.is_patient && has_grown).then_some(others_seal));
        }
        // The same log as before, not an older copy of it.
        Ok((head == known).then_some(Sealed { head: Some(head), ..Sealed::default() }))
    }

    /// Load the right edge unless it is at hand, and then ask again whether this log and this key belong
    /// together. Returns whether somebody else has sealed since.
    async fn know(&mut self, conn: &mut Conn<'_>, head: SealedHead) -> Result<bool, SealError> {
        let is_known =
            |known: &Known| (known.edge.tree.size(), known.edge.tree.root()) == (head.size, head.root);
        if self.known.as_ref().is_some_and(is_known) {
            return Ok(false);
        }
        let others_seal = self.known.take().is_some();
        let edge = load_edge(conn, head).await?;
        let keyring = Keyring::load(conn).await?;
        let epoch = self.epoch(&keyring, head.size)?;
        if let (Some(keys), origin) = (epoch.verifiers(), &epoch.origin)
            && let Some(last) = self.state.read(&keys)?
        {
            vet(conn, origin, head, &last).await?;
            self.vetted = Some(last);
        }
        self.known = Some(Known { edge, keyring });
        Ok(others_seal)
    }

    /// Only a holder of the key seals: of the one in use, or of the one that takes over with events that
    /// are still to be sealed.
    fn epoch<'k>(&self, keyring: &'k Keyring, size: u64) -> Result<&'k KeyEpoch, SealError> {
        let in_use = keyring.at_size(size).ok_or(SealError::NoKey)?;
        let own = |epoch: &&KeyEpoch| epoch.public_key == self.secret.public_hex();
        if let Some(epoch) = [Some(in_use), keyring.newest()].into_iter().flatten().find(own) {
            return Ok(epoch);
        }
        let (public_key, current) = (self.secret.public_hex().to_owned(), in_use.public_key.clone());
        match keyring.epochs.iter().find(own) {
            Some(_) => Err(SealError::KeyRetired { public_key, current }),
            None => Err(SealError::KeyUnknown { public_key, current }),
        }
    }

    fn is_due(&self, head: SealedHead, has_more: bool) -> bool {
        match self.published {
            _ if head.size == 0 => false,
            None => true,
            Some((_, at)) if has_more => at.elapsed() >= self.options.sign_interval,
            Some((size, at)) => size != head.size || at.elapsed() >= self.options.heartbeat,
        }
    }

    /// Sign and publish, in this order, over what is committed.
    async fn sign(&mut self, head: SealedHead) -> Result<Option<StoredCheckpoint>, SealError> {
        let keyring = &self.known.as_ref().expect("a pass comes before its signature").keyring;
        let in_use = keyring.at_size(head.size).ok_or(SealError::NoKey)?;
        if in_use.public_key != self.secret.public_hex() {
            // Ours once its event is sealed; or not ours any more, which the next pass says.
            self.epoch(keyring, head.size)?;
            return Ok(None);
        }
        let origin = in_use.origin.clone();
        let now = self.store.now().await?;
        let mut tx = self.store.begin_read().await?;
        if let Some(stored) = newest_checkpoint(&mut tx.conn()).await? {
            if now < stored.made_at {
                return Err(SealError::ClockWentBack { signed_at: stored.made_at, now });
            }
            let is_fresh = now.since(stored.made_at) < self.options.heartbeat;
            if stored.size > head.size || (stored.size == head.size && is_fresh) {
                self.published = Some((stored.size, Instant::now()));
                return Ok(None);
            }
        }
        let note = loop {
            let (secret, state) = (self.secret.clone(), self.state.clone());
            let (name, vetted) = (origin.clone(), self.vetted.clone());
            let signing = spawn_blocking(move || sign(&secret, &state, &name, head, now, vetted.as_ref()));
            match signing.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))? {
                Signed::Note(note, last) => {
                    self.vetted = Some(last);
                    break note;
                }
                Signed::Unvetted(last) => {
                    vet(&mut tx.conn(), &origin, head, &last).await?;
                    self.vetted = Some(last);
                }
                Signed::Behind(last) => {
                    // Whoever signed it had sealed it: then it is in the database by now.
                    let mut tx = self.store.begin_read().await?;
                    let head = sealed_head(&mut tx.conn()).await?;
                    vet(&mut tx.conn(), &origin, head, &last).await?;
                    return Ok(None);
                }
            }
        };
        drop(tx);
        let mut tx = self.store.begin().await?;
        let checkpoint = publish(&mut tx.conn(), head.size, note, now).await?;
        tx.commit().await?;
        self.published = Some((head.size, Instant::now()));
        Ok(Some(checkpoint))
    }
}

/// What was last signed is read behind the log, so others who seal and sign in between make the log look older
/// than what was signed for. Then all that was signed by then is there at the next look.
#[derive(Default)]
struct Doubt {
    signed: Option<u64>,
}

impl Doubt {
    fn is_worth_another_look(&mut self, error: &SealError) -> bool {
        let SealError::RolledBack { signed, size, .. } = error else {
            return false;
        };
        let is_all_there = self.signed.is_none_or(|before| *size >= before);
        self.signed = Some(*signed);
        is_all_there
    }
}

/// What was signed before must be the beginning of this log.
async fn vet(
    conn: &mut Conn<'_>,
    origin: &str,
    head: SealedHead,
    last: &LastSigned,
) -> Result<(), SealError> {
    let origin = origin.to_owned();
    let (signed, size) = (last.checkpoint.size, head.size);
    if signed > size {
        return Err(SealError::RolledBack { origin, signed, size });
    }
    let found = if signed == size { head.root } else { root_at(conn, signed).await? };
    if found != last.checkpoint.root {
        return Err(SealError::Forked { origin, size: signed, signed: last.checkpoint.root, found });
    }
    Ok(())
}
