//! What verify found, and where.

use bpc_core::StreamId;
use bpc_core::tile::TileId;
use serde::Serialize;
use uuid::Uuid;

/// Something in the log that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable. One of the codes in `docs/FORMAT.md`, or the code of the rule that the event's bytes break.
    pub code: &'static str,
    /// The level that does not hold because of it: `L0` to `L3`.
    pub level: &'static str,
    /// What the stream is about.
    pub stream_type: String,
    /// The stream; nil for a finding about the whole log.
    pub stream: StreamId,
    /// The event in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// Its place in the sealed order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// The tile that is wrong, by its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    /// Size of the checkpoint that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u64>,
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
    /// By which the event is found again.
    #[serde(skip)]
    pub(crate) event_id: Option<i64>,
}

pub(super) const L0: &str = "L0";
pub(super) const L1: &str = "L1";
pub(super) const L2: &str = "L2";
pub(super) const L3: &str = "L3";

pub(super) const COLUMN_MISMATCH: &str = "COLUMN_MISMATCH";
pub(super) const HASH_MISMATCH: &str = "HASH_MISMATCH";
pub(super) const VERSION_GAP: &str = "VERSION_GAP";
pub(super) const VERSION_DUPLICATE: &str = "VERSION_DUPLICATE";
pub(super) const STREAM_MIXED: &str = "STREAM_MIXED";
pub(super) const ILLEGAL_HISTORY: &str = "ILLEGAL_HISTORY";
const ROWS_HIDDEN: &str = "ROWS_HIDDEN";
const COHORT_DAMAGED: &str = "COHORT_DAMAGED";

impl Finding {
    /// A finding about nothing in particular yet.
    pub(super) fn at_level(level: &'static str, code: &'static str) -> Self {
        Finding {
            code,
            level,
            stream_type: String::new(),
            stream: StreamId(Uuid::nil()),
            version: None,
            position: None,
            tile: None,
            checkpoint: None,
            column: None,
            expected: None,
            found: None,
            message: String::new(),
            event_id: None,
        }
    }

    /// About a place in the sealed order.
    pub(super) fn at_position(code: &'static str, position: u64, message: impl Into<String>) -> Self {
        Finding { position: Some(position), message: message.into(), ..Finding::at_level(L1, code) }
    }

    /// About a stored tile.
    pub(super) fn at_tile(code: &'static str, tile: TileId, message: impl Into<String>) -> Self {
        Finding { tile: Some(tile.to_string()), message: message.into(), ..Finding::at_level(L1, code) }
    }

    /// A row that should hold events of many jobs, and is not as it should be.
    pub(super) fn of_cohort(id: Option<i64>, column: &'static str, why: &str) -> Self {
        let name = id.map_or_else(|| "NULL".to_owned(), |id| id.to_string());
        Finding {
            column: Some(column),
            message: format!("row {name} of cohort_events is no cohort: {why}"),
            event_id: id,
            ..Finding::at_level(L0, COHORT_DAMAGED)
        }
    }

    /// Tables and their indexes disagree about how many rows there are.
    pub(super) fn hidden_rows(stored: u64, read: u64) -> Self {
        Finding {
            expected: Some(stored.to_string()),
            found: Some(read.to_string()),
            message: format!(
                "there are {stored} rows of events, and indexes lead to {read} of them: rebuild the indexes \
                 (REINDEX) and verify again"
            ),
            ..Finding::at_level(L0, ROWS_HIDDEN)
        }
    }

    /// Do table and index disagree?
    pub(super) fn is_of_hidden_rows(&self) -> bool {
        self.code == ROWS_HIDDEN
    }

    /// With what should be there and what is.
    pub(super) fn instead(self, expected: impl ToString, found: impl ToString) -> Self {
        Finding { expected: Some(expected.to_string()), found: Some(found.to_string()), ..self }
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

    /// Is another one kept, or only counted?
    pub(super) fn has_room(&self) -> bool {
        self.kept.len() < self.max
    }

    /// Those of `later` behind these.
    pub(super) fn append(&mut self, later: Findings) {
        self.total += later.total;
        let room = self.max - self.kept.len();
        self.kept.extend(later.kept.into_iter().take(room));
    }
}
