//! Asking a witness over HTTP.

use std::time::Duration;

use bpc_core::witness::AddCheckpoint;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// More than an answer needs.
const ANSWER_MAX: usize = 64 << 10;
/// A witness that takes longer is asked another time.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a witness said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status of HTTP: 200 signed, 409 it stands elsewhere, the others as the standard says.
    pub status: u16,
    /// Signature lines, a size, or words.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The address is none that can be asked.
    #[error("{0:?} is not the address of a witness: use http://HOST:PORT, with a proxy in front for https")]
    Address(String),
    /// It did not answer.
    #[error("the witness at {url} does not answer: {problem}")]
    Unavailable {
        /// Which.
        url: String,
        /// What happened.
        problem: String,
    },
}

impl AskError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            AskError::Address(_) => "WITNESS_URL_INVALID",
            AskError::Unavailable { .. } => "WITNESS_UNAVAILABLE",
        }
    }
}

/// Send a checkpoint with its proof to the witness at `url`, its prefix.
pub async fn ask(url: &str, request: &AddCheckpoint) -> Result<Answer, AskError> {
    let bad = || AskError::Address(url.to_owned());
    let uri: Uri = format!("{}/add-checkpoint", url.trim_end_matches('/')).parse().map_err(|_| bad())?;
    let (Some("http"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(bad());
    };
    let address = (authority.host().trim_matches(['[', ']']).to_owned(), authority.port_u16().unwrap_or(80));
    let message = Request::post(uri.path())
        .header(HOST, authority.as_str())
        .body(Full::new(Bytes::from(request.to_string())))
        .map_err(|_| bad())?;
    let unavailable = |problem: String| AskError::Unavailable { url: url.to_owned(), problem };
    match tokio::time::timeout(PATIENCE, send(address, message)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(unavailable(error.to_string())),
        Err(_) => Err(unavailable(format!("nothing came within {PATIENCE:?}"))),
    }
}

async fn send(
    address: (String, u16),
    message: Request<Full<Bytes>>,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let driving = tokio::spawn(connection);
    let response = sender.send_request(message).await?;
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await?.to_bytes().to_vec();
    driving.abort();
    Ok(Answer { status, body })
}
