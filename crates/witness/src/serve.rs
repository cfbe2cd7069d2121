//! The witness's door: `POST /add-checkpoint`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bpc_core::note::NOTE_BYTES_MAX;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::witness::{Decided, Witness};

/// A note, and a proof of 63 hashes before it.
const BODY_MAX: usize = NOTE_BYTES_MAX + 64 * 64;
/// Whoever is slower has gone away.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answer until told to stop; requests that are under way are answered.
pub async fn serve(listener: TcpListener, witness: Arc<Witness>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: some will be closed.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let witness = witness.clone();
        let stop = stop.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| answer(witness.clone(), request));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
            let connection = server.serve_connection(TokioIo::new(stream), service);
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended badly");
            }
        });
    }
    connections.close();
    let _ = tokio::time::timeout(PATIENCE, connections.wait()).await;
}

async fn answer(
    witness: Arc<Witness>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() != "/add-checkpoint" {
        return Ok(say(StatusCode::NOT_FOUND, "this witness answers POST /add-checkpoint\n"));
    }
    if request.method() != Method::POST {
        return Ok(say(StatusCode::METHOD_NOT_ALLOWED, "use POST\n"));
    }
    let body = Limited::new(request.into_body(), BODY_MAX).collect();
    let body = match tokio::time::timeout(PATIENCE, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => {
            return Ok(say(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large or broke off\n"));
        }
        Err(_) => return Ok(say(StatusCode::REQUEST_TIMEOUT, "the request took too long\n")),
    };
    let deciding = tokio::task::spawn_blocking(move || witness.add_checkpoint(&body)).await;
    Ok(match deciding {
        Ok(Decided::Signed(line)) => {
            tracing::info!("signed");
            say(StatusCode::OK, line)
        }
        Ok(Decided::Refused(refusal)) => {
            tracing::warn!(code = refusal.code(), "refused: {refusal}");
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
            let mut response = say(status, refusal.body());
            let kind = hyper::header::HeaderValue::from_static(refusal.content_type());
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        Ok(Decided::Forgetful(error)) => {
            tracing::error!("{error}");
            say(StatusCode::INTERNAL_SERVER_ERROR, "this witness cannot remember at present\n")
        }
        Err(error) => {
            tracing::error!(%error, "deciding broke off");
            say(StatusCode::INTERNAL_SERVER_ERROR, "this witness is unwell\n")
        }
    })
}

fn say(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    let plain = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
