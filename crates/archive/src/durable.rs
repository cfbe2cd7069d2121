//! Files that are there whole or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::layout::DRAFT;

/// Writes files into a directory and remembers which directories have to be synced for the names to
/// be durable as well.
#[derive(Debug, Default)]
pub(crate) struct Durable {
    touched: BTreeSet<PathBuf>,
    fault: Option<Fault>,
}

/// A write that a test wants to fail.
#[derive(Debug)]
struct Fault {
    writes_before: u64,
    is_persisted: bool,
}

impl Durable {
    /// Write a file: a crash leaves the old content, or none, and perhaps a draft.
    pub(crate) fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let draft = self.draft(path)?;
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        self.publish(&file, &draft, path)
    }

    /// Where to write what will become `path`; its directory is there afterwards.
    pub(crate) fn draft(&mut self, path: &Path) -> io::Result<PathBuf> {
        let directory = path.parent().expect("a file lies in a directory");
        if !directory.exists() {
            fs::create_dir_all(directory)?;
            // The names of the directories made just now have to last too.
            self.touched.extend(directory.ancestors().skip(1).take(4).map(Path::to_owned));
        }
        let mut draft = path.as_os_str().to_owned();
        draft.push(DRAFT);
        Ok(draft.into())
    }

    /// Give a draft its name, once its bytes are on disk.
    pub(crate) fn publish(&mut self, file: &File, draft: &Path, path: &Path) -> io::Result<()> {
        let fails = self.next_fails();
        if fails == Some(false) {
            return Err(io::Error::other("a test wants this write to fail"));
        }
        file.sync_data()?;
        fs::rename(draft, path)?;
        self.touched.extend(path.parent().map(Path::to_owned));
        if fails.is_some() { Err(io::Error::other("a test wants this write to seem failed")) } else { Ok(()) }
    }

    pub(crate) fn fail_after(&mut self, writes: u64, is_persisted: bool) {
        self.fault = Some(Fault { writes_before: writes, is_persisted });
    }

    /// Does this write fail, and is it done all the same?
    fn next_fails(&mut self) -> Option<bool> {
        let fault = self.fault.as_mut()?;
        match fault.writes_before.checked_sub(1) {
            Some(left) => {
                fault.writes_before = left;
                None
            }
            None => self.fault.take().map(|fault| fault.is_persisted),
        }
    }

    /// Make the names durable. If we were to crash before this, some of the files would be missing.
    pub(crate) fn sync_names(&mut self) -> io::Result<()> {
        for directory in std::mem::take(&mut self.touched) {
            if directory.is_dir() {
                File::open(directory)?.sync_all()?;
            }
        }
        Ok(())
    }
}
