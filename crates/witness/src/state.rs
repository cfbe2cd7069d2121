//! What a witness signed last of each log. It is all that a witness is worth: one that forgets can be led
//! to sign two histories.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use bpc_core::Hash;
use bpc_core::note::{base64, unbase64};
use bpc_core::witness::Seen;
use serde::{Deserialize, Serialize};

/// The file, held by one process at a time.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    logs: BTreeMap<String, Seen>,
    /// Nobody else has it while this is open.
    _lock: File,
}

/// A state that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the state file {path} {problem}")]
pub struct StateError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong and what to do.
    pub problem: String,
}

impl StateError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "WITNESS_STATE_INVALID"
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    root: String,
    size: u64,
}

impl StateFile {
    /// Read it; if there is none, begin with nothing signed.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let error = |problem: String| StateError { path: path.to_owned(), problem };
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(suffixed(path, ".lock"));
        let lock = lock.map_err(|failed| error(format!("cannot be locked: {failed}")))?;
        lock.try_lock().map_err(|_| error("is in use by another witness".to_owned()))?;
        let logs = match std::fs::read(path) {
            Ok(bytes) => read(&bytes).ok_or_else(|| {
                error(
                    "was not written by a witness: put the right one back, it must never be lost".to_owned(),
                )
            })?,
            Err(missing) if missing.kind() == ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), "no state yet: this witness has signed nothing");
                BTreeMap::new()
            }
            Err(unreadable) => return Err(error(format!("cannot be read: {unreadable}"))),
        };
        Ok(StateFile { path: path.to_owned(), logs, _lock: lock })
    }

    /// What was signed last of a log.
    pub fn seen(&self, origin: &str) -> Seen {
        self.logs.get(origin).copied().unwrap_or(Seen::NOTHING)
    }

    /// Remember. Durable when it returns, whole or not at all; after an error it is as before.
    pub fn remember(&mut self, origin: &str, seen: Seen) -> Result<(), StateError> {
        let mut logs = self.logs.clone();
        logs.insert(origin.to_owned(), seen);
        let lines: BTreeMap<&String, Line> = logs
            .iter()
            .map(|(origin, seen)| (origin, Line { root: base64(&seen.root.0), size: seen.size }))
            .collect();
        let text = serde_json::to_string_pretty(&lines).expect("text keys") + "\n";
        replace(&self.path, &text).map_err(|failed| StateError {
            path: self.path.clone(),
            problem: format!("cannot be written: {failed}"),
        })?;
        self.logs = logs;
        Ok(())
    }
}

fn read(bytes: &[u8]) -> Option<BTreeMap<String, Seen>> {
    let lines: BTreeMap<String, Line> = serde_json::from_slice(bytes).ok()?;
    let seen = |(origin, line): (String, Line)| {
        let root = unbase64(&line.root).and_then(|bytes| Hash::from_slice(&bytes))?;
        Some((origin, Seen { size: line.size, root }))
    };
    lines.into_iter().map(seen).collect()
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let draft = suffixed(path, ".new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    // A name in a directory is durable once the directory is.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
