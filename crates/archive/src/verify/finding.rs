//! What verify found in an archive, and where.

use std::borrow::Cow;

use bpc_core::StreamId;
use serde::Serialize;
use uuid::Uuid;

use crate::fold::{Objection, ObjectionKind};

/// Something in the archive that is not as it was written. The serialised names are those of a finding in a
/// database, and `file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArchiveFinding {
    /// Stable. One of the codes in `docs/FORMAT.md`, or the code of the rule that an event's bytes break.
    pub code: Cow<'static, str>,
    /// The level that does not hold because of it: `L0` to `L3`.
    pub level: &'static str,
    /// The file that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
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
    /// What should be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// For people.
    pub message: String,
}

pub(super) const L0: &str = "L0";
pub(super) const L1: &str = "L1";
pub(super) const L2: &str = "L2";
pub(super) const L3: &str = "L3";

impl ArchiveFinding {
    /// About nothing in particular yet.
    pub(super) fn new(
        level: &'static str,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        ArchiveFinding {
            code: code.into(),
            level,
            file: None,
            stream_type: String::new(),
            stream: StreamId(Uuid::nil()),
            version: None,
            position: None,
            tile: None,
            checkpoint: None,
            expected: None,
            found: None,
            message: message.into(),
        }
    }

    /// About a file.
    pub(super) fn of_file(
        code: impl Into<Cow<'static, str>>,
        file: &str,
        message: impl Into<String>,
    ) -> Self {
        ArchiveFinding { file: Some(file.to_owned()), ..ArchiveFinding::new(L1, code, message) }
    }

    /// About an event that cannot stand where it stands.
    pub(super) fn of_objection(objection: &Objection) -> Self {
        let Objection { stream_id, stream_type, version, position, kind } = objection;
        let (code, expected, found): (Cow<'static, str>, _, _) = match kind {
            ObjectionKind::Unreadable { code, .. } => (code.clone().into(), None, None),
            ObjectionKind::Version { expected, found } => {
                let code = if found < expected { "VERSION_DUPLICATE" } else { "VERSION_GAP" };
                (code.into(), Some(expected.to_string()), Some(found.to_string()))
            }
            ObjectionKind::Chain { expected, found } => {
                ("HASH_MISMATCH".into(), Some(expected.clone()), Some(found.clone()))
            }
            ObjectionKind::Owner { expected, found } => {
                ("STREAM_MIXED".into(), Some(expected.clone()), Some(found.clone()))
            }
            ObjectionKind::Illegal(_) => ("ILLEGAL_HISTORY".into(), None, None),
        };
        ArchiveFinding {
            stream_type: stream_type.clone(),
            stream: stream_id.unwrap_or(StreamId(Uuid::nil())),
            version: version.map(|version| version.0.into()),
            position: Some(*position),
            expected,
            found,
            ..ArchiveFinding::new(L0, code, kind.to_string())
        }
    }

    /// With what should be there and what is.
    pub(super) fn instead(self, expected: impl ToString, found: impl ToString) -> Self {
        ArchiveFinding { expected: Some(expected.to_string()), found: Some(found.to_string()), ..self }
    }
}

/// All counted, the first ones kept.
#[derive(Debug)]
pub(super) struct Findings {
    max: usize,
    pub(super) total: u64,
    pub(super) kept: Vec<ArchiveFinding>,
    /// The lowest level of any of them.
    pub(super) lowest: Option<&'static str>,
}

impl Findings {
    pub(super) fn keeping(max: usize) -> Self {
        Findings { max, total: 0, kept: Vec::new(), lowest: None }
    }

    pub(super) fn add(&mut self, finding: ArchiveFinding) {
        self.total += 1;
        self.lowest = Some(self.lowest.map_or(finding.level, |lowest| lowest.min(finding.level)));
        if self.kept.len() < self.max {
            self.kept.push(finding);
        }
    }

    /// So many more, of which nothing is kept.
    pub(super) fn count(&mut self, hidden: u64) {
        self.total += hidden;
    }

    /// Those of `later` behind these.
    pub(super) fn append(&mut self, later: Findings) {
        let hidden = later.total - later.kept.len() as u64;
        later.kept.into_iter().for_each(|finding| self.add(finding));
        self.total += hidden;
        self.lowest = self.lowest.into_iter().chain(later.lowest).min();
    }
}
