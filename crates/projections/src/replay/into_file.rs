//! Every view in a file of its own, for any tool that opens SQLite.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::Projection;

use super::error::ReplayError;
use super::rebuild::rebuild;
use super::report::{Progress, RebuildReport};
use super::scratch::fast_store;
use super::source::ReplaySource;
use super::until::Until;

/// Rebuild every view as it stood at `until` into a new SQLite file. The file gets its name when it is
/// complete and durable; one of that name that is there already is never touched.
pub async fn into_file(
    source: &mut dyn ReplaySource,
    path: &Path,
    projections: &[Arc<dyn Projection>],
    until: Until,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<RebuildReport, ReplayError> {
    if path.exists() {
        return Err(ReplayError::TargetExists(path.to_owned()));
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    let draft = PathBuf::from(draft);
    let failed = |source| ReplayError::TargetFile { path: path.to_owned(), source };
    remove(&draft).map_err(failed)?;
    let store = fast_store(&draft).await?;
    let rebuilt = rebuild(source, &store, projections, until, progress).await;
    store.close().await;
    let published = rebuilt.and_then(|report| publish(&draft, path).map_err(failed).map(|()| report));
    if published.is_err() {
        remove(&draft).map_err(failed)?;
    }
    published
}

/// A link fails if the name was taken meanwhile, where renaming would replace that file.
fn publish(draft: &Path, path: &Path) -> io::Result<()> {
    File::open(draft)?.sync_all()?;
    fs::hard_link(draft, path)?;
    fs::remove_file(draft)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
