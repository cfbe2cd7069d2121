//! Nothing outlives the process that started it.

use std::net::TcpStream;
use std::time::Duration;

use bpc_testkit::eventually;
use bpc_testkit::process::{Bpc, Running, Signal};

const SOON: Duration = Duration::from_secs(30);

fn with_servers() -> Bpc {
    Bpc::without_database(env!("CARGO_BIN_EXE_with-servers"))
}

/// A process with a PostgreSQL server, and the server's address.
async fn start(script: &str) -> (Running, String) {
    let script = format!("echo $BPC_TEST_POSTGRES_URL; {script}");
    let process = with_servers().spawn(["--", "sh", "-c", &script]);
    let address = eventually(SOON, || async {
        let stdout = process.stdout();
        let url = stdout.strip_suffix("/postgres\n")?;
        Some(url.strip_prefix("postgres://postgres@")?.to_owned())
    })
    .await;
    TcpStream::connect(&address).unwrap();
    (process, address)
}

async fn assert_server_goes(address: &str) {
    eventually(SOON, || async { TcpStream::connect(address).is_err() }).await;
}

#[tokio::test]
async fn a_command_has_a_server_and_its_exit_code_is_passed_on() {
    let (mut process, address) = start("sleep 0.5; exit 9").await;
    assert_eq!(process.wait(SOON).code, 9);
    assert!(TcpStream::connect(&address).is_err());
}

#[tokio::test]
async fn an_interrupt_reaches_the_command_and_stops_the_server() {
    let script = "trap 'echo interrupted; exit 5' INT; while :; do sleep 0.05; done";
    let (mut process, address) = start(script).await;
    process.signal(Signal::Int);
    let output = process.wait(SOON);
    assert_eq!(output.code, 5);
    assert!(output.stdout.ends_with("interrupted\n"));
    assert!(TcpStream::connect(&address).is_err());
}

#[tokio::test]
async fn a_killed_process_leaves_no_server() {
    let (mut process, address) = start("exec sleep 60").await;
    process.signal(Signal::Kill);
    assert_server_goes(&address).await;
}

#[test]
fn a_command_is_required_and_must_exist() {
    assert_eq!(with_servers().run(["--"]).code, 2);
    assert_eq!(with_servers().run(["--", "/no/such/program"]).code, 127);
}
