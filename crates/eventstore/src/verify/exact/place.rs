//! Where a finding is, and the columns that are copies.

use bpc_core::{Envelope, StreamId};
use uuid::Uuid;

use super::cell::Cell;
use super::row::Stored;
use crate::verify::finding::{COLUMN_MISMATCH, Finding, Findings, L0};

/// An event being checked: its row, and its envelope if that can be read.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) stored: &'a Stored<'a>,
    pub(super) envelope: Option<&'a Envelope<'a>>,
}

impl Place<'_> {
    /// The version by which the row was ordered.
    pub(super) fn version(self) -> i64 {
        let column = self.stored.version.as_integer();
        column.or(self.envelope.map(|envelope| envelope.version.0.into())).unwrap_or(0)
    }

    /// A finding here, still without its message.
    pub(super) fn finding(self, code: &'static str) -> Finding {
        let said = |take: fn(&Envelope<'_>) -> Uuid| self.envelope.map(take);
        let stream = self.stored.stream_id.as_uuid().or(said(|envelope| envelope.stream_id.0));
        let stream_type = self.envelope.map(|envelope| envelope.stream_type.to_string());
        Finding {
            stream_type: stream_type.unwrap_or_else(|| self.stored.stream_type.to_string()),
            stream: StreamId(stream.unwrap_or_default()),
            version: Some(self.version()),
            event_id: self.stored.id.as_integer(),
            ..Finding::at_level(L0, code)
        }
    }

    /// Every copied column against the envelope.
    pub(super) fn check_columns(self, findings: &mut Findings) {
        let stored = self.stored;
        if !matches!(stored.event_bytes, Cell::Blob(_)) {
            findings.add(|| Finding {
                column: Some("event_bytes"),
                message: "the event is not stored as bytes".to_owned(),
                ..self.finding(COLUMN_MISMATCH)
            });
        }
        let Some(envelope) = self.envelope else {
            return;
        };
        let mut compare = |column, found: &Cell<'_>, expected: Cell<'_>| {
            if *found != expected {
                findings.add(|| Finding {
                    column: Some(column),
                    expected: Some(expected.to_string()),
                    found: Some(found.to_string()),
                    message: format!("column {column} is not what the event says"),
                    ..self.finding(COLUMN_MISMATCH)
                });
            }
        };
        compare("tenant_id", &stored.tenant_id, Cell::uuid(&envelope.tenant_id.0));
        compare("stream_type", &stored.stream_type, Cell::text(envelope.stream_type.as_bytes()));
        compare("stream_id", &stored.stream_id, Cell::uuid(&envelope.stream_id.0));
        compare("version", &stored.version, Cell::Integer(envelope.version.0.into()));
        compare("event_type", &stored.event_type, Cell::text(envelope.event_type.as_bytes()));
        compare("occurred_at", &stored.occurred_at, Cell::Integer(envelope.occurred_at.as_micros()));
    }
}
