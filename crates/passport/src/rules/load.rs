//! The files of a package, starting from one of them.

use super::source::{Source, Sources};
use super::syntax::token::{Kind, tokens};

/// A file that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It could not be read.
    #[error("{name} could not be read: {reason}")]
    Read {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// It lies outside of where packages are kept.
    #[error("{name} leads out of the folder of the package's parent")]
    Outside {
        /// Its name.
        name: String,
    },
}

/// Reads the files of a package: the first one, and all that it and they `include`, each once, in
/// the order they are named. Names are relative to the file that says them; `read` gets them
/// relative to the same place as `first`.
///
/// # Errors
///
/// If a file cannot be read.
pub fn load(first: &str, mut read: impl FnMut(&str) -> Result<String, String>) -> Result<Sources, LoadError> {
    let mut files: Vec<Source> = Vec::new();
    let mut waiting = vec![first.to_owned()];
    while let Some(name) = waiting.pop() {
        if files.iter().any(|file| file.name == name) {
            continue;
        }
        let text = read(&name).map_err(|reason| LoadError::Read { name: name.clone(), reason })?;
        let mut included = Vec::new();
        for path in includes(&text) {
            included.push(resolve(&name, &path).ok_or_else(|| LoadError::Outside { name: path.clone() })?);
        }
        waiting.extend(included.into_iter().rev());
        files.push(Source { name, text });
    }
    Ok(Sources::new(files))
}

/// What a file includes.
fn includes(text: &str) -> Vec<String> {
    let (words, _) = tokens(0, text);
    let pairs = words
        .windows(2)
        .filter(|pair| pair[0].kind == Kind::Name && pair[0].text == "include" && pair[1].kind == Kind::Text);
    pairs.map(|pair| pair[1].text.trim_matches('"').to_owned()).collect()
}

/// A path said in a file, relative to where the first file is.
fn resolve(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_read_once_and_relative_to_their_file() {
        let read = |name: &str| match name {
            "v1/a" => Ok("include \"../common/b\"; include \"c\";".to_owned()),
            "common/b" => Ok("include \"../v1/c\";".to_owned()),
            "v1/c" => Ok(String::new()),
            other => Err(format!("no {other}")),
        };
        let names: Vec<_> =
            load("v1/a", read).expect("all are there").files().iter().map(|f| f.name.clone()).collect();
        assert_eq!(names, ["v1/a", "common/b", "v1/c"]);
    }

    #[test]
    fn what_leads_outside_or_is_not_there_is_said() {
        let outside = load("a", |_| Ok("include \"../b\";".to_owned()));
        assert_eq!(outside, Err(LoadError::Outside { name: "../b".to_owned() }));
        let missing = load("a", |_| Err("gone".to_owned()));
        assert!(matches!(missing, Err(LoadError::Read { .. })));
    }
}
