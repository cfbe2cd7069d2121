//! What can go wrong with the log, by what a caller can do about it.

use bpc_core::envelope::EnvelopeError;
use bpc_core::{StreamId, Version};

/// A failed operation on the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else appended first. Read again, decide again.
    #[error(
        "stream {stream_id} is at version {found}, not {expected}: somebody else appended first; read it again and decide again"
    )]
    VersionConflict {
        /// Which stream.
        stream_id: StreamId,
        /// What the caller had seen.
        expected: Version,
        /// What is there.
        found: Version,
    },
    /// The same, noticed by the database's unique index, which names no stream.
    #[error("somebody else appended the same version first; read the stream again and decide again")]
    Conflict(#[source] sqlx::Error),
    /// The stream belongs to another tenant or is about something else.
    #[error("stream {0} exists and is about something else: use another stream id")]
    StreamMismatch(StreamId),
    /// The event may not be hashed.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// The database was busy for longer than anyone should wait.
    #[error(
        "the database stayed locked by other writers for {0:?}: look for a process that holds a transaction open"
    )]
    Busy(std::time::Duration),
    /// The database cannot be reached or went away.
    #[error("the database is unavailable: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// The text is not a database URL we know.
    #[error("{0:?} is not a database URL: use sqlite://FILE or postgres://USER@HOST/NAME")]
    BadUrl(String),
    /// The database was written by a newer program.
    #[error("the database has schema {found}, this program knows up to {known}: use a newer bpc")]
    SchemaTooNew {
        /// Version in the database.
        found: i64,
        /// Newest version known here.
        known: i64,
    },
    /// No tables yet.
    #[error("the database has no bpc schema yet: run `bpc init`")]
    NotInitialised,
    /// There is no such tenant.
    #[error("there is no tenant {0:?}: `bpc tenant list` shows them")]
    TenantNotFound(String),
    /// The slug is taken.
    #[error("tenant {0:?} exists already")]
    TenantExists(String),
    /// The slug is not allowed.
    #[error("tenant slug {0:?} is not allowed: use 1 to 63 of a-z, 0-9 and -, beginning with a letter")]
    TenantSlug(String),
    /// The key or its origin is not allowed.
    #[error("{value:?} is not allowed as {what} of a log key: use {rule}")]
    LogKeyInvalid {
        /// `origin` or `public key`.
        what: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// The key speaks for another origin already.
    #[error("the key speaks for origin {0:?} already: make a new key for another origin")]
    LogKeyExists(String),
    /// A row of the log does not decode.
    #[error("stored data is damaged: {0}; run `bpc verify`")]
    Damaged(String),
    /// Anything else the database said.
    #[error("the database refused the statement: {0}")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// For a URL as somebody gave it: its password stays out of the message.
    pub(crate) fn bad_url(url: &str) -> Self {
        StoreError::BadUrl(match (url.find("://"), url.rfind('@')) {
            (Some(scheme), Some(at)) if scheme < at => format!("{}://…{}", &url[..scheme], &url[at..]),
            _ => url.to_owned(),
        })
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::VersionConflict { .. } | StoreError::Conflict(_) => "EVENT_VERSION_CONFLICT",
            StoreError::StreamMismatch(_) => "STREAM_MISMATCH",
            StoreError::Envelope(error) => error.code(),
            StoreError::Busy(_) => "DATABASE_BUSY",
            StoreError::Unavailable(_) => "DATABASE_UNAVAILABLE",
            StoreError::BadUrl(_) => "DATABASE_URL_INVALID",
            StoreError::SchemaTooNew { .. } => "SCHEMA_TOO_NEW",
            StoreError::NotInitialised => "NOT_INITIALISED",
            StoreError::TenantNotFound(_) => "TENANT_NOT_FOUND",
            StoreError::TenantExists(_) => "TENANT_EXISTS",
            StoreError::TenantSlug(_) | StoreError::LogKeyInvalid { .. } => "VALIDATION_ERROR",
            StoreError::LogKeyExists(_) => "LOG_KEY_EXISTS",
            StoreError::Damaged(_) => "DATA_DAMAGED",
            StoreError::Database(_) => "DATABASE_ERROR",
        }
    }

    /// May the same call succeed later?
    pub fn is_retryable(&self) -> bool {
        self.is_conflict() || matches!(self, StoreError::Busy(_) | StoreError::Unavailable(_))
    }

    /// Did the server give a statement up because it took too long?
    pub fn is_statement_timeout(&self) -> bool {
        let StoreError::Unavailable(error) = self else {
            return false;
        };
        error.as_database_error().and_then(|it| it.code()).is_some_and(|code| code == "57014")
    }

    /// Did somebody else append first?
    pub fn is_conflict(&self) -> bool {
        matches!(self, StoreError::VersionConflict { .. } | StoreError::Conflict(_))
    }
}

/// One place maps what drivers say to what callers can do.
impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let Some(database) = error.as_database_error() else {
            return match error {
                sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed
                | sqlx::Error::BeginFailed => StoreError::Unavailable(error),
                sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                    StoreError::Damaged(error.to_string())
                }
                _ => StoreError::Database(error),
            };
        };
        if database.is_unique_violation() {
            return StoreError::Conflict(error);
        }
        let code = database.code().unwrap_or_default().into_owned();
        if database.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
            crate::postgres::classify(&code, error)
        } else {
            crate::sqlite::classify(&code, error)
        }
    }
}

/// The other driver of SQLite says the same by the same codes.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        /// `SQLITE_CONSTRAINT_PRIMARYKEY` and `SQLITE_CONSTRAINT_UNIQUE`.
        const UNIQUE: [i32; 2] = [1555, 2067];
        let code = match &error {
            rusqlite::Error::SqliteFailure(error, _) => error.extended_code,
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) => {
                return StoreError::Damaged(error.to_string());
            }
            _ => 0,
        };
        let error = sqlx::Error::AnyDriverError(Box::new(error));
        if UNIQUE.contains(&code) {
            return StoreError::Conflict(error);
        }
        crate::sqlite::classify(&code.to_string(), error)
    }
}
