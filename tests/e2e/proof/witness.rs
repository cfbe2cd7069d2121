//! A witness as a real process, asked by real logs.

use bpc_testkit::process::{Bpc, Running, Signal};
use bpc_testkit::{DatabaseKind, eventually, on_both_databases};

use crate::harness::{BINARY, PATIENCE, enqueue, error, text};

use super::common::{file, sealed, vkey};

on_both_databases! {
    async fn a_witness_signs_what_continues_and_refuses_the_past_even_after_a_restart(db) {
        let (bpc, _) = sealed(&db);
        let witness = Bpc::without_database(BINARY);
        let (mut running, url, key) = start(&witness, &vkey(&bpc)).await;
        let ask = |url: &str| bpc.run(["witness", "ask", url, "--key", &key, "--json"]);
        let first = ask(&url).expect_success().json();
        assert!(text(&first, "note").contains("witness.example/w"), "{first}");
        assert!(bpc.run(["checkpoint"]).expect_success().stdout.contains("witness.example/w"), "it is kept");
        let verified = bpc.run(["verify", "--witness", &key, "--json"]).expect_success().json();
        assert_eq!((&verified["level"], &verified["held"]), (&"L3".into(), &"L3".into()), "{verified}");

        enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        bpc.run(["seal", "--once"]).expect_success();
        ask(&url).expect_success();
        ask(&url).expect_success();
        running.signal(Signal::Term);
        running.wait(PATIENCE).expect_success();

        // What it signed, it knows.
        let (mut running, url, again) = start(&witness, &vkey(&bpc)).await;
        assert_eq!(again, key);
        let old = file(&bpc, "old.txt", format!("old 0\n\n{}", text(&first, "note")));
        let (status, body) = post(&url, &std::fs::read(old).unwrap()).await;
        assert_eq!((status, body.as_str()), (409, "6\n"), "an old checkpoint is not signed again");
        ask(&url).expect_success();
        assert_eq!(post(&url, b"nonsense").await.0, 400);
        running.signal(Signal::Kill);
        running.wait(PATIENCE);
        assert_eq!(error(&ask(&url).expect_code(2)).0, "WITNESS_UNAVAILABLE");
    }

    /// Two copies of one log with one key: the witness saw one of them go on.
    async fn a_fork_is_refused(db) {
        if db.kind() != DatabaseKind::Sqlite {
            return;
        }
        let (bpc, _) = sealed(&db);
        let path = db.path().unwrap();
        let fork = path.with_file_name("fork.db");
        std::fs::copy(path, &fork).unwrap();
        std::fs::copy(path.with_extension("db.key"), fork.with_extension("db.key")).unwrap();
        let fork = format!("sqlite://{}", fork.display());
        let witness = Bpc::without_database(BINARY);
        let (_running, url, key) = start(&witness, &vkey(&bpc)).await;
        enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        bpc.run(["seal", "--once"]).expect_success();
        bpc.run(["witness", "ask", &url, "--key", &key]).expect_success();
        for jobs in ["1", "2"] {
            bpc.run(["enqueue", "DRILL_FAIL", "--count", jobs, "--database", &fork]).expect_success();
            bpc.run(["seal", "--once", "--database", &fork]).expect_success();
            let refused = bpc.run(["witness", "ask", &url, "--key", &key, "--database", &fork, "--json"]);
            let code = error(&refused.expect_code(1)).0;
            let expected = if jobs == "1" { "WITNESS_CONFLICT" } else { "WITNESS_NOT_CONTINUED" };
            assert_eq!(code, expected, "the same size with another root, then a larger one");
        }
    }

    async fn a_witness_signs_only_for_logs_it_was_told_of(db) {
        let (bpc, _) = sealed(&db);
        let witness = Bpc::without_database(BINARY);
        let other = "bpc.example/log+da5eb70c+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
        let (_running, url, key) = start(&witness, other).await;
        let refused = bpc.run(["witness", "ask", &url, "--key", &key, "--json"]).expect_code(1);
        assert_eq!(error(&refused).0, "WITNESS_LOG_UNKNOWN");
        let secured = bpc.run(["witness", "ask", "https://127.0.0.1:1", "--key", &key, "--json"]).expect_code(2);
        assert_eq!(error(&secured).0, "WITNESS_URL_INVALID");
        // Two witnesses never share a memory.
        let second = witness.run(serve(other)).expect_code(2);
        assert_eq!(error(&second).0, "WITNESS_STATE_INVALID");
    }
}

fn serve(log: &str) -> [&str; 13] {
    let files = ["--key", "witness.key", "--state", "witness.state"];
    let [key, key_file, state, state_file] = files;
    [
        "witness",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--name",
        "witness.example/w",
        key,
        key_file,
        state,
        state_file,
        "--log",
        log,
        "--json",
    ]
}

/// Started, with its address and key.
async fn start(witness: &Bpc, log: &str) -> (Running, String, String) {
    let running = witness.spawn(serve(log));
    eventually(PATIENCE, || std::future::ready(running.stdout().ends_with('\n'))).await;
    let told: serde_json::Value = serde_json::from_str(&running.stdout()).expect("one line of JSON");
    let (url, key) = (text(&told, "url"), text(&told, "vkey"));
    (running, url, key)
}

/// A request by hand.
async fn post(url: &str, body: &[u8]) -> (u16, String) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let address = url.strip_prefix("http://").expect("an address");
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("the witness listens");
    let head =
        format!("POST /add-checkpoint HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    (status, body.to_owned())
}
