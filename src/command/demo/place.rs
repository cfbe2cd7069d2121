//! A fresh directory for the tour, and commands that find it again.

use std::path::{Path, PathBuf};

use bpc_eventstore::Clock;
use bpc_secrets::KeySource;

use crate::error::Failure;

/// Where the tour leaves its files.
pub struct Place {
    pub directory: PathBuf,
    /// The SQLite file.
    pub file: PathBuf,
    /// Its URL.
    pub url: String,
}

impl Place {
    /// The directory that was asked for, or one named after the time. What is in use is left alone.
    pub fn fresh(wanted: Option<PathBuf>) -> Result<Place, Failure> {
        let directory = wanted.unwrap_or_else(named_after_now);
        let unusable = |problem: String| {
            let message = format!("the directory {} {problem}", directory.display());
            Failure::wrong_use("DIRECTORY_UNUSABLE", message)
        };
        std::fs::create_dir_all(&directory).map_err(|error| unusable(format!("cannot be made: {error}")))?;
        let mut entries =
            std::fs::read_dir(&directory).map_err(|error| unusable(format!("cannot be read: {error}")))?;
        if entries.next().is_some() {
            return Err(unusable("is not empty: name one that is, or a new one".to_owned()));
        }
        let file = directory.join("bpc.db");
        let url = sqlite_url(&file).ok_or_else(|| unusable("is not UTF-8 text".to_owned()))?;
        Ok(Place { directory, file, url })
    }

    /// A fresh key to sign passports with, in a file that only its owner may read.
    pub fn signing_key(&self) -> Result<PathBuf, Failure> {
        let file = self.directory.join("signing.key");
        KeySource::File(file.clone())
            .key_or_create()
            .map_err(|error| Failure::wrong_use("DIRECTORY_UNUSABLE", error.to_string()))?;
        Ok(file)
    }

    /// A command on the tour's log, fit to be pasted.
    pub fn command(&self, words: &str) -> String {
        let program = std::env::args().next().unwrap_or_else(|| "bpc".to_owned());
        format!("{} --database {} {words}", quoted(&program), quoted(&self.url))
    }
}

fn named_after_now() -> PathBuf {
    let now = Clock::Database.host().to_string();
    let digits: String = now[..19].chars().filter(char::is_ascii_digit).collect();
    PathBuf::from(format!("bpc-demo-{}-{}", &digits[..8], &digits[8..]))
}

/// `?` and `%` mean something in a URL.
fn sqlite_url(file: &Path) -> Option<String> {
    Some(format!("sqlite://{}", file.to_str()?.replace('%', "%25").replace('?', "%3F")))
}

/// For a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=+,@%".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_commands_survive_the_shell() {
        assert_eq!(quoted("sqlite://bpc-demo/bpc.db"), "sqlite://bpc-demo/bpc.db");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
        assert_eq!(sqlite_url(Path::new("100%/why?/bpc.db")).unwrap(), "sqlite://100%25/why%3F/bpc.db");
    }
}
