//! A finding as people are told of it, whether it was found in a database or in an archive.

use bpc_archive::ArchiveFinding;
use bpc_eventstore::verify::Finding;

/// What, where, and what stands there instead.
pub struct Told {
    pub code: String,
    pub level: &'static str,
    pub place: String,
    pub message: String,
    /// `expected` and `found`, as far as they are known.
    pub values: Vec<(&'static str, String)>,
}

impl From<&Finding> for Told {
    fn from(finding: &Finding) -> Self {
        let mut parts = Vec::new();
        if !finding.stream_type.is_empty() {
            parts.push(format!("{} {}", finding.stream_type, finding.stream));
        }
        let optional = [
            finding.version.map(|version| format!("version {version}")),
            finding.position.map(|position| format!("position {position}")),
            finding.tile.clone(),
            finding.checkpoint.map(|size| format!("checkpoint of size {size}")),
            finding.column.map(|column| format!("column {column}")),
        ];
        parts.extend(optional.into_iter().flatten());
        Told {
            code: finding.code.to_owned(),
            level: finding.level,
            place: parts.join(" "),
            message: finding.message.clone(),
            values: values(finding.expected.as_ref(), finding.found.as_ref()),
        }
    }
}

impl From<&ArchiveFinding> for Told {
    fn from(finding: &ArchiveFinding) -> Self {
        let file = finding.file.iter().filter(|file| finding.tile.as_ref() != Some(file));
        let mut parts: Vec<String> = file.map(|file| format!("file {file}")).collect();
        if !finding.stream_type.is_empty() {
            parts.push(format!("{} {}", finding.stream_type, finding.stream));
        }
        let optional = [
            finding.version.map(|version| format!("version {version}")),
            finding.position.map(|position| format!("position {position}")),
            finding.tile.clone(),
            finding.checkpoint.map(|size| format!("checkpoint of size {size}")),
        ];
        parts.extend(optional.into_iter().flatten());
        Told {
            code: finding.code.to_string(),
            level: finding.level,
            place: parts.join(" "),
            message: finding.message.clone(),
            values: values(finding.expected.as_ref(), finding.found.as_ref()),
        }
    }
}

fn values(expected: Option<&String>, found: Option<&String>) -> Vec<(&'static str, String)> {
    let named = [("expected", expected), ("found", found)];
    named.into_iter().filter_map(|(name, value)| Some((name, value?.clone()))).collect()
}
