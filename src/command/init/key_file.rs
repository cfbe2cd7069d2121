//! The file that holds the log's private key.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;

use crate::error::Failure;

const NAME: &str = "bpc-log.key";
/// What stands before the hexadecimal seed.
const LABEL: &str = "bpc-log-key-ed25519:";

/// A place for a key; there may be none yet.
pub struct KeyFile {
    path: PathBuf,
}

/// A key pair.
pub struct Key(SigningKey);

impl KeyFile {
    /// Beside the database file, or in the working directory.
    pub fn beside(database: Option<&Path>) -> Self {
        let directory = database.and_then(Path::parent).unwrap_or(Path::new(""));
        KeyFile { path: directory.join(NAME) }
    }

    /// For messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The key in the file; `None` if there is no file.
    pub fn read(&self) -> Result<Option<Key>, Failure> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failure(&format!("cannot be read: {error}"))),
        };
        let seed = text.trim().strip_prefix(LABEL).and_then(|hex| hex::decode(hex).ok());
        match seed.and_then(|seed| <[u8; 32]>::try_from(seed).ok()) {
            Some(seed) => Ok(Some(Key(SigningKey::from_bytes(&seed)))),
            None => Err(self.failure("does not hold a key; move it away, it is never overwritten")),
        }
    }

    /// Make a key and keep it, durably, for its owner's eyes only. Never replaces a file.
    pub fn create(&self) -> Result<Key, Failure> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| self.failure(&format!("got no random bytes: {error}")))?;
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path)?;
            writeln!(file, "{LABEL}{}", hex::encode(seed))?;
            file.sync_all()?;
            let directory = self.path.parent().filter(|path| !path.as_os_str().is_empty());
            File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(|error| self.failure(&format!("cannot be written: {error}")))?;
        Ok(Key(SigningKey::from_bytes(&seed)))
    }

    fn failure(&self, problem: &str) -> Failure {
        Failure::wrong_use("KEY_FILE_INVALID", format!("the key file {} {problem}", self.name()))
    }
}

impl Key {
    /// The public half, lowercase hexadecimal.
    pub fn public_hex(&self) -> String {
        hex::encode(self.0.verifying_key().to_bytes())
    }

    /// The log's name in checkpoints.
    pub fn origin(&self) -> String {
        format!("bpc-{}", &self.public_hex()[..8])
    }
}
