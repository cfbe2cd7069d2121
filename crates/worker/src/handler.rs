//! What a pack writes: a handler per job type.

use std::borrow::Cow;
use std::pin::Pin;
use std::time::Duration;

use bpc_core::canonical::JsonError;
use bpc_core::job::ErrorInfo;
use bpc_core::{JobId, TenantId, Timestamp};
use bpc_eventstore::StoreError;
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::effects::Effects;
use crate::policy::JobPolicy;

/// Runs the jobs of one type.
///
/// An attempt may be run again after a crash, so a handler decides from what it reads and returns
/// what it wants committed; it writes nothing itself. What it does outside (a request, a mail) happens
/// at least once: give it [`Job::delivery_id`], which stays the same for every attempt of a job.
pub trait Handler: Send + Sync + 'static {
    /// Name of the job type.
    const TYPE: &'static str;

    /// What the job carries. A payload that does not decode fails the job for good.
    type Payload: DeserializeOwned + Send + Sync;

    /// How jobs of this type are treated.
    fn policy(&self) -> JobPolicy {
        JobPolicy::default()
    }

    /// Run one attempt.
    fn handle(
        &self,
        job: &Job<Self::Payload>,
        cx: &Context,
    ) -> impl Future<Output = Result<Effects, HandlerError>> + Send;
}

/// A job as its handler sees it.
#[derive(Clone, Debug)]
pub struct Job<P> {
    /// Its id.
    pub id: JobId,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Queue it waited in.
    pub queue: String,
    /// 0 to 3, lower first.
    pub priority: u8,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// How many there can be.
    pub max_attempts: u32,
    /// When it was enqueued.
    pub created_at: Timestamp,
    /// What it carries.
    pub payload: P,
}

impl<P> Job<P> {
    /// Names this job to the outside world, the same for every attempt.
    pub fn delivery_id(&self) -> String {
        self.id.to_string()
    }
}

/// Why an attempt did not succeed.
#[derive(Clone, Debug, PartialEq)]
pub enum HandlerError {
    /// It failed.
    Failed(ErrorInfo),
    /// It saw the cancel request and stopped.
    Cancelled,
    /// Not yet: ask again after a while. Spends no attempt.
    Snooze(Duration),
}

impl HandlerError {
    /// Another attempt may help.
    pub fn retryable(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::failed(code, message, true)
    }

    /// No other attempt would help.
    pub fn permanent(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::failed(code, message, false)
    }

    fn failed(code: impl Into<Cow<'static, str>>, message: impl Into<String>, retryable: bool) -> Self {
        let code = code.into().into_owned();
        HandlerError::Failed(ErrorInfo { code, message: message.into(), retryable, detail: None })
    }

    /// Add detail for whoever looks at the job later.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        if let HandlerError::Failed(error) = &mut self {
            error.detail = Some(detail.into());
        }
        self
    }
}

/// What the handler wants recorded breaks a rule of canonical JSON; no other attempt would help.
impl From<JsonError> for HandlerError {
    fn from(error: JsonError) -> Self {
        Self::permanent(error.kind.code(), error.to_string())
    }
}

impl From<StoreError> for HandlerError {
    fn from(error: StoreError) -> Self {
        Self::failed(error.code(), error.to_string(), error.is_retryable())
    }
}

/// A job before its payload is decoded.
pub(crate) type RawJob = Job<Vec<u8>>;

pub(crate) type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<Effects, HandlerError>> + Send + 'a>>;

/// A handler without its payload type.
pub(crate) trait ErasedHandler: Send + Sync {
    fn run<'a>(&'a self, job: RawJob, cx: &'a Context) -> HandlerFuture<'a>;
}

impl<H: Handler> ErasedHandler for H {
    fn run<'a>(&'a self, job: RawJob, cx: &'a Context) -> HandlerFuture<'a> {
        Box::pin(async move {
            let payload = serde_json::from_slice(&job.payload).map_err(|error| {
                HandlerError::permanent(
                    "VALIDATION_ERROR",
                    format!("the payload of {} does not fit: {error}", H::TYPE),
                )
            })?;
            let Job { id, tenant_id, queue, priority, attempt, max_attempts, created_at, .. } = job;
            let job = Job { id, tenant_id, queue, priority, attempt, max_attempts, created_at, payload };
            self.handle(&job, cx).await
        })
    }
}
