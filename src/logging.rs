//! Logs go to stderr, pretty or as JSON; panics go there too, as one line.

use std::panic::PanicHookInfo;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::cli::Command;
use crate::config::Settings;

/// Begin to log.
pub fn start(settings: &Settings, command: &Command, colour: bool) {
    let level = settings.log_level.unwrap_or(match command {
        Command::Worker(_) => LevelFilter::INFO,
        // The tour shows failures and a panic on purpose, and tells of them itself.
        Command::Demo(_) => LevelFilter::OFF,
        _ => LevelFilter::WARN,
    });
    // Of the libraries below, only what is wrong.
    let filter = Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("bpc", level);
    let layer = fmt::layer().with_writer(std::io::stderr);
    let layer = if settings.log_json {
        layer.json().flatten_event(true).with_current_span(false).boxed()
    } else {
        layer.with_ansi(colour).with_target(false).boxed()
    };
    tracing_subscriber::registry().with(layer.with_filter(filter)).init();
    std::panic::set_hook(Box::new(log_panic));
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map(ToString::to_string);
    tracing::error!(panic.message = message, panic.place = place, "panic");
}
