//! verify has a connection of its own for reading everything: it gets in wherever the others do.

use bpc_eventstore::verify::{VerifyOptions, verify};
use bpc_eventstore::{Clock, Store, StoreOptions};
use bpc_testkit::TestDatabase;
use bpc_testkit::postgres::{Cluster, StopMode};

use crate::common::NOW;

use super::log::{SMALL, small_log};

/// As it is written in SQL, and in a URL.
const PASSWORD: (&str, &str) = ("a:b@c/d%20 é", "a%3Ab%40c%2Fd%2520%20%C3%A9");
/// Ways to ask for it, and how the server keeps it for them.
const WAYS: [(&str, &str); 3] =
    [("password", "scram-sha-256"), ("md5", "md5"), ("scram-sha-256", "scram-sha-256")];

#[tokio::test]
async fn postgres_may_ask_for_a_password_in_any_of_its_ways() {
    let cluster = Cluster::launch();
    let db = TestDatabase::on_cluster(&cluster).await;
    drop(small_log(&db).await);
    let mut rules = vec!["local all all trust".to_owned()];
    for (number, (way, kept)) in WAYS.into_iter().enumerate() {
        let role = format!("CREATE ROLE asked_{number} SUPERUSER LOGIN PASSWORD '{}'", PASSWORD.0);
        cluster.execute("postgres", &format!("SET password_encryption = '{kept}'; {role}"));
        rules.push(format!("host all asked_{number} all {way}"));
    }
    rules.push("host all all all trust".to_owned());
    let file = cluster.execute("postgres", "SHOW hba_file");
    let rules: Vec<String> = rules.iter().map(|rule| format!("('{rule}')")).collect();
    cluster.execute("postgres", &format!("COPY (VALUES {}) TO '{}'", rules.join(", "), file.trim()));
    cluster.restart(StopMode::Fast);

    let (_, place) = db.url().split_once('@').expect("a URL with a user");
    let options = StoreOptions { clock: Clock::manual(NOW), ..StoreOptions::default() };
    for (number, (way, _)) in WAYS.into_iter().enumerate() {
        let url = |password| format!("postgres://asked_{number}:{password}@{place}");
        assert!(Store::connect(&url("wrong"), options.clone()).await.is_err(), "{way} asks for nothing");
        let store = Store::connect(&url(PASSWORD.1), options.clone()).await.unwrap();
        let report = verify(&store, &VerifyOptions::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{way}: {:#?}", report.findings);
        assert_eq!(report.events, SMALL, "{way}");
    }
}

#[tokio::test]
async fn postgres_may_be_reached_by_its_socket() {
    let cluster = Cluster::launch();
    let db = TestDatabase::on_cluster(&cluster).await;
    drop(small_log(&db).await);
    let (_, name) = db.url().rsplit_once('/').expect("a URL with a database");
    let options = StoreOptions { clock: Clock::manual(NOW), ..StoreOptions::default() };
    let store = Store::connect(&cluster.socket_url(name), options).await.unwrap();
    let report = verify(&store, &VerifyOptions::default(), |_| {}).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(report.events, SMALL);
}
