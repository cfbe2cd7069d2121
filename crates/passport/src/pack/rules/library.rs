//! Checked packages, from stored text.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bpc_core::Hash;
use bpc_worker::{Store, StoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::state::RuleVersion;
use crate::pack::PackError;
use crate::pack::event::blob;
use crate::rules::{Checked, LoadError, Source, Sources, check, load, parse};

/// Packages that a process has used. Parsing and checking one takes as long as compiling a hundred passports
/// under it, so whoever wants the same at the same time waits for the first.
#[derive(Clone, Debug, Default)]
pub(in crate::pack) struct Library {
    checked: Arc<Mutex<HashMap<Hash, Place>>>,
}

/// Where a package is, or will be.
type Place = Arc<OnceCell<Arc<Checked>>>;

/// More are dropped together; nobody compiles under so many at once.
const KEPT_MAX: usize = 32;

impl Library {
    /// The package of a version.
    pub(in crate::pack) async fn checked(
        &self,
        store: &Store,
        version: &RuleVersion,
    ) -> Result<Arc<Checked>, PackError> {
        let place = self.place(version.sources);
        place.get_or_try_init(|| read_checked(store, version)).await.cloned()
    }

    fn place(&self, sources: Hash) -> Place {
        let mut kept = self.checked.lock().expect("no panic while held");
        if kept.len() >= KEPT_MAX && !kept.contains_key(&sources) {
            kept.clear();
        }
        Arc::clone(kept.entry(sources).or_default())
    }
}

async fn read_checked(store: &Store, version: &RuleVersion) -> Result<Arc<Checked>, PackError> {
    let sources = read(&blob(store, version.sources).await?)
        .ok_or_else(|| StoreError::Damaged(format!("files of rule package version {}", version.id)))?;
    let checked = Arc::new(checked(&sources)?);
    if checked.rules_hash() != version.rules_hash {
        let message = format!(
            "this program reads rule package version {} as {}, but it was added as {}: use the program that added it",
            version.id,
            checked.rules_hash(),
            version.rules_hash
        );
        return Err(PackError::refused("REPLAY_MISMATCH", message));
    }
    Ok(checked)
}

/// Parse and check, or everything that is wrong, with the source.
pub(super) fn checked(sources: &Sources) -> Result<Checked, PackError> {
    let package = parse(sources);
    package.and_then(|package| check(&package)).map_err(|diagnostics| {
        let code = diagnostics.0.first().map_or("RULE_PARSE_ERROR", |first| first.code.as_str());
        // Whoever shows the message shows the code before it.
        let text = diagnostics.render(sources, false);
        let text = text.strip_prefix(&format!("error[{code}]: ")).unwrap_or(&text);
        PackError::refused(code, text.trim_end())
    })
}

/// The files of the package that `first` begins, with names relative to the parent of its folder.
pub fn load_rules(first: &Path) -> Result<Sources, PackError> {
    let refused = |message: String| PackError::refused("INPUT_UNREADABLE", message);
    let whole = first
        .canonicalize()
        .map_err(|error| refused(format!("{} cannot be read: {error}", first.display())))?;
    let folder = whole.parent().unwrap_or(Path::new("/"));
    let root = folder.parent().unwrap_or(folder);
    let name = whole.strip_prefix(root).unwrap_or(&whole).to_string_lossy().into_owned();
    load(&name, |name| std::fs::read_to_string(root.join(name)).map_err(|error| error.to_string())).map_err(
        |error| match error {
            LoadError::Read { .. } | LoadError::Outside { .. } => refused(error.to_string()),
        },
    )
}

#[derive(Serialize, Deserialize)]
struct File {
    name: String,
    text: String,
}

/// The files as one blob, in the order they are read.
pub(super) fn written(sources: &Sources) -> Vec<u8> {
    let file = |file: &Source| File { name: file.name.clone(), text: file.text.clone() };
    let files: Vec<File> = sources.files().iter().map(file).collect();
    serde_json::to_vec(&files).expect("texts are JSON")
}

pub(in crate::pack) fn read(bytes: &[u8]) -> Option<Sources> {
    let files: Vec<File> = serde_json::from_slice(bytes).ok()?;
    let source = |File { name, text }: File| Source { name, text };
    Some(Sources::new(files.into_iter().map(source).collect()))
}
