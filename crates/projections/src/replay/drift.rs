//! What differs between the log and the views, and where.

use bpc_core::{JobId, StreamId};
use serde::Serialize;

/// So many are kept; the others are only counted.
pub const DRIFT_MAX: usize = 1000;

/// Something in a view that does not follow from the log, or in the log that no view follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// What kind.
    pub code: DriftCode,
    /// The table: a view, or `events` for the log itself.
    pub view: &'static str,
    /// The row: `column=value` of each key column, parted by spaces.
    pub key: String,
    /// The column that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<&'static str>,
    /// What follows from the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// For people.
    pub message: String,
}

/// The kinds of drift. Their names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DriftCode {
    /// The log says there is a row; there is none.
    ViewRowMissing,
    /// There is a row that does not follow from the log.
    ViewRowExtra,
    /// A column of a row says something else than the log.
    ViewRowDiffers,
    /// The stored bytes are no event, or not the one that their place says.
    ReplayEventUnreadable,
    /// The events of a stream do not make a legal history. No row follows from such a stream.
    ReplayIllegalHistory,
    /// A view does not take an event that is in the log.
    ReplayEventRefused,
}

impl DriftCode {
    /// As it is written everywhere.
    pub fn as_str(self) -> &'static str {
        match self {
            DriftCode::ViewRowMissing => "VIEW_ROW_MISSING",
            DriftCode::ViewRowExtra => "VIEW_ROW_EXTRA",
            DriftCode::ViewRowDiffers => "VIEW_ROW_DIFFERS",
            DriftCode::ReplayEventUnreadable => "REPLAY_EVENT_UNREADABLE",
            DriftCode::ReplayIllegalHistory => "REPLAY_ILLEGAL_HISTORY",
            DriftCode::ReplayEventRefused => "REPLAY_EVENT_REFUSED",
        }
    }
}

impl Drift {
    /// About an event of the log.
    pub fn of_event(code: DriftCode, stream_id: StreamId, version: i32, message: String) -> Self {
        let key = format!("stream_id={stream_id} version={version}");
        Drift { code, view: "events", key, column: None, expected: None, found: None, message }
    }
}

impl Drift {
    /// About a job that runs and that no lease names.
    pub(super) fn of_lease(job: JobId) -> Self {
        let message =
            "it runs, but no lease that ends when its does names it: if its worker dies, nobody takes it \
            back; `bpc replay --repair` mends that"
                .to_owned();
        let (code, view, key) = (DriftCode::ViewRowMissing, "leases", format!("job_id={job}"));
        Drift { code, view, key, column: None, expected: None, found: None, message }
    }
}

/// Drift in the order it was found: all counted, the first kept.
#[derive(Debug, Default)]
pub(super) struct Drifts {
    pub(super) total: u64,
    pub(super) kept: Vec<Drift>,
}

impl Drifts {
    /// Count one, and keep it if there is room: text is made only for those that are kept.
    pub(super) fn add(&mut self, drift: impl FnOnce() -> Drift) {
        self.total += 1;
        if self.kept.len() < DRIFT_MAX {
            self.kept.push(drift());
        }
    }

    /// Those of `later` behind these.
    pub(super) fn append(&mut self, later: Drifts) {
        self.total += later.total;
        let room = DRIFT_MAX - self.kept.len();
        self.kept.extend(later.kept.into_iter().take(room));
    }
}
