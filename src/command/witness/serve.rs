//! `bpc witness serve`. Opens no database.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use bpc_core::note::{SignatureKind, VerifierKey};
use bpc_witness::{StateFile, Witness, WitnessKey, serve};
use serde_json::json;
use tokio::net::TcpListener;

use crate::call::Call;
use crate::error::{Exit, Failure};
use crate::signals;

pub(super) async fn run(
    call: &Call<'_>,
    listen: SocketAddr,
    key: &Path,
    name: Option<&str>,
    state: &Path,
    logs: Vec<VerifierKey>,
) -> Result<Exit, Failure> {
    let stop = signals::stop_token("stopping: requests under way are answered")?;
    if let Some(key) = logs.iter().find(|key| key.kind() != SignatureKind::Ed25519) {
        return Err(Failure::usage(format!("{key} is the key of a witness: --log takes keys of logs")));
    }
    let state =
        StateFile::open(state).map_err(|error| Failure::wrong_use(error.code(), error.to_string()))?;
    let key = WitnessKey::load_or_create(key, name)
        .map_err(|error| Failure::wrong_use(error.code(), error.to_string()))?;
    let cannot = |error: std::io::Error| {
        Failure::wrong_use("ADDRESS_UNAVAILABLE", format!("cannot listen on {listen}: {error}"))
    };
    let listener = TcpListener::bind(listen).await.map_err(cannot)?;
    let url = format!("http://{}", listener.local_addr().map_err(cannot)?);
    let vkey = key.verifier().to_string();
    call.output.result(&json!({"url": url, "vkey": vkey}), |output| {
        output.line(format_args!("witness {vkey}"));
        output.line(format_args!("answers at {url}/add-checkpoint"));
    });
    serve(listener, Arc::new(Witness::new(key, state, logs)), stop).await;
    Ok(Exit::Done)
}
