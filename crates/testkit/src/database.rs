//! One fresh database for one test.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::database_url::with_database;
use crate::postgres::Cluster;
use crate::random;
use crate::scratch::Scratch;

/// Names a PostgreSQL server to use, by the address of any database a superuser may connect to.
/// Without it, each test process starts a cluster of its own when the first test asks for one.
const SERVER: &str = "BPC_TEST_POSTGRES_URL";

/// How long a vanished server may delay a test that wants to remove its database.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);

/// The database products a test can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

/// An empty database that belongs to one test and is removed with this value.
pub struct TestDatabase {
    url: String,
    storage: Storage,
}

enum Storage {
    Postgres { server: String, name: String },
    Sqlite { file: PathBuf, _directory: Scratch },
}

impl TestDatabase {
    /// A new database on the PostgreSQL server of this test run.
    ///
    /// # Panics
    ///
    /// When there is no server and none can be started.
    pub async fn postgres() -> Self {
        let server =
            tokio::task::spawn_blocking(server_of_run).await.expect("a PostgreSQL server for this run");
        Self::on_server(server).await
    }

    /// A new database on a cluster the test has for itself, say to stop it.
    ///
    /// # Panics
    ///
    /// When the cluster does not answer.
    pub async fn on_cluster(cluster: &Cluster) -> Self {
        Self::on_server(&cluster.url("postgres")).await
    }

    /// The address of a new SQLite file in a directory of its own. The file does not exist yet.
    pub fn sqlite() -> Self {
        let directory = Scratch::new("sqlite");
        let file = directory.path().join("test.db");
        let url = format!("sqlite://{}", file.display());
        let storage = Storage::Sqlite { file, _directory: directory };
        Self { url, storage }
    }

    /// Where it is: `postgres://…` or `sqlite:///…`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Which product it is.
    pub fn kind(&self) -> DatabaseKind {
        match self.storage {
            Storage::Postgres { .. } => DatabaseKind::Postgres,
            Storage::Sqlite { .. } => DatabaseKind::Sqlite,
        }
    }

    /// The SQLite file's path, and nothing for PostgreSQL.
    pub fn path(&self) -> Option<&Path> {
        match &self.storage {
            Storage::Postgres { .. } => None,
            Storage::Sqlite { file, .. } => Some(file),
        }
    }

    /// Removes the database now rather than at the end of the scope.
    pub fn close(self) {
        drop(self);
    }

    async fn on_server(server: &str) -> Self {
        let name = format!("bpc_test_{}", random::hex());
        let create = format!("CREATE DATABASE {name} TEMPLATE template0");
        execute(server, create)
            .await
            .unwrap_or_else(|error| panic!("cannot create a database at {server}: {error}"));
        let url = with_database(server, &name);
        let server = server.to_owned();
        let storage = Storage::Postgres { server, name };
        Self { url, storage }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Storage::Postgres { server, name } = &self.storage {
            let server = server.clone();
            let remove = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            // Nothing may block on the runtime this may be dropped on, so another one does it.
            let removal = std::thread::spawn(move || remove_database(&server, remove));
            let _ = removal.join();
        }
    }
}

/// Best effort: the server may be gone, and goes at the end of the run in any case.
fn remove_database(server: &str, statement: String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    if let Ok(runtime) = runtime {
        runtime.block_on(async {
            let _ = tokio::time::timeout(REMOVAL_TIMEOUT, execute(server, statement)).await;
        });
    }
}

async fn execute(server: &str, statement: String) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(server).await?;
    connection.execute(AssertSqlSafe(statement)).await?;
    connection.close().await
}

fn server_of_run() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    URL.get_or_init(|| match std::env::var(SERVER) {
        Ok(url) if !url.is_empty() => url,
        _ => CLUSTER.get_or_init(Cluster::launch).url("postgres"),
    })
}
