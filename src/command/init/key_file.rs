//! The file that holds the log's private key.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bpc_eventstore::entropy;
use ed25519_dalek::SigningKey;

use crate::error::Failure;

/// Of a log that is not a file here.
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
    /// Beside the database file and named after it, so that two logs in one directory never share a key;
    /// or in the working directory.
    pub fn beside(database: Option<&Path>) -> Self {
        let path = database.map_or_else(
            || PathBuf::from(NAME),
            |file| {
                let mut name = file.as_os_str().to_owned();
                name.push(".key");
                PathBuf::from(name)
            },
        );
        KeyFile { path }
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

    /// Make a key and keep it, durably, for its owner's eyes only. If another process was faster, its
    /// key is the one.
    pub fn create(&self) -> Result<Key, Failure> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| self.failure(&format!("got no random bytes: {error}")))?;
        match self.write(&seed) {
            Ok(()) => Ok(Key(SigningKey::from_bytes(&seed))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.read()?.ok_or_else(|| self.failure("comes and goes"))
            }
            Err(error) => Err(self.failure(&format!("cannot be written: {error}"))),
        }
    }

    /// Written beside and then linked to its name: the name appears with the whole key in it or not at
    /// all, and a file of that name is never replaced.
    fn write(&self, seed: &[u8; 32]) -> std::io::Result<()> {
        let draft = self.path.with_extension(format!("key.{}", hex::encode(&entropy()[..4])));
        let linked = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
            writeln!(file, "{LABEL}{}", hex::encode(seed))?;
            file.sync_all()?;
            std::fs::hard_link(&draft, &self.path)
        })();
        let removed = std::fs::remove_file(&draft);
        linked?;
        removed?;
        let directory = self.path.parent().filter(|path| !path.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
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
