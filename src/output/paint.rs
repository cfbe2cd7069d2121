//! Restrained colour.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use bpc_core::Status;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorWhen {
    /// Is it on, for a stream that is a terminal or not?
    pub fn on(self, is_terminal: bool) -> bool {
        match self {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty()),
        }
    }
}

/// Puts colour around text, or not.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// With colour or without.
    pub fn new(on: bool) -> Self {
        Paint { on }
    }

    /// A heading.
    pub fn heading(self, text: impl Display) -> String {
        self.with(Style::new().bold(), text)
    }

    /// Not important.
    pub fn faint(self, text: impl Display) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// As it should be.
    pub fn good(self, text: impl Display) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    /// Not as it should be.
    pub fn bad(self, text: impl Display) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// A status, in its colour.
    pub fn status(self, status: Status) -> String {
        let style = match status {
            Status::Queued => Style::new(),
            Status::Running => AnsiColor::Cyan.on_default(),
            Status::Succeeded => AnsiColor::Green.on_default(),
            Status::Cancelled => Style::new().dimmed(),
            Status::Failed | Status::DeadLetter => AnsiColor::Red.on_default(),
        };
        self.with(style, status)
    }

    fn with(self, style: Style, text: impl Display) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}
