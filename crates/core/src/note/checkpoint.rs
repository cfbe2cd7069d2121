//! What a log says about itself: its name, how many events it has sealed, the root over them.

use super::{base64, decimal, unbase64};
use crate::chain::Hash;

/// The text of a checkpoint: origin, size and root, each on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: String,
    /// Sealed events.
    pub size: u64,
    /// Root of the tree over their leaves.
    pub root: Hash,
    /// Further lines, which other logs may have. They are kept as they are; this one writes none.
    pub extensions: Vec<String>,
}

/// Why a text is not a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// Fewer than three lines, an empty one, or no line feed at the end.
    #[error("a checkpoint is three or more lines that are not empty, each with a line feed")]
    Lines,
    /// The second line is not a decimal number without leading zeros.
    #[error("the second line of a checkpoint is its size, a decimal number without leading zeros")]
    Size,
    /// The third line is not the base64 of 32 bytes.
    #[error("the third line of a checkpoint is its root, 32 bytes in standard base64")]
    Root,
}

impl CheckpointError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            CheckpointError::Lines => "CHECKPOINT_MALFORMED",
            CheckpointError::Size => "CHECKPOINT_SIZE_INVALID",
            CheckpointError::Root => "CHECKPOINT_ROOT_INVALID",
        }
    }
}

impl Checkpoint {
    /// The checkpoint of a log of that name, size and root.
    pub fn new(origin: impl Into<String>, size: u64, root: Hash) -> Self {
        Checkpoint { origin: origin.into(), size, root, extensions: Vec::new() }
    }

    /// The text that is signed.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n", self.origin, self.size, base64(&self.root.0));
        self.extensions.iter().for_each(|line| text.extend([line, "\n"]));
        text
    }

    /// Read the text of a note. Succeeds only for text that [`Checkpoint::text`] writes again.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        let lines: Vec<_> = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?.split('\n').collect();
        let [origin, size, root, extensions @ ..] = &lines[..] else { return Err(CheckpointError::Lines) };
        if lines.iter().any(|line| line.is_empty()) {
            return Err(CheckpointError::Lines);
        }
        Ok(Checkpoint {
            origin: (*origin).to_owned(),
            size: decimal(size).ok_or(CheckpointError::Size)?,
            root: unbase64(root).and_then(|bytes| Hash::from_slice(&bytes)).ok_or(CheckpointError::Root)?,
            extensions: extensions.iter().map(|line| (*line).to_owned()).collect(),
        })
    }
}
