//! What a key signed last: the memory that a restored database does not have.
//!
//! Kept beside the key, as the signed note itself, so it also serves as a checkpoint to verify with.
//! Whoever signs reads it first and never signs less, or something else of the same size.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bpc_core::Timestamp;
use bpc_core::note::{Checkpoint, SignedNote, VerifierKey};

use super::error::SealError;
use super::key_file::{sync_directory, with_suffix};

/// Where it is kept.
#[derive(Clone, Debug)]
pub enum KeyState {
    /// In a file, which every process that signs with the key must share.
    File(PathBuf),
    /// Nowhere else: for keys that live as long as a process does.
    Memory(Arc<Mutex<Option<String>>>),
}

/// The last signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSigned {
    /// Over what.
    pub checkpoint: Checkpoint,
    /// When, to the second.
    pub at: Timestamp,
}

impl KeyState {
    /// A state that ends with the process.
    pub fn memory() -> Self {
        KeyState::Memory(Arc::default())
    }

    /// What was signed last; `None` if nothing was. `keys` are those of the key itself: a file that
    /// they did not sign is not believed.
    pub fn read(&self, keys: &[VerifierKey; 2]) -> Result<Option<LastSigned>, SealError> {
        let Some(note) = self.note()? else {
            return Ok(None);
        };
        let read = || {
            let note = SignedNote::parse(note.as_bytes()).ok()?;
            let at = note.verify(keys).ok()?.iter().find_map(|signed| signed.at)?;
            let at = Timestamp::from_micros(i64::try_from(at).ok()?.checked_mul(1_000_000)?);
            Some(LastSigned { checkpoint: Checkpoint::parse(&note.text).ok()?, at })
        };
        read().map(Some).ok_or_else(|| {
            self.error(
                "was not written by this key: put the right one back, or move it away if you are sure that the \
                 database is the newest copy",
            )
        })
    }

    /// Keep a note. Durable when it returns, whole or not at all.
    pub(crate) fn write(&self, note: &str) -> Result<(), SealError> {
        match self {
            KeyState::Memory(kept) => {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(note.to_owned());
                Ok(())
            }
            KeyState::File(path) => {
                replace(path, note).map_err(|error| self.error(format!("cannot be written: {error}")))
            }
        }
    }

    /// Nobody else who shares the file signs until the guard is dropped, or its process is gone.
    pub(crate) fn lock(&self) -> Result<Option<File>, SealError> {
        let KeyState::File(path) = self else {
            return Ok(None);
        };
        let lock = with_suffix(path, ".lock");
        let open = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(lock);
        let locked = open.and_then(|file| file.lock().map(|()| file));
        locked.map(Some).map_err(|error| self.error(format!("cannot be locked: {error}")))
    }

    fn note(&self) -> Result<Option<String>, SealError> {
        match self {
            KeyState::Memory(kept) => Ok(kept.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            KeyState::File(path) => match std::fs::read_to_string(path) {
                Ok(note) => Ok(Some(note)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(self.error(format!("cannot be read: {error}"))),
            },
        }
    }

    fn error(&self, problem: impl Into<String>) -> SealError {
        let path = match self {
            KeyState::File(path) => path.clone(),
            KeyState::Memory(_) => PathBuf::from("the state in memory"),
        };
        SealError::KeyState { path, problem: problem.into() }
    }
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let draft = with_suffix(path, ".new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    sync_directory(path)
}
