//! Where the key comes from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::key::SecretsKey;

/// The environment's key, or a file that holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// This key.
    Key(SecretsKey),
    /// A file that only its owner may read; there may be none yet.
    File(PathBuf),
}

/// There is no key, or none that can be used.
#[derive(Debug, thiserror::Error)]
pub enum KeySourceError {
    /// No file.
    #[error(
        "there is no secrets key: set BPC_SECRETS_KEY_BASE64 (openssl rand -base64 32), or put the key file {} back",
        .0.display()
    )]
    Missing(PathBuf),
    /// A file that is no key, or that others may read.
    #[error("the secrets key file {} {problem}", .path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
}

impl KeySourceError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            KeySourceError::Missing(_) => "SECRETS_KEY_MISSING",
            KeySourceError::Invalid { .. } => "SECRETS_KEY_INVALID",
        }
    }
}

impl KeySource {
    /// The key.
    pub fn key(&self) -> Result<SecretsKey, KeySourceError> {
        match self {
            KeySource::Key(key) => Ok(key.clone()),
            KeySource::File(path) => read(path)?.ok_or_else(|| KeySourceError::Missing(path.clone())),
        }
    }

    /// The key; a file that is not there yet is made. Two processes that start together end with one key.
    pub fn key_or_create(&self) -> Result<SecretsKey, KeySourceError> {
        let KeySource::File(path) = self else { return self.key() };
        if let Some(key) = read(path)? {
            return Ok(key);
        }
        create(path, &SecretsKey::generate())?;
        self.key()
    }
}

fn read(path: &Path) -> Result<Option<SecretsKey>, KeySourceError> {
    let invalid = |problem: String| KeySourceError::Invalid { path: path.to_owned(), problem };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(invalid(format!("cannot be read: {error}"))),
    };
    let mode = std::fs::metadata(path).map(|it| it.permissions().mode()).unwrap_or(0);
    if mode & 0o077 != 0 {
        let problem = format!("may be read by others (mode {:03o}): chmod 600 it", mode & 0o777);
        return Err(invalid(problem));
    }
    let key = SecretsKey::from_base64(&text);
    key.map(Some).ok_or_else(|| invalid("does not hold 32 bytes in base64".to_owned()))
}

/// Written whole under another name and then linked, so that nobody ever reads half a key and the first
/// of two writers wins.
fn create(path: &Path, key: &SecretsKey) -> Result<(), KeySourceError> {
    let failed = |error: std::io::Error| KeySourceError::Invalid {
        path: path.to_owned(),
        problem: format!("cannot be made: {error}"),
    };
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    let draft = PathBuf::from(draft);
    let _ = std::fs::remove_file(&draft);
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
    let written = writeln!(file, "{}", key.to_base64()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| std::fs::hard_link(&draft, path));
    let _ = std::fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked.map_err(failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_once_for_its_owner_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let source = KeySource::File(directory.path().join("secrets"));
        assert_eq!(source.key().expect_err("no file yet").code(), "SECRETS_KEY_MISSING");
        let key = source.key_or_create().expect("made");
        assert_eq!(source.key_or_create().expect("found"), key);
        assert_eq!(std::fs::read_dir(directory.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("secrets");
        let source = KeySource::File(path.clone());
        source.key_or_create().expect("made");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("changed");
        let refused = source.key().expect_err("refused");
        assert_eq!(refused.code(), "SECRETS_KEY_INVALID");
        assert!(refused.to_string().contains("chmod 600"), "{refused}");
    }

    #[test]
    fn a_file_without_a_key_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("secrets");
        std::fs::write(&path, "short\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("changed");
        assert_eq!(KeySource::File(path).key().expect_err("refused").code(), "SECRETS_KEY_INVALID");
    }
}
