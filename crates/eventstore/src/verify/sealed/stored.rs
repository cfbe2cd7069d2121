//! The checkpoints that the log itself keeps.

use std::collections::BTreeMap;

use bpc_core::note::{Checkpoint, NoteError, SignedNote, VerifierKey};
use bpc_core::{Hash, Timestamp};

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;
use crate::seal::{Keyring, SealedHead};
use crate::verify::finding::{Finding, Findings, L1};

pub(super) const CHECKPOINT_MISMATCH: &str = "CHECKPOINT_MISMATCH";
pub(super) const CHECKPOINT_KEY_UNKNOWN: &str = "CHECKPOINT_KEY_UNKNOWN";
const CHECKPOINT_AHEAD: &str = "CHECKPOINT_AHEAD";
const CHECKPOINT_COLUMN_MISMATCH: &str = "CHECKPOINT_COLUMN_MISMATCH";
const CHECKPOINT_DUPLICATE: &str = "CHECKPOINT_DUPLICATE";
const ROOT_MISMATCH: &str = "ROOT_MISMATCH";

/// Notes read at once.
const PAGE: i64 = 1000;

/// The newest checkpoint that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::verify) struct Signed {
    pub(in crate::verify) size: u64,
    pub(in crate::verify) origin: String,
    pub(in crate::verify) at: Timestamp,
}

/// Sizes of all stored checkpoints.
pub(in crate::verify) async fn checkpoint_sizes(conn: &mut Conn<'_>) -> Result<Vec<u64>, StoreError> {
    let sql = "SELECT size FROM checkpoints ORDER BY size";
    let sizes: Vec<i64> = portable!(conn, c => sqlx::query_scalar(sql).fetch_all(&mut **c).await)?;
    Ok(sizes.into_iter().filter_map(|size| size.try_into().ok()).collect())
}

/// Check every stored checkpoint and the recorded root against the tree that was made again. `visit` gets
/// each note that is one.
pub(in crate::verify) async fn check_checkpoints(
    conn: &mut Conn<'_>,
    head: SealedHead,
    keyring: &Keyring,
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
    mut visit: impl FnMut(&SignedNote, &Checkpoint),
) -> Result<Option<Signed>, StoreError> {
    match roots.get(&head.size) {
        Some(root) if *root != head.root => findings.add(|| {
            let message = format!("the recorded root of {} events is not that of the tree", head.size);
            Finding { message, column: Some("root"), ..Finding::at_level(L1, ROOT_MISMATCH) }
                .instead(root, head.root)
        }),
        _ => {}
    }
    let twins = "SELECT size FROM checkpoints GROUP BY size HAVING count(*) > 1 ORDER BY size";
    let twins: Vec<i64> = portable!(conn, c => sqlx::query_scalar(twins).fetch_all(&mut **c).await)?;
    for size in twins {
        findings.add(|| Finding {
            checkpoint: size.try_into().ok(),
            message: "there is more than one checkpoint of this size".to_owned(),
            ..Finding::at_level(L1, CHECKPOINT_DUPLICATE)
        });
    }
    let mut check = Check { head, keyring, roots, findings, newest: None, before: 0 };
    let mut after = i64::MIN;
    loop {
        let page = page_behind(conn, after).await?;
        let Some((last, ..)) = page.last() else {
            return Ok(check.newest);
        };
        after = *last;
        for (size, note, made_at) in page {
            check.take(size, &note, Timestamp::from_micros(made_at), &mut visit);
        }
    }
}

/// Notes as bytes: SQLite keeps text that is none.
async fn page_behind(conn: &mut Conn<'_>, size: i64) -> Result<Vec<(i64, Vec<u8>, i64)>, StoreError> {
    let postgres = "SELECT size, convert_to(note, 'UTF8'), made_at FROM checkpoints WHERE size > $1 ORDER BY size LIMIT $2";
    let sqlite =
        "SELECT size, CAST(note AS BLOB), made_at FROM checkpoints WHERE size > $1 ORDER BY size LIMIT $2";
    let page = match conn {
        Conn::Postgres(conn) => sqlx::query_as(postgres).bind(size).bind(PAGE).fetch_all(&mut **conn).await?,
        Conn::Sqlite(conn) => sqlx::query_as(sqlite).bind(size).bind(PAGE).fetch_all(&mut **conn).await?,
    };
    Ok(page)
}

struct Check<'a> {
    head: SealedHead,
    keyring: &'a Keyring,
    roots: &'a BTreeMap<u64, Hash>,
    findings: &'a mut Findings,
    newest: Option<Signed>,
    /// When the one before was made, in seconds: so far it is signed, and sealers that sign at once may swap
    /// within one.
    before: i64,
}

impl Check<'_> {
    fn take(
        &mut self,
        row_size: i64,
        note: &[u8],
        made_at: Timestamp,
        visit: &mut impl FnMut(&SignedNote, &Checkpoint),
    ) {
        let shown = row_size.try_into().ok();
        let finding = |code| Finding { checkpoint: shown, ..Finding::at_level(L1, code) };
        let (note, checkpoint) = match read_note(note) {
            Ok(read) => read,
            Err((code, message)) => {
                self.findings.add(|| Finding { message, ..finding(code) });
                return;
            }
        };
        visit(&note, &checkpoint);
        if Some(checkpoint.size) != shown {
            self.findings.add(|| {
                let message = "the note is about another size".to_owned();
                Finding { column: Some("size"), message, ..finding(CHECKPOINT_COLUMN_MISMATCH) }
                    .instead(checkpoint.size, row_size)
            });
        }
        let Some(at) = self.check_signature(&note, &checkpoint, &finding) else {
            return;
        };
        self.check_time(made_at, at, &finding);
        let size = checkpoint.size;
        if size > self.head.size {
            self.findings.add(|| {
                let message = "more was signed for than is sealed: the end of the log is gone".to_owned();
                Finding { message, ..finding(CHECKPOINT_AHEAD) }.instead(size, self.head.size)
            });
            return;
        }
        match self.roots.get(&size) {
            Some(root) if *root != checkpoint.root => {
                let from = self.newest.as_ref().map_or(0, |newest| newest.size);
                self.findings.add(|| {
                    let message = format!(
                        "what was signed for is not what is there: something at positions {from} to {} was changed",
                        size.saturating_sub(1)
                    );
                    Finding { position: Some(from), message, ..finding(CHECKPOINT_MISMATCH) }
                        .instead(checkpoint.root, root)
                });
            }
            _ => self.newest = Some(Signed { size, origin: checkpoint.origin, at: made_at }),
        }
    }

    /// The key in use at that size must have signed. Returns the time it says.
    fn check_signature(
        &mut self,
        note: &SignedNote,
        checkpoint: &Checkpoint,
        finding: &impl Fn(&'static str) -> Finding,
    ) -> Option<Option<u64>> {
        let keys = self.keyring.at_size(checkpoint.size).and_then(|epoch| epoch.verifiers());
        match signed_by(note, checkpoint, keys.as_ref().map_or(&[], |keys| &keys[..])) {
            Ok(at) => Some(at),
            Err(error) => {
                self.findings.add(|| {
                    let expected = keys.map(|[verifier, _]| verifier.to_string());
                    let code = match &error {
                        NoteError::BadSignature { .. } => error.code(),
                        _ => CHECKPOINT_KEY_UNKNOWN,
                    };
                    Finding { message: error.to_string(), expected, ..finding(code) }
                });
                None
            }
        }
    }

    fn check_time(
        &mut self,
        made_at: Timestamp,
        at: Option<u64>,
        finding: &impl Fn(&'static str) -> Finding,
    ) {
        let seconds = made_at.as_micros() / 1_000_000;
        if at != u64::try_from(seconds).ok() {
            self.findings.add(|| Finding {
                column: Some("made_at"),
                expected: at.map(|at| Timestamp::from_micros(at as i64 * 1_000_000).to_string()),
                found: Some(made_at.to_string()),
                message: "the time of the checkpoint is not the one that the log signed".to_owned(),
                ..finding(CHECKPOINT_COLUMN_MISMATCH)
            });
        } else if seconds < self.before {
            self.findings.add(|| Finding {
                column: Some("made_at"),
                message: "a smaller checkpoint was signed later than this one".to_owned(),
                ..finding(CHECKPOINT_COLUMN_MISMATCH)
            });
        }
        self.before = seconds;
    }
}

/// Read a signed checkpoint; else the code and text of what is wrong with it.
pub(super) fn read_note(bytes: &[u8]) -> Result<(SignedNote, Checkpoint), (&'static str, String)> {
    let note = SignedNote::parse(bytes).map_err(|error| (error.code(), error.to_string()))?;
    let checkpoint = Checkpoint::parse(&note.text).map_err(|error| (error.code(), error.to_string()))?;
    Ok((note, checkpoint))
}

/// Did the log itself sign? One of `keys` must be of its name and have signed the text. Returns the time
/// that the log signed beside it.
pub(super) fn signed_by(
    note: &SignedNote,
    checkpoint: &Checkpoint,
    keys: &[VerifierKey],
) -> Result<Option<u64>, NoteError> {
    let verified = note.verify(keys)?;
    let by_log =
        |at: bool| verified.iter().find(|it| it.key.name() == checkpoint.origin && it.at.is_some() == at);
    match by_log(false) {
        Some(_) => Ok(by_log(true).and_then(|it| it.at)),
        None => Err(NoteError::NotSigned { found: format!("{:?}", checkpoint.origin) }),
    }
}
