//! What the process was told about webhooks.

use std::time::Duration;

use bpc_secrets::KeySource;

/// Settings of the pack.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Opens the endpoints' secrets.
    pub secrets: KeySource,
    /// Private, loopback and other addresses that are not public may be connected to.
    pub allow_private: bool,
    /// Endpoints without TLS are allowed: for development.
    pub allow_http: bool,
    /// How long one attempt may take, answer included.
    pub timeout: Duration,
}

impl Settings {
    /// How long one attempt may take unless told otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(30);

    /// Public addresses and TLS only.
    pub fn strict(secrets: KeySource) -> Self {
        Settings { secrets, allow_private: false, allow_http: false, timeout: Self::TIMEOUT }
    }
}
