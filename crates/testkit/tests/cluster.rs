//! A PostgreSQL cluster of one's own.

use std::time::{Duration, Instant};

use bpc_testkit::TestDatabase;
use bpc_testkit::postgres::{Cluster, StopMode};
use sqlx::{Connection, PgConnection};

#[test]
fn it_starts_durable_and_on_loopback_only() {
    let cluster = Cluster::launch();
    let show = |name: &str| cluster.execute("postgres", &format!("SHOW {name}"));
    assert_eq!(show("fsync"), "on");
    assert_eq!(show("synchronous_commit"), "on");
    assert_eq!(show("max_connections"), "200");
    assert_eq!(show("shared_buffers"), "256MB");
    assert_eq!(show("listen_addresses"), "127.0.0.1");
    assert_eq!(show("server_encoding"), "UTF8");
    assert_eq!(show("port"), cluster.port().to_string());
}

#[test]
fn settings_can_be_changed() {
    let cluster = Cluster::launch_with(&[("max_connections", "20"), ("work_mem", "1MB")]);
    let settings = "SELECT current_setting('max_connections'), current_setting('work_mem')";
    assert_eq!(cluster.execute("postgres", settings), "20|1MB");
}

#[test]
fn data_and_port_survive_a_stop_of_either_kind() {
    let cluster = Cluster::launch();
    let port = cluster.port();
    cluster.execute("postgres", "CREATE TABLE kept (n int)");
    for (row, mode) in [(1, StopMode::Fast), (2, StopMode::Immediate)] {
        cluster.execute("postgres", &format!("INSERT INTO kept VALUES ({row})"));
        cluster.restart(mode);
        let rows = cluster.execute("postgres", "SELECT count(*) FROM kept");
        assert_eq!(rows, row.to_string());
    }
    assert_eq!(cluster.port(), port);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_cuts_connections_and_refuses_new_ones() {
    let cluster = Cluster::launch();
    let db = TestDatabase::on_cluster(&cluster).await;
    let mut connection = PgConnection::connect(db.url()).await.unwrap();
    cluster.stop(StopMode::Fast);
    assert!(connection.ping().await.is_err());
    assert!(PgConnection::connect(db.url()).await.is_err());
    cluster.start();
    PgConnection::connect(db.url()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn it_listens_on_a_unix_socket_too() {
    let cluster = Cluster::launch();
    let url = cluster.socket_url("postgres");
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let address: Option<String> =
        sqlx::query_scalar("SELECT inet_client_addr()::text").fetch_one(&mut connection).await.unwrap();
    assert_eq!(address, None);
}

#[test]
fn dropping_it_stops_the_server() {
    let cluster = Cluster::launch();
    let address = ("127.0.0.1", cluster.port());
    std::net::TcpStream::connect(address).unwrap();
    let start = Instant::now();
    drop(cluster);
    assert!(std::net::TcpStream::connect(address).is_err());
    assert!(start.elapsed() < Duration::from_secs(10));
}
