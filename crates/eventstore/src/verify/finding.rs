//! What verify found, and where.

use bpc_core::StreamId;
use serde::Serialize;
use uuid::Uuid;

/// Something in the log that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable: `HASH_MISMATCH`, `COLUMN_MISMATCH`, `VERSION_GAP`, `VERSION_DUPLICATE`, `STREAM_MIXED`,
    /// `ILLEGAL_HISTORY`, `ROWS_HIDDEN`, or the code of the rule that the event's bytes break.
    pub code: &'static str,
    /// What the stream is about.
    pub stream_type: String,
    /// The stream; nil for a finding about the whole table.
    pub stream: StreamId,
    /// The event in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The column that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<&'static str>,
    /// What should be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// For people.
    pub message: String,
}

pub(super) const COLUMN_MISMATCH: &str = "COLUMN_MISMATCH";
pub(super) const HASH_MISMATCH: &str = "HASH_MISMATCH";
pub(super) const VERSION_GAP: &str = "VERSION_GAP";
pub(super) const VERSION_DUPLICATE: &str = "VERSION_DUPLICATE";
pub(super) const STREAM_MIXED: &str = "STREAM_MIXED";
pub(super) const ILLEGAL_HISTORY: &str = "ILLEGAL_HISTORY";
const ROWS_HIDDEN: &str = "ROWS_HIDDEN";

impl Finding {
    /// The table and its index disagree about how many events there are.
    pub(super) fn hidden_rows(stored: u64, read: u64) -> Self {
        Finding {
            code: ROWS_HIDDEN,
            stream_type: String::new(),
            stream: StreamId(Uuid::nil()),
            version: None,
            column: None,
            expected: Some(stored.to_string()),
            found: Some(read.to_string()),
            message: format!(
                "the table holds {stored} events, its index leads to {read}: rebuild the index \
                 (REINDEX) and verify again"
            ),
        }
    }
}

/// Findings in order: all counted, the first ones kept.
#[derive(Debug)]
pub(super) struct Findings {
    max: usize,
    pub(super) total: u64,
    pub(super) kept: Vec<Finding>,
}

impl Findings {
    pub(super) fn keeping(max: usize) -> Self {
        Findings { max, total: 0, kept: Vec::new() }
    }

    /// Count one, and keep it if there is room: text is made only for those that are kept.
    pub(super) fn add(&mut self, finding: impl FnOnce() -> Finding) {
        self.total += 1;
        if self.kept.len() < self.max {
            self.kept.push(finding());
        }
    }

    /// Those of `later` behind these.
    pub(super) fn append(&mut self, later: Findings) {
        self.total += later.total;
        let room = self.max - self.kept.len();
        self.kept.extend(later.kept.into_iter().take(room));
    }
}
