//! The file that holds a log's private key.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bpc_core::Timestamp;
use bpc_core::note::{Cosigner, KeyError, SignedNote, Signer};

use crate::entropy::entropy;

/// Of a log that is not a file here.
const NAME: &str = "bpc-log.key";
/// What stands before the hexadecimal seed.
const LABEL: &str = "bpc-log-key-ed25519:";

/// A place for a key; there may be none yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    path: PathBuf,
}

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the key file {path} {problem}")]
pub struct KeyFileError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong and what to do.
    pub problem: String,
}

impl KeyFileError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "KEY_FILE_INVALID"
    }
}

/// A log's private key. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct LogSecret {
    seed: [u8; 32],
    public_hex: String,
}

impl KeyFile {
    /// That file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        KeyFile { path: path.into() }
    }

    /// Beside the database file and named after it, so that two logs in one directory never share a key;
    /// or in the working directory.
    pub fn beside(database: Option<&Path>) -> Self {
        let path = database.map_or_else(|| PathBuf::from(NAME), |file| with_suffix(file, ".key"));
        KeyFile { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The file beside it that says what was signed last.
    pub fn state_path(&self) -> PathBuf {
        with_suffix(&self.path, ".state")
    }

    /// Where a key waits that is about to take over from this one.
    pub fn next(&self) -> KeyFile {
        KeyFile { path: with_suffix(&self.path, ".next") }
    }

    /// The waiting key takes this one's place, which is kept beside under a name that tells its key, with
    /// what it signed last. To be called once the log says so. Cut off anywhere, it goes on when called
    /// again.
    pub fn take_over(&self) -> Result<(), KeyFileError> {
        let moved = || {
            if let Ok(Some(old)) = self.read()
                && self.next().path.exists()
            {
                let retired = with_suffix(&self.path, &format!(".{}", &old.public_hex()[..8]));
                if self.state_path().exists() {
                    std::fs::rename(self.state_path(), with_suffix(&retired, ".state"))?;
                }
                std::fs::rename(&self.path, retired)?;
            }
            match std::fs::rename(self.next().path, &self.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            sync_directory(&self.path)
        };
        moved().map_err(|error| self.error(format!("cannot be replaced: {error}")))
    }

    /// The key in the file; `None` if there is no file.
    pub fn read(&self) -> Result<Option<LogSecret>, KeyFileError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.error(format!("cannot be read: {error}"))),
        };
        let seed = text.trim().strip_prefix(LABEL).and_then(|hex| hex::decode(hex).ok());
        match seed.and_then(|seed| <[u8; 32]>::try_from(seed).ok()) {
            Some(seed) => Ok(Some(LogSecret::new(seed))),
            None => Err(self.error("does not hold a key; move it away, it is never overwritten".to_owned())),
        }
    }

    /// Make a key and keep it, durably, for its owner's eyes only. If another process was faster, its
    /// key is the one.
    pub fn create(&self) -> Result<LogSecret, KeyFileError> {
        let secret =
            LogSecret::fresh().map_err(|error| self.error(format!("got no random bytes: {error}")))?;
        match self.write(&secret) {
            Ok(()) => Ok(secret),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.read()?.ok_or_else(|| self.error("comes and goes".to_owned()))
            }
            Err(error) => Err(self.error(format!("cannot be written: {error}"))),
        }
    }

    /// Written beside and then linked to its name: the name appears with the whole key in it or not at
    /// all, and a file of that name is never replaced.
    fn write(&self, secret: &LogSecret) -> std::io::Result<()> {
        let draft = with_suffix(&self.path, &format!(".{}", hex::encode(&entropy()[..4])));
        let linked = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
            writeln!(file, "{LABEL}{}", hex::encode(secret.seed))?;
            file.sync_all()?;
            std::fs::hard_link(&draft, &self.path)
        })();
        let removed = std::fs::remove_file(&draft);
        linked?;
        removed?;
        sync_directory(&self.path)
    }

    fn error(&self, problem: String) -> KeyFileError {
        KeyFileError { path: self.path.clone(), problem }
    }
}

impl LogSecret {
    /// The key of that seed.
    pub fn new(seed: [u8; 32]) -> Self {
        let signer = Signer::new("log", &seed).expect("a name without spaces, and every seed is a key");
        LogSecret { seed, public_hex: hex::encode(signer.verifier().public_key()) }
    }

    /// A new key.
    pub fn fresh() -> Result<Self, getrandom::Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        Ok(LogSecret::new(seed))
    }

    /// The public half, lowercase hexadecimal.
    pub fn public_hex(&self) -> &str {
        &self.public_hex
    }

    /// The name that a log gets from its first key.
    pub fn origin(&self) -> String {
        format!("bpc-{}", &self.public_hex[..8])
    }

    /// Sign the text of a note for that origin, and beside it the time, to the second.
    pub fn sign_note(&self, origin: &str, text: &str, at: Timestamp) -> Result<SignedNote, KeyError> {
        let (signer, cosigner) = self.signers(origin)?;
        let seconds = (at.as_micros() / 1_000_000) as u64;
        let signatures = vec![signer.sign(text), cosigner.cosign(text, seconds)];
        Ok(SignedNote { text: text.to_owned(), signatures })
    }

    /// Signs for that origin: the note itself, and the time beside it.
    pub(crate) fn signers(&self, origin: &str) -> Result<(Signer, Cosigner), KeyError> {
        Ok((Signer::new(origin, &self.seed)?, Cosigner::new(origin, &self.seed)?))
    }
}

impl fmt::Debug for LogSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogSecret({})", self.public_hex)
    }
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A name in a directory is durable once the directory is.
pub(crate) fn sync_directory(of: &Path) -> std::io::Result<()> {
    let directory = of.parent().filter(|path| !path.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}
