//! Endpoints: where events are sent, and the secret that signs them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bpc_core::{EventId, StreamId, TenantId, Version};
use bpc_eventstore::{entropy, read_stream};
use bpc_worker::{Effects, Engine, Store, StoreError};
use reqwest::Url;
use uuid::Uuid;

use crate::address::is_public;
use crate::error::WebhookError;
use crate::events::{ENDPOINT, ENDPOINT_ADDED, ENDPOINT_DISABLED, EndpointAdded, Nothing, draft, payload};
use crate::settings::Settings;

/// The most bytes of an address.
const URL_MAX: usize = 2048;

/// A new endpoint.
#[derive(Clone, Debug)]
pub struct AddedEndpoint {
    /// Its id.
    pub id: Uuid,
    /// The key of its HMAC, as text, to be used as it stands. Shown here and never again.
    pub secret: String,
}

/// An endpoint as the log tells it.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub version: Version,
    pub url: String,
    pub sealed_secret: String,
    pub is_active: bool,
}

/// Add an endpoint with a fresh secret.
pub async fn add_endpoint(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    settings: &Settings,
    url: &str,
) -> Result<AddedEndpoint, WebhookError> {
    check_url(url, settings)?;
    let key = settings.secrets.key_or_create()?;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has a random source");
    let secret = hex::encode(bytes);
    let id = EventId::fresh(engine.store.now().await?, entropy()).0;
    let sealed = STANDARD.encode(key.seal(&context(id), secret.as_bytes()));
    let added = EndpointAdded { url: url.to_owned(), secret: sealed };
    let drafts = vec![draft(ENDPOINT_ADDED, &added)?];
    let effects = Effects::none().emit(tenant, ENDPOINT, StreamId(id), Version::NONE, drafts);
    engine.perform(tenant, actor, &effects).await?;
    Ok(AddedEndpoint { id, secret })
}

/// Send nothing to an endpoint any more. What is on its way fails.
pub async fn disable_endpoint(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
) -> Result<(), WebhookError> {
    let endpoint = endpoint(&engine.store, tenant, id).await?.ok_or(WebhookError::EndpointNotFound(id))?;
    if endpoint.is_active {
        let drafts = vec![draft(ENDPOINT_DISABLED, &Nothing {})?];
        let effects = Effects::none().emit(tenant, ENDPOINT, StreamId(id), endpoint.version, drafts);
        engine.perform(tenant, actor, &effects).await?;
    }
    Ok(())
}

pub(crate) async fn endpoint(
    store: &Store,
    tenant: TenantId,
    id: Uuid,
) -> Result<Option<Endpoint>, StoreError> {
    let mut tx = store.begin_read().await?;
    let mut found: Option<Endpoint> = None;
    for event in read_stream(&mut tx.conn(), tenant, StreamId(id)).await? {
        let envelope = event.envelope()?;
        match (&*envelope.event_type, &mut found) {
            (ENDPOINT_ADDED, None) => {
                let EndpointAdded { url, secret } = payload(&envelope)?;
                let version = envelope.version;
                found = Some(Endpoint { version, url, sealed_secret: secret, is_active: true });
            }
            (ENDPOINT_DISABLED, Some(endpoint)) => {
                endpoint.version = envelope.version;
                endpoint.is_active = false;
            }
            _ => {}
        }
    }
    Ok(found)
}

impl Endpoint {
    /// The key of the HMAC.
    pub(crate) fn secret(&self, id: Uuid, settings: &Settings) -> Result<Vec<u8>, WebhookError> {
        let sealed = STANDARD.decode(&self.sealed_secret);
        let sealed = sealed.map_err(|_| StoreError::Damaged(format!("secret of endpoint {id}")))?;
        Ok(settings.secrets.key()?.open(&context(id), &sealed)?)
    }
}

/// A secret opens only for the endpoint it was made for.
fn context(endpoint: Uuid) -> String {
    format!("webhook-secret:{endpoint}")
}

/// Refuse what can be refused without asking the network; the rest is refused when it is connected to.
pub(crate) fn check_url(text: &str, settings: &Settings) -> Result<Url, WebhookError> {
    let refused = |problem| WebhookError::Url { url: text.to_owned(), problem };
    let url =
        Url::parse(text).map_err(|_| refused("it is no URL; use one such as https://example.com/hook"))?;
    if text.len() > URL_MAX {
        return Err(refused("it has more than 2048 bytes"));
    }
    match url.scheme() {
        "https" => {}
        "http" if settings.allow_http => {}
        "http" => {
            return Err(refused("it is not https; BPC_WEBHOOK_ALLOW_HTTP=true allows it for development"));
        }
        _ => return Err(refused("it is not https")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "it holds a name or password, which the log would keep; the HMAC tells who sends",
        ));
    }
    let literal = url.host_str().map(|host| host.trim_matches(['[', ']']));
    let is_private = |host: &str| host.parse().is_ok_and(|address| !is_public(address));
    if !settings.allow_private && literal.is_some_and(is_private) {
        return Err(refused(
            "it is a private or loopback address; BPC_WEBHOOK_ALLOW_PRIVATE=true allows those",
        ));
    }
    Ok(url)
}
