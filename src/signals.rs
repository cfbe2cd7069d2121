//! SIGTERM and Ctrl-C: the first asks to stop, the second ends the process.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::Failure;

/// As shells report a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// A token that the first signal cancels; `meaning` is what is then logged.
pub fn stop_token(meaning: &'static str) -> Result<CancellationToken, Failure> {
    let unavailable = |error: std::io::Error| {
        Failure::wrong_use("SIGNALS_UNAVAILABLE", format!("cannot listen for signals: {error}"))
    };
    let mut terminate = signal(SignalKind::terminate()).map_err(unavailable)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unavailable)?;
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if stop.is_cancelled() {
                tracing::warn!("second signal: ending at once");
                std::process::exit(INTERRUPTED);
            }
            tracing::info!("{meaning}");
            stop.cancel();
        }
    });
    Ok(token)
}
