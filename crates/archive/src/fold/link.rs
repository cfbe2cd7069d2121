//! The runs of one part, linked to whole streams.

use std::collections::HashMap;
use std::error::Error;

use bpc_core::job::{FoldError, Occurrence, STREAM_TYPE, fold, fold_on};
use bpc_core::{Hash, Head, Job, JobId, StreamId, TenantId, Timestamp, Version};
use bpc_projections::replay::Until;
use uuid::Uuid;

use crate::cache::{ArchivedPart, ArchivedRun, Said};

use super::{FoldOptions, Objection, ObjectionKind, PartFold};

/// Takes a part of one segment after the other, then the next part.
pub(super) struct PartLinker {
    options: FoldOptions,
    /// Where in `streams` each of them is: a small table grows faster than one of whole states.
    places: HashMap<StreamId, usize>,
    streams: Vec<Linked>,
    folded: PartFold,
}

/// A stream as far as it was read.
struct Linked {
    tenant_id: TenantId,
    /// Left empty for jobs, of which there are many.
    other_type: Box<str>,
    is_job: bool,
    head: Head,
    job: Option<Job>,
    /// No state follows any more: it lies behind the end, or behind an event that cannot be.
    is_over: bool,
}

impl PartLinker {
    pub(super) fn new(options: FoldOptions) -> Self {
        PartLinker { options, places: HashMap::new(), streams: Vec::new(), folded: PartFold::default() }
    }

    /// The part of the next segment, whose first event stands at `first`.
    pub(super) fn take(&mut self, part: &ArchivedPart, first: u64) {
        for unreadable in part.unreadable.iter() {
            let position = first + u64::from(unreadable.index.to_native());
            if matches!(self.options.until, Until::Size(size) if position >= size) {
                continue;
            }
            self.folded.events += 1;
            let (code, reason) = (unreadable.code.to_string(), unreadable.reason.to_string());
            let kind = ObjectionKind::Unreadable { code, reason };
            let stream_type = String::new();
            self.folded.objections.push(Objection {
                stream_id: None,
                stream_type,
                version: None,
                position,
                kind,
            });
        }
        for run in part.runs.iter() {
            self.take_run(part, run, first);
        }
    }

    /// Everything of a part was taken; the next one is taken in the same memory.
    pub(super) fn finish(&mut self) -> PartFold {
        let mut folded = std::mem::take(&mut self.folded);
        folded.jobs.reserve_exact(self.streams.len());
        self.places.clear();
        for linked in self.streams.drain(..).filter(|linked| linked.head != Head::NONE) {
            if linked.is_job {
                folded.job_streams += 1;
                folded.jobs.extend(linked.job);
            } else {
                folded.other_streams += 1;
            }
        }
        folded
    }

    fn take_run(&mut self, part: &ArchivedPart, run: &ArchivedRun, first: u64) {
        let stream_id = StreamId(Uuid::from_bytes(run.stream_id));
        let owner = Owner::of(part, run);
        let options = self.options;
        let place = *self.places.entry(stream_id).or_insert_with(|| {
            self.streams.push(owner.begin());
            self.streams.len() - 1
        });
        let linked = &mut self.streams[place];
        let mut is_first = true;
        for (entry, version) in run.events.iter().zip(run.first_version.to_native()..) {
            let position = first + u64::from(entry.index.to_native());
            if matches!(options.until, Until::Size(size) if position >= size) {
                break;
            }
            self.folded.events += 1;
            let at = Timestamp::from_micros(entry.at.to_native());
            // Within a stream the clock may have gone back; what counts is the first event that is later.
            linked.is_over |= !options.until.includes(at);
            if linked.is_over && !options.goes_on {
                continue;
            }
            let version = Version(version);
            let mut object = |kind, linked: &mut Linked| {
                linked.is_over = true;
                linked.job = None;
                let (stream_id, stream_type) = (Some(stream_id), owner.stream_type.to_owned());
                let version = Some(version);
                self.folded.objections.push(Objection { stream_id, stream_type, version, position, kind });
            };
            if std::mem::take(&mut is_first) {
                let place = linked.place(&owner, run, version);
                let is_duplicate = version <= linked.head.version;
                if let Some(kind) = place {
                    object(kind, linked);
                }
                if linked.is_over && !options.goes_on {
                    continue;
                }
                if is_duplicate {
                    // The stream goes on from where it was; one finding is enough for all of these.
                    break;
                }
                linked.own(&owner);
            }
            linked.head = Head { version, hash: Hash(entry.hash) };
            match entry.step.said(part) {
                Said::Other => self.folded.others.push(position),
                _ if linked.is_over => {}
                Said::Unfit(reason) => object(ObjectionKind::Illegal(reason.to_owned()), linked),
                Said::Job(event) => {
                    let (tenant_id, head) = (linked.tenant_id, linked.head);
                    let occurrence = Occurrence { tenant_id, job_id: JobId(stream_id.0), head, at };
                    let folded = match &mut linked.job {
                        Some(job) => fold_on(job, &event, occurrence),
                        None => fold(None, &event, occurrence).map(|job| linked.job = Some(job)),
                    };
                    if let Err(error) = folded {
                        object(ObjectionKind::Illegal(with_cause(&error)), linked);
                    }
                }
            }
        }
    }
}

/// Whose run it is.
struct Owner<'a> {
    tenant_id: TenantId,
    stream_type: &'a str,
}

impl<'a> Owner<'a> {
    fn of(part: &'a ArchivedPart, run: &ArchivedRun) -> Self {
        let tenant_id = TenantId(Uuid::from_bytes(run.tenant_id));
        Owner { tenant_id, stream_type: part.name(run.stream_type.to_native()) }
    }

    fn is_job(&self) -> bool {
        self.stream_type == STREAM_TYPE
    }

    fn begin(&self) -> Linked {
        Linked {
            tenant_id: self.tenant_id,
            other_type: if self.is_job() { Box::default() } else { self.stream_type.into() },
            is_job: self.is_job(),
            head: Head::NONE,
            job: None,
            is_over: false,
        }
    }
}

impl Linked {
    /// Why a run that begins with `version` cannot stand here.
    fn place(&self, owner: &Owner<'_>, run: &ArchivedRun, version: Version) -> Option<ObjectionKind> {
        let expected = self.head.version.next();
        if version != expected {
            return Some(ObjectionKind::Version { expected, found: version });
        }
        let previous = run.previous.as_ref();
        if previous != Some(&self.head.hash.0) {
            let found = previous.map_or_else(|| "nothing".to_owned(), |hash| Hash(*hash).to_string());
            return Some(ObjectionKind::Chain { expected: self.head.hash.to_string(), found });
        }
        if !self.is_owned_by(owner) {
            let about = |stream_type: &str, tenant| format!("a {stream_type} of tenant {tenant}");
            let stream_type = if self.is_job { STREAM_TYPE } else { &*self.other_type };
            let expected = about(stream_type, self.tenant_id);
            return Some(ObjectionKind::Owner { expected, found: about(owner.stream_type, owner.tenant_id) });
        }
        None
    }

    fn is_owned_by(&self, owner: &Owner<'_>) -> bool {
        self.tenant_id == owner.tenant_id
            && self.is_job == owner.is_job()
            && (self.is_job || *self.other_type == *owner.stream_type)
    }

    /// After a change the new owner counts, so that each change is one objection.
    fn own(&mut self, owner: &Owner<'_>) {
        if !self.is_owned_by(owner) {
            let Linked { tenant_id, other_type, is_job, .. } = owner.begin();
            (self.tenant_id, self.other_type, self.is_job) = (tenant_id, other_type, is_job);
        }
    }
}

fn with_cause(error: &FoldError) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
