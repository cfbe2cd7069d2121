//! Rows as they are copied out, cut into batches where they lie.

use crate::error::StoreError;
use crate::verify::quick::Batch;

use super::wire::{ERROR, Wire, server_error, unexpected};

/// What the server sends before the first row: a signature, flags, and the length of nothing more.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What it sends behind the last one.
const TRAILER: &[u8] = &(-1_i16).to_be_bytes();
/// The size of a batch, unless a single row is larger. Rows of another table may be added to it.
const BATCH_BYTES: usize = 512 << 10;
/// Read at once: few enough that rows are still near when they are marked.
const READ_BYTES: usize = 64 << 10;
/// Before each message: one byte that says what it is, and its length from here on.
const PREFIX: usize = 5;

/// All rows of a copy.
pub(super) struct CopiedRows {
    wire: Wire,
    /// The beginning of a message whose end was not received with the batch before.
    begun: Vec<u8>,
    is_first: bool,
    is_over: bool,
}

/// What a message is.
enum Told {
    Row,
    Over,
    Nothing,
}

impl CopiedRows {
    /// The rows of a copy that was begun on this connection.
    pub(super) fn new(wire: Wire) -> Self {
        CopiedRows { wire, begun: Vec::new(), is_first: true, is_over: false }
    }

    /// Are there no more rows?
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Fill a batch, whatever was in it, unless there are no more rows.
    pub(super) fn next(&mut self, mut batch: Batch) -> Result<Batch, StoreError> {
        let (mut filled, mut at) = (self.begun.len(), 0);
        batch.forget_rows();
        batch.bytes.resize(BATCH_BYTES.max(filled), 0);
        batch.bytes[..filled].copy_from_slice(&self.begun);
        self.begun.clear();
        while !self.is_over {
            at = self.cut(&mut batch, at, filled)?;
            // What is begun is left for the next batch, if this one has something.
            if self.is_over || filled == batch.bytes.len() && at > 0 {
                break;
            }
            if filled == batch.bytes.len() {
                batch.bytes.resize(2 * filled, 0);
            }
            let until = batch.bytes.len().min(filled + READ_BYTES);
            filled += self.wire.read(&mut batch.bytes[filled..until])?;
        }
        self.begun.extend_from_slice(&batch.bytes[at..filled]);
        batch.bytes.truncate(at);
        Ok(batch)
    }

    /// Everything was read.
    pub(super) fn close(self) -> Result<(), StoreError> {
        self.wire.close()
    }

    /// Mark the rows among the messages from `at` on. Returns where the first one begins that is not all there.
    fn cut(&mut self, batch: &mut Batch, mut at: usize, filled: usize) -> Result<usize, StoreError> {
        while let Some((told, end)) = message(&batch.bytes[at..filled])? {
            let (mut start, end) = (at + PREFIX, at + end);
            at = end;
            match told {
                Told::Row => {
                    if std::mem::take(&mut self.is_first) && batch.bytes[start..end].starts_with(HEADER) {
                        start += HEADER.len();
                    }
                    let row = &batch.bytes[start..end];
                    if row != TRAILER && !row.is_empty() {
                        batch.row_at(start..end);
                    }
                }
                Told::Over => {
                    self.is_over = true;
                    break;
                }
                Told::Nothing => {}
            }
        }
        Ok(at)
    }
}

/// What the message at the beginning of these bytes is, and where it ends; `None` if it is not all there.
fn message(bytes: &[u8]) -> Result<Option<(Told, usize)>, StoreError> {
    let Some((prefix, _)) = bytes.split_first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let [kind, a, b, c, d] = *prefix;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if !(PREFIX - 1..=i32::MAX as usize).contains(&length) {
        return Err(unexpected());
    }
    let end = 1 + length;
    if bytes.len() < end {
        return Ok(None);
    }
    let told = match kind {
        b'd' => Told::Row,
        b'c' => Told::Over,
        // A notice, or a setting that changed.
        b'N' | b'S' => Told::Nothing,
        ERROR => return Err(server_error(bytes).unwrap_or_else(unexpected)),
        _ => return Err(unexpected()),
    };
    Ok(Some((told, end)))
}
