//! A run of rows in order, checked on a thread of its own.

use tokio::sync::oneshot;

use super::cell::Cell;
use super::row::EventRow;
use super::stream::StreamCheck;
use crate::verify::finding::Findings;

/// How the chunk before ended: its last stream may go on in this one.
pub(super) struct Before {
    /// That stream.
    pub(super) stream_id: Cell<'static>,
    /// What was known of it in the end, once that chunk is checked.
    pub(super) check: oneshot::Receiver<StreamCheck>,
}

/// What came of a chunk.
pub(in crate::verify) struct Checked {
    pub(in crate::verify) events: u64,
    pub(in crate::verify) streams: u64,
    pub(in crate::verify) jobs: u64,
    pub(in crate::verify) findings: Findings,
}

/// Check a chunk. The streams that begin in it come first, because they need nothing from the chunk
/// before: only then the rest of the stream that began there.
pub(super) fn check<R: EventRow>(
    rows: &[R],
    before: Option<Before>,
    last: oneshot::Sender<StreamCheck>,
    findings_max: usize,
) -> Checked {
    let lead = before
        .as_ref()
        .map_or(0, |before| rows.iter().take_while(|row| row.stream_id() == before.stream_id).count());
    let (lead, body) = rows.split_at(lead);
    let (mut of_lead, mut of_body) = (Checked::nothing(findings_max), Checked::nothing(findings_max));
    let mut last = Some(last);
    if let Some(check) = of_body.streams(body) {
        hand_over(&mut last, check);
    }
    if let (Some(before), false) = (before, lead.is_empty()) {
        // No answer means that the program is ending, or that the run has seen the chunk before panic:
        // either way nobody asks for this one.
        let Ok(mut check) = before.check.blocking_recv() else {
            return of_body;
        };
        lead.iter().for_each(|row| of_lead.event(row, &mut check));
        hand_over(&mut last, check);
    }
    of_lead.append(of_body);
    of_lead
}

/// To the next chunk, if there is one that wants it. Only the first time counts: the stream that the
/// body ends with comes after that of the lead.
fn hand_over(last: &mut Option<oneshot::Sender<StreamCheck>>, check: StreamCheck) {
    if let Some(last) = last.take() {
        let _ = last.send(check);
    }
}

impl Checked {
    pub(super) fn nothing(findings_max: usize) -> Self {
        Checked { events: 0, streams: 0, jobs: 0, findings: Findings::keeping(findings_max) }
    }

    /// Check streams from their beginning; what is known of the last one is returned.
    fn streams<R: EventRow>(&mut self, rows: &[R]) -> Option<StreamCheck> {
        let mut last = None;
        for rows in rows.chunk_by(|a, b| a.stream_id() == b.stream_id()) {
            let mut check = StreamCheck::default();
            rows.iter().for_each(|row| self.event(row, &mut check));
            self.streams += 1;
            self.jobs += u64::from(check.is_job());
            last = Some(check);
        }
        last
    }

    fn event<R: EventRow>(&mut self, row: &R, check: &mut StreamCheck) {
        self.events += 1;
        check.take(&row.stored(), &mut self.findings);
    }

    pub(super) fn append(&mut self, later: Checked) {
        self.events += later.events;
        self.streams += later.streams;
        self.jobs += later.jobs;
        self.findings.append(later.findings);
    }
}
