//! The log and its views, read past the engine.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use bpc_testkit::{DatabaseKind, TestDatabase};
use serde_json::Value;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::types::Uuid;
use sqlx::{AssertSqlSafe, SqlSafeStr};

/// A connection that knows nothing of the engine.
pub enum Log {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// The same statement on either; both know `$1`.
macro_rules! on {
    ($log:expr, $pool:ident => $body:expr) => {
        match $log {
            Log::Postgres($pool) => $body.expect("the statement runs on PostgreSQL"),
            Log::Sqlite($pool) => $body.expect("the statement runs on SQLite"),
        }
    };
}

/// An event as its bytes tell it.
#[derive(Clone, Debug)]
pub struct Event {
    pub stream: String,
    pub event_type: String,
    pub actor: String,
    pub payload: Value,
}

impl Log {
    /// Connects; the database must be there.
    pub async fn open(db: &TestDatabase) -> Self {
        Self::connect(db, Duration::from_secs(30)).await
    }

    /// The same, but it does not wait for an SQLite file that somebody else holds.
    pub async fn impatient(db: &TestDatabase) -> Self {
        Self::connect(db, Duration::ZERO).await
    }

    async fn connect(db: &TestDatabase, busy_timeout: Duration) -> Self {
        match db.kind() {
            DatabaseKind::Postgres => {
                let pool = PgPoolOptions::new().max_connections(1).connect(db.url()).await;
                Log::Postgres(pool.expect("PostgreSQL answers"))
            }
            DatabaseKind::Sqlite => {
                let options = SqliteConnectOptions::from_str(db.url()).expect("a URL");
                let options = options.busy_timeout(busy_timeout);
                let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await;
                Log::Sqlite(pool.expect("the SQLite file opens"))
            }
        }
    }

    /// Every event of streams of one type, by stream and version.
    pub async fn events(&self, stream_type: &str) -> BTreeMap<String, Vec<Event>> {
        let sql = "SELECT event_bytes FROM log_events WHERE stream_type = $1 ORDER BY stream_id, version";
        let rows: Vec<Vec<u8>> =
            on!(self, pool => sqlx::query_scalar(sql).bind(stream_type).fetch_all(pool).await);
        let mut streams: BTreeMap<String, Vec<Event>> = BTreeMap::new();
        for event in rows.iter().map(|bytes| Event::read(bytes)) {
            streams.entry(event.stream.clone()).or_default().push(event);
        }
        streams
    }

    /// The events of one job.
    pub async fn job(&self, job: &str) -> Vec<Event> {
        let sql = "SELECT event_bytes FROM log_events WHERE stream_id = $1 ORDER BY version";
        let id = Uuid::from_str(job).expect("a job id");
        let rows: Vec<Vec<u8>> = on!(self, pool => sqlx::query_scalar(sql).bind(id).fetch_all(pool).await);
        rows.iter().map(|bytes| Event::read(bytes)).collect()
    }

    /// The types of the events of one job.
    pub async fn types(&self, job: &str) -> Vec<String> {
        self.job(job).await.into_iter().map(|event| event.event_type).collect()
    }

    /// How many events of a type there are.
    pub async fn count(&self, event_type: &str) -> i64 {
        let sql = "SELECT count(*) FROM log_events WHERE event_type = $1";
        on!(self, pool => sqlx::query_scalar(sql).bind(event_type).fetch_one(pool).await)
    }

    /// One number.
    pub async fn number(&self, sql: &str) -> i64 {
        on!(self, pool => sqlx::query_scalar(safe(sql)).fetch_one(pool).await)
    }

    /// Run a statement behind the engine's back. Returns how many rows it changed.
    pub async fn execute(&self, sql: &str) -> u64 {
        match self.try_execute(sql).await {
            Ok(rows) => rows,
            Err(error) => panic!("{sql}: {error}"),
        }
    }

    /// The same, for a statement that may be refused.
    pub async fn try_execute(&self, sql: &str) -> Result<u64, sqlx::Error> {
        match self {
            Log::Postgres(pool) => Ok(sqlx::query(safe(sql)).execute(pool).await?.rows_affected()),
            Log::Sqlite(pool) => Ok(sqlx::query(safe(sql)).execute(pool).await?.rows_affected()),
        }
    }

    /// The bytes of one event.
    pub async fn bytes(&self, stream: &str, version: i32) -> Vec<u8> {
        let sql = "SELECT event_bytes FROM log_events WHERE stream_id = $1 AND version = $2";
        let id = Uuid::from_str(stream).expect("a stream id");
        on!(self, pool => sqlx::query_scalar(sql).bind(id).bind(version).fetch_one(pool).await)
    }

    /// Put other bytes in their place.
    pub async fn set_bytes(&self, stream: &str, version: i32, bytes: Vec<u8>) {
        let sql = "UPDATE events SET event_bytes = $1 WHERE stream_id = $2 AND version = $3";
        let id = Uuid::from_str(stream).expect("a stream id");
        on!(self, pool => sqlx::query(sql).bind(bytes).bind(id).bind(version).execute(pool).await.map(drop));
    }

    /// Lift the guard rail that refuses changes of events.
    pub async fn lift_guard(&self) {
        match self {
            Log::Postgres(_) => {
                self.execute("DROP TRIGGER events_append_only ON events").await;
            }
            Log::Sqlite(_) => {
                self.execute("DROP TRIGGER events_refuse_update").await;
                self.execute("DROP TRIGGER events_refuse_delete").await;
            }
        }
    }

    /// An id as this database spells it in SQL.
    pub fn id(&self, id: &str) -> String {
        match self {
            Log::Postgres(_) => format!("'{id}'"),
            Log::Sqlite(_) => format!("x'{}'", id.replace('-', "")),
        }
    }
}

impl Event {
    fn read(bytes: &[u8]) -> Self {
        let envelope: Value = serde_json::from_slice(bytes).expect("an event is JSON");
        let field = |name: &str| envelope[name].as_str().unwrap_or_default().to_owned();
        Event {
            stream: field("stream_id"),
            event_type: field("event_type"),
            actor: field("actor"),
            payload: envelope["payload"].clone(),
        }
    }
}

/// How many events of a type a history has.
pub fn count(events: &[Event], event_type: &str) -> usize {
    events.iter().filter(|event| event.event_type == event_type).count()
}

fn safe(sql: &str) -> sqlx::SqlStr {
    AssertSqlSafe(sql.to_owned()).into_sql_str()
}
