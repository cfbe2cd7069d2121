//! The file that holds a witness's private key, in the spelling that Go's `note` package gave to such keys:
//! `PRIVATE+KEY+name+id+base64(type || seed)`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bpc_core::note::{Cosigner, KeyError, SignatureKind, VerifierKey, base64, unbase64};

const LABEL: &str = "PRIVATE+KEY+";

/// The key of a witness. Its `Debug` does not show the secret.
#[derive(Debug)]
pub struct WitnessKey {
    /// Signs.
    pub cosigner: Cosigner,
}

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the key file {path} {problem}")]
pub struct WitnessKeyError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong and what to do.
    pub problem: String,
}

impl WitnessKeyError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "KEY_FILE_INVALID"
    }
}

impl WitnessKey {
    /// The key in a file; if there is none, a new one of that name, durable and for its owner's eyes only.
    pub fn load_or_create(path: &Path, name: Option<&str>) -> Result<Self, WitnessKeyError> {
        let error = |problem: String| WitnessKeyError { path: path.to_owned(), problem };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(missing) if missing.kind() == ErrorKind::NotFound => {
                let name = name.ok_or_else(|| {
                    error("is not there: give the new witness a name with --name".to_owned())
                })?;
                return create(path, name);
            }
            Err(unreadable) => return Err(error(format!("cannot be read: {unreadable}"))),
        };
        let key = read(text.trim()).ok_or_else(|| error("does not hold the key of a witness".to_owned()))?;
        match name.filter(|name| *name != key.verifier().name()) {
            Some(name) => Err(error(format!("holds the key of {}, not of {name}", key.verifier().name()))),
            None => Ok(key),
        }
    }

    /// What others check its signatures with.
    pub fn verifier(&self) -> &VerifierKey {
        self.cosigner.verifier()
    }
}

fn create(path: &Path, name: &str) -> Result<WitnessKey, WitnessKeyError> {
    let error = |problem: String| WitnessKeyError { path: path.to_owned(), problem };
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|none| error(format!("got no random bytes: {none}")))?;
    let cosigner =
        Cosigner::new(name, &seed).map_err(|bad: KeyError| error(format!("cannot be made: {bad}")))?;
    let id = cosigner.verifier().id();
    let secret = base64(&[&[SignatureKind::Cosignature as u8], &seed[..]].concat());
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        writeln!(file, "{LABEL}{name}+{id}+{secret}")?;
        file.sync_all()
    })();
    written.map_err(|failed: std::io::Error| error(format!("cannot be written: {failed}")))?;
    Ok(WitnessKey { cosigner })
}

fn read(text: &str) -> Option<WitnessKey> {
    let mut parts = text.strip_prefix(LABEL)?.splitn(3, '+');
    let (name, id, secret) = (parts.next()?, parts.next()?, unbase64(parts.next()?)?);
    let (kind, seed) = secret.split_first()?;
    let cosigner = Cosigner::new(name, seed.try_into().ok()?).ok()?;
    let is_right = *kind == SignatureKind::Cosignature as u8 && cosigner.verifier().id().to_string() == id;
    is_right.then_some(WitnessKey { cosigner })
}
