//! A subscriber hears of passports, signed.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use bpc_testkit::on_both_databases;

use crate::harness::{assert_sound, text};

use super::{EV, desk, told, work};

/// Answers every request with 200 and passes on head and body.
fn receiver() -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                bytes.extend_from_slice(&chunk[..count]);
                let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
                let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.and_then(|it| it.trim().parse().ok()).unwrap_or(0);
                if bytes.len() >= end + 4 + length {
                    let _ = sender.send((head, bytes[end + 4..].to_vec()));
                    let _ = stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                    break;
                }
            }
        }
    });
    (url, requests)
}

/// The HMAC by Python's standard library.
fn signature(secret: &str, body: &[u8]) -> String {
    let script =
        "import hmac,sys;print(hmac.new(sys.argv[1].encode(),sys.stdin.buffer.read(),'sha256').hexdigest())";
    let mut python = Command::new("python3")
        .args(["-c", script, secret])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    python.stdin.take().expect("a pipe").write_all(body).expect("written");
    let output = python.wait_with_output().expect("python3 ends");
    format!("sha256={}", String::from_utf8_lossy(&output.stdout).trim())
}

on_both_databases! {
    async fn a_subscriber_is_told_of_parsed_facts(db) {
        let (url, requests) = receiver();
        let strict = desk(&db);
        let refused = strict.run(["webhook", "endpoint", "add", &url, "--json"]).expect_code(1);
        assert_eq!(crate::harness::error(&refused).0, "VALIDATION_ERROR");
        let bpc = desk(&db).env("BPC_WEBHOOK_ALLOW_HTTP", "true").env("BPC_WEBHOOK_ALLOW_PRIVATE", "true");
        let endpoint = told(&bpc, &["webhook", "endpoint", "add", &url]);
        let (id, secret) = (text(&endpoint, "endpoint_id"), text(&endpoint, "secret"));
        told(&bpc, &["webhook", "subscribe", &id, "--event", "FACTS_PARSED"]);
        told(&bpc, &["document", "add", EV, "--kind", "bom"]);
        let worker = bpc.run(["worker", "--until-idle"]).expect_success();
        let (head, body) = requests.recv_timeout(crate::harness::PATIENCE).expect("a request");
        assert!(head.contains("x-bpc-event-type: facts_parsed"), "{head}");
        assert!(head.contains(&format!("x-bpc-signature: {}", signature(&secret, &body))), "{head}");
        let rows = bpc.run(["webhook", "deliveries", "--json"]).expect_success().json_lines();
        assert_eq!((rows.len(), &rows[0]["status"]), (1, &"DELIVERED".into()));
        told(&bpc, &["webhook", "redeliver", &text(&rows[0], "delivery_id")]);
        work(&bpc);
        assert_eq!(requests.recv_timeout(crate::harness::PATIENCE).expect("a second request").1, body);
        // The secret was shown once and never again.
        let listed = bpc.run(["webhook", "endpoint", "list", "--json"]).expect_success();
        let log = bpc.run(["log", "--json"]);
        for said in [worker.stdout, worker.stderr, listed.stdout, log.stdout, log.stderr] {
            assert!(!said.contains(&secret));
        }
        assert_sound(&bpc);
    }
}
