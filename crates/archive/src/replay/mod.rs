//! An archive as the source of a replay: every view from files alone.

mod others;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bpc_projections::replay::{Drift, DriftCode, Folded, ReplayError, ReplaySource, Until};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::archive::Archive;
use crate::cache::{CacheKey, Caches};
use crate::error::ArchiveError;
use crate::fold::{Objection, ObjectionKind, PartFold, fold_archive};
use crate::segment::SegmentError;

use others::{Positions, read_others};

/// Pieces that wait to be written: folding is far ahead of any database.
const WAITING: usize = 2;

/// An archive directory. It is believed as it is: whoever wants to know whether it is what was signed asks
/// verify.
pub struct ArchiveSource {
    caches: Arc<Caches>,
}

impl ArchiveSource {
    /// The archive in a directory, with caches made by whoever has `key`.
    pub fn open(directory: &Path, key: CacheKey) -> Result<Self, ArchiveError> {
        Ok(ArchiveSource { caches: Arc::new(Caches::new(Archive::open(directory)?, key)) })
    }

    /// How many events it holds.
    pub fn size(&self) -> u64 {
        self.caches.archive().manifest().size
    }

    async fn read(&self, until: Until, to: &mut Folded<'_>) -> Result<(), ReplayError> {
        match until {
            Until::Size(size) if size > self.size() => {
                return Err(ReplayError::NotSealed { size, sealed: self.size() });
            }
            _ => {}
        }
        let mut others = Positions::below(self.size());
        let (parts, mut folded) = mpsc::channel(WAITING);
        let caches = self.caches.clone();
        let folding =
            spawn_blocking(move || fold_archive(&caches, until, |part| parts.blocking_send(part).is_ok()));
        while let Some(part) = folded.recv().await {
            take(part, &mut others, to).await;
        }
        ended(folding).await?;

        let (events, mut read) = mpsc::channel(WAITING);
        let caches = self.caches.clone();
        let reading = spawn_blocking(move || {
            read_others(&caches, &others, |frame| events.blocking_send(frame).is_ok())
        });
        while let Some(frame) = read.recv().await {
            for event_bytes in frame {
                to.event(event_bytes).await;
            }
        }
        ended(reading).await
    }
}

impl ReplaySource for ArchiveSource {
    fn replay<'a>(
        &'a mut self,
        until: Until,
        to: &'a mut Folded<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), ReplayError>> + Send + 'a>> {
        Box::pin(self.read(until, to))
    }
}

async fn take(part: PartFold, others: &mut Positions, to: &mut Folded<'_>) {
    let PartFold { events, other_streams, job_streams, jobs, others: positions, objections } = part;
    let broken = job_streams - jobs.len() as u64;
    for job in jobs.into_iter().map(Some).chain((0..broken).map(|_| None)) {
        to.job(job).await;
    }
    (0..other_streams).for_each(|_| to.stream());
    positions.into_iter().for_each(|position| others.insert(position));
    for objection in objections {
        to.drift(|| drift(objection));
    }
    to.events(events);
}

fn drift(objection: Objection) -> Drift {
    let Objection { stream_id, version, position, kind, .. } = objection;
    let code = match kind {
        ObjectionKind::Unreadable { .. } => DriftCode::ReplayEventUnreadable,
        _ => DriftCode::ReplayIllegalHistory,
    };
    match (stream_id, version) {
        (Some(stream), Some(version)) => Drift::of_event(code, stream, version.0 as i32, kind.to_string()),
        _ => Drift {
            code,
            view: "events",
            key: format!("position={position}"),
            column: None,
            expected: None,
            found: None,
            message: kind.to_string(),
        },
    }
}

async fn ended(work: JoinHandle<Result<(), SegmentError>>) -> Result<(), ReplayError> {
    let done = work.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
    done.map_err(|error| ReplayError::Archive { code: error.code(), source: error.into() })
}
