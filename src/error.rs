//! Why a command did not do what was asked, and what the program then exits with.

use std::borrow::Cow;
use std::process::ExitCode;

use bpc_archive::{ArchiveError, ExportError};
use bpc_core::canonical::JsonError;
use bpc_eventstore::StoreError;
use bpc_eventstore::seal::{KeyFileError, ProveError, SealError};
use bpc_passport::pack::PackError;
use bpc_projections::CompletenessError;
use bpc_projections::replay::ReplayError;
use bpc_webhooks::WebhookError;
use bpc_worker::EngineError;

/// How a command ended. The numbers are part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// Findings, failed work, or refused by the rules.
    Findings = 1,
    /// Wrong use, bad configuration or no connection.
    WrongUse = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// One sentence with a stable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Stable, upper snake case.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// What the program exits with.
    pub exit: Exit,
}

impl Failure {
    /// The rules say no.
    pub fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), exit: Exit::Findings }
    }

    /// The caller has to change something before trying again.
    pub fn wrong_use(code: &'static str, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), exit: Exit::WrongUse }
    }

    /// The arguments contradict each other.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::wrong_use("USAGE", message)
    }

    /// An environment variable does not say what it should.
    pub fn config(variable: &str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self::wrong_use("CONFIG_INVALID", format!("{variable} {}", problem.into()))
    }
}

/// An error and what is behind it, as one sentence.
pub fn chained(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        said = format!("{said}: {cause}");
        next = cause.source();
    }
    said
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match error {
            StoreError::Busy(_)
            | StoreError::Unavailable(_)
            | StoreError::BadUrl(_)
            | StoreError::SchemaTooNew { .. }
            | StoreError::NotInitialised => Exit::WrongUse,
            _ => Exit::Findings,
        };
        Failure { code: error.code(), message: error.to_string(), exit }
    }
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Store(error) => error.into(),
            error => Failure::refused(error.code(), error.to_string()),
        }
    }
}

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Self {
        match error {
            ProveError::Store(error) => error.into(),
            error => Failure::refused(error.code(), error.to_string()),
        }
    }
}

impl From<KeyFileError> for Failure {
    fn from(error: KeyFileError) -> Self {
        Failure::wrong_use(error.code(), error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            error => Failure::refused(error.code(), error.to_string()),
        }
    }
}

impl From<WebhookError> for Failure {
    fn from(error: WebhookError) -> Self {
        match error {
            WebhookError::Engine(error) => error.into(),
            error => Failure::refused(error.code(), error.to_string()),
        }
    }
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        match error {
            PackError::Engine(error) => error.into(),
            error if error.code() == "INPUT_UNREADABLE" => {
                Failure::wrong_use("INPUT_UNREADABLE", error.to_string())
            }
            error => Failure::refused(error.code(), error.to_string()),
        }
    }
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Failure::refused(error.kind.code(), error.to_string())
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        let (code, said) = (error.code(), error.to_string());
        match error {
            // The step and its cause make one sentence.
            ReplayError::Source(cause)
            | ReplayError::Target(cause)
            | ReplayError::Projection { source: cause, .. } => {
                let Failure { message, exit, .. } = Failure::from(cause);
                Failure { code, message: format!("{said}: {message}"), exit }
            }
            ReplayError::Archive { source, .. } => {
                Failure::wrong_use(code, format!("{said}: {}", chained(&*source)))
            }
            ReplayError::TargetFile { source, .. } => Failure::wrong_use(code, format!("{said}: {source}")),
            ReplayError::TargetExists(_) => Failure::wrong_use(code, said),
            ReplayError::Scratch(cause) => Failure::wrong_use(code, format!("{said} ({cause})")),
            _ => Failure::refused(code, said),
        }
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Store(error) => error.into(),
            error @ (ArchiveError::Io { .. } | ArchiveError::Missing(_) | ArchiveError::Locked(_)) => {
                Failure::wrong_use(error.code(), chained(&error))
            }
            error => Failure::refused(error.code(), chained(&error)),
        }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => error.into(),
            error @ (ExportError::Io { .. } | ExportError::Parquet(_)) => {
                Failure::wrong_use(error.code(), chained(&error))
            }
            error => Failure::refused(error.code(), chained(&error)),
        }
    }
}

impl From<CompletenessError> for Failure {
    fn from(error: CompletenessError) -> Self {
        match error {
            CompletenessError::Store(error) => error.into(),
            error @ CompletenessError::History { .. } => Failure::refused("ILLEGAL_HISTORY", chained(&error)),
        }
    }
}
