//! One request, and what came of it.

use std::error::Error as _;
use std::sync::Once;

use bpc_worker::HandlerError;
use reqwest::{Client, Response, StatusCode, Url, redirect};
use uuid::Uuid;

use crate::address::{AddressRefused, Guarded, is_public};
use crate::body::signature;
use crate::settings::Settings;

/// Bytes of an answer's body that are kept.
const BODY_MAX: usize = 64 * 1024;
/// Bytes of its headers that are kept.
const HEADERS_MAX: usize = 8 * 1024;

/// An answer, as far as it is kept.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub truncated: bool,
}

/// What is sent.
pub(crate) struct Message<'a> {
    pub url: Url,
    pub delivery_id: Uuid,
    pub event_type: &'a str,
    pub secret: &'a [u8],
    pub body: Vec<u8>,
}

/// A client that follows no redirect, knows no proxy and connects only to what `Guarded` lets through.
pub(crate) fn client(settings: &Settings) -> Result<Client, reqwest::Error> {
    static PROVIDER: Once = Once::new();
    // Somebody in this process may have chosen one already; any will do.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(settings.timeout)
        .connect_timeout(settings.timeout)
        .https_only(!settings.allow_http)
        .user_agent(concat!("bpc/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(Guarded { allow_private: settings.allow_private })
        .build()
}

/// Post it. Whatever the endpoint answers is an answer; no answer is an error.
pub(crate) async fn send(
    client: &Client,
    settings: &Settings,
    message: Message<'_>,
) -> Result<Answer, HandlerError> {
    let sent = client
        .post(message.url)
        .header("Content-Type", "application/json")
        .header("X-BPC-Signature", signature(message.secret, &message.body))
        .header("X-BPC-Event-Type", message.event_type)
        .header("X-BPC-Delivery-Id", message.delivery_id.to_string())
        .body(message.body)
        .send()
        .await;
    let response = sent.map_err(unsent)?;
    // The resolver let it through already; if anything else made the connection, it is not believed.
    let peer = response.remote_addr().map(|peer| peer.ip());
    if !settings.allow_private && !peer.is_some_and(is_public) {
        let message = "the connection went to an address that is not public".to_owned();
        return Err(HandlerError::permanent("WEBHOOK_DELIVERY_FAILED", message));
    }
    read(response).await
}

async fn read(mut response: Response) -> Result<Answer, HandlerError> {
    let (mut headers, mut size, mut truncated) = (Vec::new(), 0, false);
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        size += name.as_str().len() + value.len();
        if size > HEADERS_MAX {
            truncated = true;
            break;
        }
        headers.push((name.as_str().to_owned(), value));
    }
    let (status, mut body) = (response.status(), Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(unsent)? {
        let room = BODY_MAX - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(Answer { status, headers, body, truncated })
}

/// Why there was no answer.
fn unsent(error: reqwest::Error) -> HandlerError {
    let error = error.without_url();
    let mut cause = error.source();
    let mut said = error.to_string();
    while let Some(next) = cause {
        if let Some(refused) = next.downcast_ref::<AddressRefused>() {
            return HandlerError::permanent("WEBHOOK_DELIVERY_FAILED", refused.to_string());
        }
        said = format!("{said}: {next}");
        cause = next.source();
    }
    if error.is_timeout() {
        HandlerError::retryable("WEBHOOK_TIMEOUT", format!("no answer in time: {said}"))
    } else if error.is_builder() {
        HandlerError::permanent("WEBHOOK_DELIVERY_FAILED", said)
    } else {
        HandlerError::retryable("WEBHOOK_DELIVERY_FAILED", said)
    }
}

/// What an answer other than 2xx means.
pub(crate) fn refused(status: StatusCode) -> HandlerError {
    let message = format!("the endpoint answered {status}");
    let may_pass = status.is_server_error()
        || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS].contains(&status);
    if may_pass {
        HandlerError::retryable("WEBHOOK_NON_2XX", message)
    } else if status.is_redirection() {
        HandlerError::permanent("WEBHOOK_NON_2XX", format!("{message}; redirects are not followed"))
    } else {
        HandlerError::permanent("WEBHOOK_NON_2XX", message)
    }
}
