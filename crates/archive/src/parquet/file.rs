//! Parquet files of a bounded number of rows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bpc_core::{Envelope, Hash};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::layout::DRAFT;

use super::ExportError;
use super::columns::{Columns, FEW_VALUES, schema};

/// Rows in a group.
const GROUP_ROWS: usize = 65_536;
/// Rows in a file.
const FILE_ROWS: u64 = 16 * GROUP_ROWS as u64;

/// Writes one file after the other: `events-000000000000.parquet`, named by its first position.
pub(super) struct Files {
    directory: PathBuf,
    open: Option<OpenFile>,
    columns: Columns,
    written: u64,
    bytes: u64,
}

struct OpenFile {
    writer: SerializedFileWriter<File>,
    path: PathBuf,
    draft: PathBuf,
}

impl Files {
    pub(super) fn new(directory: &Path) -> Self {
        let directory = directory.to_owned();
        Files { directory, open: None, columns: Columns::default(), written: 0, bytes: 0 }
    }

    /// The next event, in order of positions from 0 on.
    pub(super) fn push(
        &mut self,
        position: u64,
        hash: &Hash,
        envelope: &Envelope<'_>,
    ) -> Result<(), ExportError> {
        if self.open.is_none() {
            self.open = Some(OpenFile::create(&self.directory, position)?);
        }
        self.columns.push(position, hash, envelope);
        if self.columns.len() == GROUP_ROWS {
            self.end_group()?;
            if (position + 1).is_multiple_of(FILE_ROWS) {
                self.end_file()?;
            }
        }
        Ok(())
    }

    /// How many files were written, and their bytes.
    pub(super) fn finish(mut self) -> Result<(u64, u64), ExportError> {
        if self.columns.len() > 0 {
            self.end_group()?;
        }
        self.end_file()?;
        Ok((self.written, self.bytes))
    }

    fn end_group(&mut self) -> Result<(), ExportError> {
        let columns = std::mem::take(&mut self.columns);
        let open = self.open.as_mut().expect("rows belong to a file");
        let mut group = open.writer.next_row_group()?;
        columns.write(&mut group)?;
        group.close()?;
        Ok(())
    }

    fn end_file(&mut self) -> Result<(), ExportError> {
        if let Some(open) = self.open.take() {
            self.bytes += open.finish()?;
            self.written += 1;
        }
        Ok(())
    }
}

impl OpenFile {
    fn create(directory: &Path, position: u64) -> Result<OpenFile, ExportError> {
        fs::create_dir_all(directory).map_err(failed(directory))?;
        let path = directory.join(format!("events-{position:012}.parquet"));
        let mut draft = path.clone().into_os_string();
        draft.push(DRAFT);
        let draft = PathBuf::from(draft);
        let file = File::create(&draft).map_err(failed(&draft))?;
        let writer = SerializedFileWriter::new(file, schema(), properties())?;
        Ok(OpenFile { writer, path, draft })
    }

    fn finish(self) -> Result<u64, ExportError> {
        let file = self.writer.into_inner()?;
        file.sync_all().map_err(failed(&self.draft))?;
        let bytes = file.metadata().map_err(failed(&self.draft))?.len();
        fs::rename(&self.draft, &self.path).map_err(failed(&self.path))?;
        Ok(bytes)
    }
}

fn properties() -> WriterPropertiesPtr {
    let level = ZstdLevel::try_new(1).expect("a level of Zstandard");
    let mut properties = WriterProperties::builder()
        .set_created_by("bpc".to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false);
    for column in FEW_VALUES {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), true);
    }
    Arc::new(properties.build())
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> ExportError {
    move |source| ExportError::Io { path: path.to_owned(), source }
}
