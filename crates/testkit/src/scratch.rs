//! Temporary directories.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::guardian;

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A directory of its own, removed on drop, or with the process at the latest.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// An empty directory whose name begins with `purpose`.
    pub(crate) fn new(purpose: &str) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = guardian::directory().join(format!("{purpose}-{number}"));
        let scratch = Self { path };
        create(scratch.path());
        scratch
    }

    /// Where it is: an absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the empty directory `name` in it.
    pub(crate) fn subdirectory(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        create(&path);
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn create(path: &Path) {
    DirBuilder::new()
        .mode(0o700)
        .create(path)
        .unwrap_or_else(|error| panic!("cannot create {}: {error}", path.display()));
}
